"""Procfile, compose file, manifests, units and documentation are consistent."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import promql_parser
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from memci.broker import names
from memci.config.settings import Settings
from tests.support import deployment
from tests.support.deployment import Manifest, containers, objects, option, part_of, unit
from tests.support.fleet import ROOT

PARTS = deployment.procfile()
WORKERS = [part for part, command in PARTS.items() if "worker" in command]
MIGRATE = ["memci", "db", "upgrade"]
DEPLOYMENT_FILES = [
    path
    for folder in ("docker", "deploy")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.is_file()
]
# Variables of the deployment files that are no settings of memci.
NOT_SETTINGS = {
    f"MEMCI_{name}"
    for name in ("DATABASE_PASSWORD", "DATABASE_LOGIN", "DATABASE_NAME", "MIGRATION_PASSWORD")
}
CHART = ROOT / "deploy/helm/memci"


def named(kind: str, part: str) -> Manifest:
    (found,) = [each for each in objects(kind) if part_of(each) == part]
    return found


# -- the same commands everywhere


def test_compose_runs_the_commands_of_the_procfile():
    assert deployment.compose_commands() == {**PARTS, "migrate": MIGRATE}


def test_kubernetes_runs_the_commands_of_the_procfile():
    assert deployment.kubernetes_commands() == PARTS


def test_systemd_runs_the_commands_of_the_procfile():
    assert deployment.systemd_commands() == PARTS


def test_the_documented_table_of_parts_is_the_procfile():
    documented = deployment.pool_table()
    assert documented.keys() == PARTS.keys()
    for part in WORKERS:
        command = PARTS[part]
        kind, size = option(command, "-P"), option(command, "-c") or "1"
        assert documented[part] == (f"`{option(command, '-Q')}`", f"{kind}, {size}")


def test_each_shared_queue_has_one_kind_of_worker():
    queues = sorted(str(option(PARTS[part], "-Q")) for part in WORKERS)
    assert queues == sorted(
        [names.LANE_QUEUE, names.COMPRESS_QUEUE, names.READ_QUEUE, names.UPKEEP_QUEUE]
    )


@pytest.mark.parametrize("part", WORKERS)
def test_workers_have_the_flags_that_the_queue_needs(part: str):
    command = PARTS[part]
    assert {"--without-gossip", "--without-mingle", "-E"} <= set(command)
    assert "--without-heartbeat" not in command
    assert option(command, "-n") == f"{part}@%h"
    assert option(command, "-P") in {"threads", "solo"}


# -- compose


def test_compose_publishes_nothing_but_api_and_flower_and_only_on_this_machine():
    published = {
        name: service["ports"]
        for name, service in deployment.compose()["services"].items()
        if "ports" in service
    }
    assert set(published) == {"api", "flower"}
    for ports in published.values():
        assert all(each.startswith("127.0.0.1:") for each in ports)


@pytest.mark.parametrize("part", [*PARTS, "migrate"])
def test_compose_services_have_no_more_rights_than_they_need(part: str):
    service = deployment.compose()["services"][part]
    assert service["read_only"] is True
    assert service["tmpfs"] == ["/tmp"]  # noqa: S108 - a path in the container
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert "user" not in service  # the image's


@pytest.mark.parametrize("part", PARTS)
def test_compose_parts_wait_for_the_schema_and_are_given_time_to_stop(part: str):
    service = deployment.compose()["services"][part]
    assert service["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    assert service["depends_on"]["redis"]["condition"] == "service_healthy"
    assert _seconds(service["stop_grace_period"]) > _soft_shutdown_s()


def test_compose_checks_every_service_that_can_be_checked():
    services = deployment.compose()["services"]
    unchecked = {name for name, service in services.items() if "healthcheck" not in service}
    assert unchecked == {"beat", "migrate"}
    for part in WORKERS:
        test = services[part]["healthcheck"]["test"]
        assert test == ["CMD", "python", "-m", "workers.probe", part]


def test_compose_dependencies_and_volumes_exist():
    content = deployment.compose()
    for name, service in content["services"].items():
        assert set(service.get("depends_on", {})) <= set(content["services"]), name
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            is_there = source in content["volumes"] or (ROOT / "docker" / source).is_file()
            assert is_there, volume


def test_compose_takes_every_secret_from_the_environment_file():
    text = (ROOT / "docker/compose.yaml").read_text()
    example = (ROOT / "docker/.env.example").read_text()
    required = set(re.findall(r"\$\{([A-Z_]+):\?", text))
    given = set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE))
    assert required == given
    for name in given - {"MEMCI_API_KEYS"}:
        assert f"\n{name}=\n" in example, f"{name} has a value in the example"


# -- the image


def test_the_image_is_built_in_stages_and_runs_as_nobody():
    instructions = _dockerfile()
    words = [word for word, _ in instructions]
    last_stage = len(words) - 1 - words[::-1].index("FROM")
    bases = [text.partition(" AS ")[0] for word, text in instructions if word == "FROM"]
    assert bases == ["${PYTHON_IMAGE}"] * 2
    (base,) = (text for word, text in instructions if word == "ARG")
    assert re.fullmatch(r"PYTHON_IMAGE=python:3\.\d+\.\d+-[a-z-]+@sha256:[0-9a-f]{64}", base)
    after = dict(instructions[last_stage:])
    assert re.fullmatch(r"(\d+):\1", after["USER"])
    assert int(after["USER"].split(":")[0]) >= 10_000
    assert yaml.safe_load(after["CMD"]) == PARTS["api"]
    assert all("--from=" in text for word, text in instructions[last_stage:] if word == "COPY")


def test_the_image_copies_exactly_what_dockerignore_allows():
    build = [
        text.split() for word, text in _dockerfile() if word == "COPY" and "--from" not in text
    ]
    taken = {source for *sources, _ in build for source in sources}
    let_through = {
        line[1:].removesuffix("/**")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    assert taken == let_through
    assert [source for source in taken if not (ROOT / source).exists()] == []


def test_the_image_installs_what_the_lock_files_agree_on_with_hashes():
    pinned = re.findall(
        r"^([\w.-]+)==(\S+) \\$((?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?$)+)",
        (ROOT / "docker/requirements.lock").read_text(),
        re.MULTILINE,
    )
    lines = (ROOT / "docker/requirements.lock").read_text().splitlines()
    assert len(pinned) == sum(line[:1].isalnum() for line in lines)
    versions = {canonicalize_name(name): version for name, version, _ in pinned}
    developers = (ROOT / "requirements.lock").read_text().splitlines()
    of_developers = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", "\n".join(developers), re.MULTILINE))
    assert versions.items() - of_developers.items() <= {("setuptools", versions["setuptools"])}
    makefile = (ROOT / "Makefile").read_text()
    (extras,) = re.findall(r"^IMAGE_EXTRAS := (.+)$", makefile, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(each for extra in extras.split() for each in project["optional-dependencies"][extra]),
    ]
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        assert name == "memci" or versions[name] in requirement.specifier


def test_no_secret_can_get_into_a_layer():
    secret = re.compile("PASSWORD|SECRET|TOKEN|API_KEY|_URL", re.IGNORECASE)
    assert [t for w, t in _dockerfile() if w in {"ARG", "ENV"} and secret.search(t)] == []


def test_shell_scripts_are_sound():
    scripts = [(ROOT / "docker/postgres/10-memci.sh").read_text()]
    scripts += [text for word, text in _dockerfile() if word == "RUN"]
    scripts += [deployment.compose()["services"]["redis"]["entrypoint"][-1].replace("$$", "$")]
    for script in scripts:
        subprocess.run(["sh", "-n"], input=script, text=True, check=True)


# -- Kubernetes


@pytest.mark.parametrize("version", ["1.28", kubernetes_validate.latest_version()])
def test_manifests_are_valid_for_kubernetes(version: str):
    for document in [*deployment.applied(), *deployment.scalers()]:
        if document["kind"] != "ScaledObject":
            kubernetes_validate.validate(document, version, strict=True)


@pytest.mark.parametrize("workload", objects("Deployment"), ids=part_of)
def test_pods_have_no_more_rights_than_they_need(workload: Manifest):
    pod = workload["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == int(dict(_dockerfile())["USER"].split(":")[0])
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    for each in containers(workload):
        assert each["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert each["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in each["resources"]["limits"]


@pytest.mark.parametrize("part", PARTS)
def test_pods_are_probed_and_given_time_to_stop(part: str):
    workload = named("Deployment", part)
    only, _ = containers(workload)
    assert (
        workload["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] > _soft_shutdown_s()
    )
    if part == "beat":  # beat cannot be probed, so there is more than one
        assert workload["spec"]["replicas"] > 1
    elif part in WORKERS:
        probe = ["python", "-m", "workers.probe", part]
        assert only["livenessProbe"]["exec"]["command"] == probe
        assert only["startupProbe"]["exec"]["command"] == [*probe, "--ready"]
        assert only["livenessProbe"]["periodSeconds"] >= 60
    else:
        assert {"livenessProbe", "readinessProbe", "startupProbe"} <= only.keys()


@pytest.mark.parametrize("part", PARTS)
def test_no_part_starts_before_the_schema_and_only_migrations_can_change_it(part: str):
    only, first = containers(named("Deployment", part))
    if part == "beat":
        assert first["command"] == MIGRATE
    else:
        assert "until memci db status;" in first["command"][-1]
    assert "MEMCI_MIGRATION_URL" not in _variables(only)
    assert ("MEMCI_MIGRATION_URL" in _variables(first)) is (part == "beat")


def test_a_login_of_the_console_holds_in_every_pod_of_the_api():
    api = named("Deployment", "api")
    assert api["spec"]["replicas"] > 1
    assert "MEMCI_CONSOLE_SECRET" in _variables(containers(api)[0])


def test_the_api_trusts_no_proxy_unless_told_to():
    """Uvicorn trusts its own machine if the variable is not there."""
    api = containers(named("Deployment", "api"))[0]
    assert {"name": "FORWARDED_ALLOW_IPS", "value": ""} in api["env"]


def test_selectors_find_their_pods():
    pods = [each["spec"]["template"]["metadata"]["labels"] for each in objects("Deployment")]
    wanted = [each["spec"]["selector"]["matchLabels"] for each in objects("Deployment")]
    wanted += [each["spec"]["selector"]["matchLabels"] for each in objects("PodDisruptionBudget")]
    wanted += [each["spec"]["selector"] for each in objects("Service")]
    for selector in wanted:
        assert sum(selector.items() <= labels.items() for labels in pods) == 1, selector


def test_one_command_applies_all_that_the_pods_name():
    """Namespace, secrets and settings come with the parts, and every object is in the namespace."""
    (namespace,) = objects("Namespace")
    for each in deployment.applied():
        if each is not namespace and each["kind"] != "Namespace":
            assert each["metadata"]["namespace"] == namespace["metadata"]["name"]
    secrets = {each["metadata"]["name"]: each["stringData"] for each in objects("Secret")}
    maps = {each["metadata"]["name"] for each in objects("ConfigMap")}
    for each in (each for workload in objects("Deployment") for each in containers(workload)):
        assert {source["configMapRef"]["name"] for source in each["envFrom"]} <= maps
        for variable in each["env"]:
            if "valueFrom" in variable:
                reference = variable["valueFrom"]["secretKeyRef"]
                assert reference["key"] == variable["name"]
                assert reference["key"] in secrets[reference["name"]]


def test_every_scaler_scales_a_deployment_between_its_bounds():
    parts = {each["metadata"]["name"] for each in objects("Deployment")}
    scalers = deployment.scalers()
    assert {each["spec"]["scaleTargetRef"]["name"] for each in scalers} <= parts
    lane = next(each for each in scalers if each["kind"] == "ScaledObject")
    (trigger,) = lane["spec"]["triggers"]
    assert "memci_oldest_queued_age_seconds" in trigger["metadata"]["query"]
    assert lane["spec"]["minReplicaCount"] < lane["spec"]["maxReplicaCount"]


def test_a_drain_takes_one_pod_of_a_part_at_a_time():
    budgets = {part_of(each): each["spec"] for each in objects("PodDisruptionBudget")}
    assert set(PARTS) - set(budgets) == {"flower"}
    assert all(each["maxUnavailable"] == 1 for each in budgets.values())


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"replica": 3}, "replica"),
        ({"parts": {"lane": {"replicas": "many"}}}, "many"),
        ({"settings": {"memci_log_level": "info"}}, "memci_log_level"),
        ({"autoscaling": {"lane": {"min": 0}}}, "0"),
        ({"trustedProxies": "*"}, "does not match"),
    ],
)
def test_the_values_of_the_chart_fit_their_schema_and_wrong_ones_do_not(
    wrong: Manifest, named: str
):
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    jsonschema.validate(values, schema)
    assert values.keys() <= schema["properties"].keys()
    with pytest.raises(jsonschema.ValidationError, match=named):
        jsonschema.validate(_merged(values, wrong), schema)


def test_the_chart_has_the_version_of_the_package():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert chart["version"] == chart["appVersion"] == project["version"]


def _merged(values: Manifest, other: Manifest) -> Manifest:
    both = {
        key: _merged(values[key], other[key])
        for key in values.keys() & other.keys()
        if isinstance(values[key], dict) and isinstance(other[key], dict)
    }
    return {**values, **other, **both}


def _variables(of: Manifest) -> set[str]:
    return {each["name"] for each in of["env"]}


# -- systemd


def test_the_target_wants_every_part():
    wants = unit(deployment.SYSTEMD / "memci.target")["Unit"]["Wants"]
    assert set(" ".join(wants).split()) == {f"memci@{part}.service" for part in PARTS}


def test_units_run_as_nobody_and_are_given_time_to_stop():
    template = unit(deployment.SYSTEMD / "memci@.service")["Service"]
    migrate = unit(deployment.SYSTEMD / "memci-migrate.service")["Service"]
    for each in (template, migrate):
        assert each["User"] == each["Group"] == ["memci"]
        assert each["NoNewPrivileges"] == ["yes"]
        assert each["ProtectSystem"] == ["strict"]
        assert each["EnvironmentFile"][0] == "/etc/memci/memci.env"
    assert "/etc/memci/migration.env" not in str(template)
    assert template["KillSignal"] == ["SIGTERM"]
    assert int(template["TimeoutStopSec"][0]) > _soft_shutdown_s()
    assert migrate["ExecStart"][0].split()[1:] == MIGRATE[1:]


# -- settings and metrics that the files name


@pytest.mark.parametrize("path", DEPLOYMENT_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_setting_that_is_named_exists(path: Path):
    settings = {f"MEMCI_{name.upper()}" for name in Settings.model_fields} | NOT_SETTINGS
    named_here = {each.split("__")[0] for each in deployment.settings_named_in(path)}
    assert named_here - settings == set()


def test_every_alert_has_a_chapter():
    chapters = re.findall(r"^#+ (\w+)$", (ROOT / "deploy/runbook.md").read_text(), re.MULTILINE)
    for rule in _alerts():
        assert rule["alert"] in chapters
        assert rule["annotations"]["runbook"] == f"deploy/runbook.md#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in {"page", "ticket"}


@pytest.mark.parametrize("expression", deployment.expressions())
def test_every_expression_can_be_parsed_and_names_metrics_that_exist(expression: str):
    parsed = promql_parser.parse(expression)
    assert "memci_" in str(parsed)
    assert set(re.findall(r"\bmemci_\w+", expression)) <= _metrics()


def test_a_panel_or_an_alert_shows_nearly_every_metric():
    used = set(re.findall(r"\bmemci_\w+", " ".join(deployment.expressions())))
    not_shown = {f"memci_model_{name}_total" for name in ("unpriced", "over_budget")}
    assert _metrics() - used == not_shown


def _alerts() -> list[Manifest]:
    (group,) = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text())["groups"]
    rules: list[Manifest] = group["rules"]
    return rules


def _metrics() -> set[str]:
    """The names of all samples, as documented."""
    text = (ROOT / "docs/reference/metrics.md").read_text()
    kinds = dict(re.findall(r"^- `(memci_\w+)` \((\w+)", text, re.MULTILINE))
    return {f"{name}_bucket" if kind == "histogram" else name for name, kind in kinds.items()}


def _soft_shutdown_s() -> float:
    from memci.broker.app import make_app

    limit: Any = make_app("redis://127.0.0.1").conf.worker_soft_shutdown_timeout
    return float(limit)


def _seconds(text: str) -> float:
    assert text.endswith("s")
    return float(text[:-1])


def _dockerfile() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, without comments, one on a line."""
    text = (ROOT / "docker/Dockerfile").read_text()
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", lines)
    known = {"ARG", "FROM", "ENV", "RUN", "COPY", "WORKDIR", "USER", "EXPOSE", "STOPSIGNAL", "CMD"}
    instructions = []
    for line in filter(None, map(str.strip, joined.splitlines())):
        word, _, rest = line.partition(" ")
        assert word in known, line
        instructions.append((word, rest.strip()))
    return instructions
