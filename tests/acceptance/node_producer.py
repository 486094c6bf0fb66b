"""The producer in Node.js, on real workers: ``make test-node``.

Not collected with the others: it needs Node.js, and packages of the npm registry, installed by
``npm ci`` in examples/producers/node. Whoever asks for it and lacks them gets a failure.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memci.testing import wait_until
from tests.support.fleet import ROOT
from tests.support.producers import identity_fields, open_house

pytestmark = pytest.mark.timeout(180)

_FOLDER = ROOT / "examples/producers/node"


def _node(script: Path, *arguments: str, **environment: str) -> str:
    return identity_fields(["node", str(script), *arguments], _FOLDER, **environment)


def test_node_remembers_compresses_and_gets_a_context(
    database_url: str, broker_url: str, tmp_path: Path
):
    with open_house(database_url, broker_url, tmp_path) as house:
        said = json.loads(_node(_FOLDER / "send.mjs", "node-1", MEMCI_BROKER_URL=broker_url))
        context = said["context"]
        assert context["tokens"] <= context["budget_tokens"] == 400
        assert "tuna" in json.dumps(context["messages"])
        assert (context["seq"], context["pending"]) == (4, 0)
        assert house.job(said["job_id"]) == {
            "state": "done", "kind": "memci.memory.create", "last_seq": 4, "source": "celery"
        }  # fmt: skip
        house.wait_idle("node-1")
        assert house.passes_wanted("node-1") >= 1
        wait_until(lambda: not house.keys_of("node-1"), "nothing is left in the broker")
