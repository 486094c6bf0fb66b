"""The producer in Node.js, on real workers: ``make test-node``.

Not collected with the other tests: it needs Node.js and npm packages, which ``npm ci`` installs in
examples/producers/node. It fails without them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memci.testing import wait_until
from tests.support.fleet import ROOT
from tests.support.producers import deploy, identity_fields

pytestmark = pytest.mark.timeout(180)

_FOLDER = ROOT / "examples/producers/node"


def _node(script: Path, *arguments: str, **environment: str) -> str:
    return identity_fields(["node", str(script), *arguments], _FOLDER, **environment)


def test_node_remembers_compresses_and_gets_a_context(
    database_url: str, broker_url: str, tmp_path: Path
):
    with deploy(database_url, broker_url, tmp_path) as running:
        answer = json.loads(_node(_FOLDER / "send.mjs", "node-1", MEMCI_BROKER_URL=broker_url))
        context = answer["context"]
        assert context["tokens"] <= context["budget_tokens"] == 400
        assert "tuna" in json.dumps(context["messages"])
        assert (context["seq"], context["pending"]) == (4, 0)
        assert running.job(answer["job_id"]) == {
            "state": "done", "kind": "memci.memory.create", "last_seq": 4, "source": "celery"
        }  # fmt: skip
        running.wait_idle("node-1")
        assert running.requested_passes("node-1") >= 1
        wait_until(lambda: not running.keys_of("node-1"), "nothing is left in the broker")
