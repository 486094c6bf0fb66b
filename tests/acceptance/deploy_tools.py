"""The deployment files with the tools that read them: ``make test-deploy``.

Needs kubectl and promtool (Debian: package prometheus); Helm comes as a Python package.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import helm_python
import kubernetes_validate
import pytest
import yaml

from deploy.generate import CHART, HERE, made, rendered
from tests.support import deployment
from tests.support.deployment import KUBERNETES

ALL_ON = {
    "image": {"repository": "registry.example/memci", "tag": "1", "pullSecrets": ["pull"]},
    "autoscaling": {"enabled": True},
    "externalSecret": {"enabled": True, "store": {"name": "vault"}},
    "ingress": {
        "enabled": True, "className": "nginx", "host": "a.example", "tlsSecret": "tls",
        "annotations": {"a.example/b": "c"},
    },
    "trustedProxies": "10.42.0.0/16",
}  # fmt: skip


def test_the_made_files_are_up_to_date():
    for name, text in made().items():
        assert (HERE / name).read_text() == text, f"run make manifests: {name}"


def test_helm_accepts_the_chart_and_refuses_wrong_values():
    found = helm_python.lint(str(CHART))
    assert [each for each in found["messages"] if each["severity"] > 1] == []
    with pytest.raises(helm_python.HelmError, match="replica"):
        rendered({"parts": {"api": {"replica": 3}}}, "parts")


@pytest.mark.parametrize("values", [{}, ALL_ON], ids=["default", "all on"])
def test_what_helm_renders_is_valid_for_kubernetes(values: dict[str, object]):
    documents = list(
        yaml.safe_load_all(rendered(values, "common", "parts", "autoscaling")),
    )
    kinds = {each["kind"] for each in documents if each}
    assert {"Ingress", "ExternalSecret", "ScaledObject"} <= kinds or not values
    for each in filter(None, documents):
        if each["kind"] not in {"ExternalSecret", "ScaledObject"}:
            kubernetes_validate.validate(each, kubernetes_validate.latest_version(), strict=True)
        if each["kind"] == "Deployment" and values:
            name = each["metadata"]["name"]
            trusts = {"name": "FORWARDED_ALLOW_IPS", "value": "10.42.0.0/16"}
            of_part = each["spec"]["template"]["spec"]["containers"][0]["env"]
            assert (trusts in of_part) is (name == "memci-api"), name
            scaled = name in {"memci-lane", "memci-compress", "memci-context"}
            assert ("replicas" not in each["spec"]) is scaled, name


def test_kubectl_applies_what_our_tests_look_at(tmp_path: Path):
    folder = shutil.copytree(KUBERNETES, tmp_path / "kubernetes")
    shutil.copy(folder / "secrets.env.example", folder / "secrets.env")
    text = subprocess.run(
        ["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=True
    ).stdout
    documents = [each for each in yaml.safe_load_all(text) if each]
    (secret,) = [each for each in documents if each["kind"] == "Secret"]
    unhashed = text.replace(secret["metadata"]["name"], "memci")
    found = [each for each in yaml.safe_load_all(unhashed) if each and each["kind"] != "Secret"]
    ours = [each for each in deployment.applied() if each["kind"] != "Secret"]
    assert sorted(map(_text, found)) == sorted(map(_text, ours))
    assert secret["data"].keys() == deployment.objects("Secret")[0]["stringData"].keys()


def test_promtool_accepts_every_expression(tmp_path: Path):
    rules = [
        {"record": f"a:b{number}", "expr": each}
        for number, each in enumerate(deployment.expressions())
    ]
    every = tmp_path / "all.yaml"
    every.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": rules}]}))
    for file in (HERE / "prometheus/alerts.yaml", every):
        subprocess.run(["promtool", "check", "rules", str(file)], check=True)


def _text(document: object) -> str:
    return json.dumps(document, sort_keys=True)
