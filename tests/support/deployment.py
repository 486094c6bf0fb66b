"""Reads the deployment files: the command of each part in each file."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from tests.support.fleet import ROOT

Commands: TypeAlias = dict[str, list[str]]
Manifest: TypeAlias = dict[str, Any]

KUBERNETES = ROOT / "deploy/kubernetes"
SYSTEMD = ROOT / "deploy/systemd"
# The path of the virtual environment in the units.
_INSTALLED = "/srv/memci/venv/bin/"
_NAMED_IN = re.compile(r"\bMEMCI_[A-Z0-9_]+")


def procfile() -> Commands:
    """One line per part."""
    lines = (ROOT / "Procfile").read_text().splitlines()
    return {part: shlex.split(command) for part, command in (each.split(": ", 1) for each in lines)}


def compose() -> Manifest:
    content: Manifest = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())
    return content


def compose_commands() -> Commands:
    """Commands of memci's own services."""
    ours = {n: s for n, s in compose()["services"].items() if s["image"] == "memci"}
    return {name: shlex.split(service["command"]) for name, service in ours.items()}


def applied() -> list[Manifest]:
    """What `kubectl apply -k deploy/kubernetes` applies, after the example of the secrets.

    With as much of kustomize as our file uses; `make test-deploy` compares it with the real one.
    """
    plan = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
    assert plan.keys() == {
        "apiVersion", "kind", "namespace", "resources", "secretGenerator", "images",
    }  # fmt: skip
    found = [each for name in plan["resources"] for each in documents(KUBERNETES / name)]
    for made in plan["secretGenerator"]:
        lines = [
            line
            for file in made["envs"]
            for line in (KUBERNETES / f"{file}.example").read_text().splitlines()
            if line and not line.startswith("#")
        ]
        data = dict(line.split("=", 1) for line in lines)
        found.append({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": made["name"]},
            "stringData": data,
        })  # fmt: skip
    for each in found:
        if each["kind"] != "Namespace":
            each["metadata"]["namespace"] = plan["namespace"]
    return found


def documents(path: Path) -> list[Manifest]:
    """The objects of a file."""
    return [each for each in yaml.safe_load_all(path.read_text()) if each]


def objects(*kinds: str) -> list[Manifest]:
    return [each for each in applied() if each["kind"] in kinds]


def scalers() -> list[Manifest]:
    """What scales the workers, if somebody applies it."""
    return [each for path in KUBERNETES.glob("autoscaling*.yaml") for each in documents(path)]


def expressions() -> list[str]:
    """Every PromQL of alerts, dashboard and scalers."""
    alerts = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text())
    dashboard = json.loads((ROOT / "deploy/grafana/memci.json").read_text())
    return [
        *(rule["expr"] for group in alerts["groups"] for rule in group["rules"]),
        *(target["expr"] for panel in dashboard["panels"] for target in panel["targets"]),
        *(
            trigger["metadata"]["query"]
            for each in scalers()
            for trigger in each["spec"].get("triggers", [])
        ),
    ]


def containers(workload: Manifest) -> list[Manifest]:
    """The container of a part, and the one that prepares or awaits the database before it."""
    pod = workload["spec"]["template"]["spec"]
    (only,), (first,) = pod["containers"], pod["initContainers"]
    return [only, first]


def part_of(workload: Manifest) -> str:
    part: str = workload["metadata"]["labels"]["app.kubernetes.io/component"]
    return part


def kubernetes_commands() -> Commands:
    return {part_of(each): containers(each)[0]["command"] for each in objects("Deployment")}


def unit(path: Path) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Sections of a systemd unit; a setting may occur more than once."""
    sections: dict[str, dict[str, list[str]]] = {}
    current: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith(("#", ";")):
            key, separator, value = line.partition("=")
            assert separator, f"{path.name}: {line}"
            current.setdefault(key, []).append(value)
    return sections


def systemd_commands() -> Commands:
    """Commands of the instances of the template unit, as in a shell."""
    found: Commands = {}
    for path in SYSTEMD.glob("memci@*.service.d/part.conf"):
        (command,) = unit(path)["Service"]["ExecStart"]
        # In systemd, % begins a specifier.
        first, *rest = shlex.split(command.replace("%%", "%"))
        assert first.startswith(_INSTALLED), command
        part = path.parent.name.removeprefix("memci@").removesuffix(".service.d")
        found[part] = [first.removeprefix(_INSTALLED), *rest]
    return found


def pool_table() -> dict[str, tuple[str, str]]:
    """Part → its queue and its pool, from the documentation."""
    rows = table("docs/how-to/deploy.md", "part")
    return {row["part"]: (row["queue"], row["pool"]) for row in rows}


def table(document: str, first_column: str) -> list[dict[str, str]]:
    """Rows of the Markdown tables of a document whose first column has this name."""
    rows: list[dict[str, str]] = []
    heads: list[str] = []
    for line in (ROOT / document).read_text().splitlines():
        if not line.startswith("|"):
            heads = []
            continue
        cells = [each.strip() for each in line.strip("|").split(" | ")]
        cells = [each.strip("| ") for each in cells]
        if not heads:
            heads = cells
        elif heads[0] == first_column and not set(line) <= set("|-"):
            rows.append(dict(zip(heads, cells, strict=True)))
    return rows


def settings_named_in(path: Path) -> set[str]:
    """Every MEMCI_… in a file."""
    return set(_NAMED_IN.findall(path.read_text()))


def option(command: Sequence[str], flag: str) -> str | None:
    """The value of a flag of a command; None without it."""
    return command[command.index(flag) + 1] if flag in command else None
