"""Producers that only send memci's messages, with a real broker and real workers."""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import redis
from celery import Celery

from memci.broker.redis_queues import remove_binding_keys
from memci.embedded import Postgres, Redis
from memci.testing import database_copy, wait_until
from tests.support.document_examples import CELERY_MESSAGE
from tests.support.fleet import ROOT
from tests.support.producers import Deployment, deploy, identity_fields

pytestmark = pytest.mark.timeout(180)

# Runs a program that cannot import memci.
_WITHOUT_MEMCI = """
import runpy, sys

OURS = {"memci", "workers", "beat_schedule"}

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OURS:
            raise ImportError(f"a producer needs no {name}")

sys.meta_path.insert(0, Refuse())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
assert not OURS & set(sys.modules)
"""
_DOCUMENT = ROOT / "docs/how-to/celery-producers.md"


@pytest.fixture(scope="module")
def system(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    with closing(redis.Redis.from_url(process_redis.url)) as client:
        client.flushall()
    folder = tmp_path_factory.mktemp("deployment")
    with (
        database_copy(shared_postgres) as database_url,
        deploy(database_url, process_redis.url, folder) as running,
    ):
        yield running


@pytest.fixture
def broker(system: Deployment) -> Iterator[redis.Redis]:
    with closing(redis.Redis.from_url(system.broker_url)) as client:
        yield client


def run_without_memci(program: Path, *arguments: str, **environment: str) -> str:
    command = [sys.executable, "-I", "-c", _WITHOUT_MEMCI, str(program), *arguments]
    return identity_fields(command, program.parent, **environment)


def block(language: str) -> str:
    """Return the document's first block in this language."""
    found = re.search(
        rf"^```{language}\n(.*?)^```", _DOCUMENT.read_text(), re.MULTILINE | re.DOTALL
    )
    assert found is not None
    return found[1]


def envelope(task: str, queue: str, arguments: dict[str, Any]) -> tuple[str, str]:
    """Return the id and the text of a message as in docs/reference/events.md."""
    message = json.loads(CELERY_MESSAGE)
    message["body"] = base64.b64encode(json.dumps([[], arguments, {}]).encode()).decode()
    message["headers"] |= {"task": task, "id": (task_id := str(uuid4()))}
    message["properties"] |= {"correlation_id": task_id, "delivery_tag": str(uuid4())}
    message["properties"]["delivery_info"]["routing_key"] = queue
    return task_id, json.dumps(message)


def test_bare_celery_remembers_compresses_and_gets_a_context(system: Deployment):
    program = ROOT / "examples/producers/python_celery.py"
    answer = json.loads(run_without_memci(program, "celery-1", MEMCI_BROKER_URL=system.broker_url))

    context = answer["context"]
    assert context["tokens"] <= context["budget_tokens"] == 400
    assert context["messages"][-1] == {
        **context["messages"][-1],
        "role": "user",
        "content": "Where will Ada live?",
    }
    assert "Lisbon" in json.dumps(context["messages"])
    assert (context["seq"], context["pending"]) == (4, 0)
    assert system.job(answer["job_id"]) == {
        "state": "done", "kind": "memci.memory.create", "last_seq": 4, "source": "celery"
    }  # fmt: skip
    wait_until(lambda: system.requested_passes("celery-1"), "the wish for a pass is in")
    system.wait_idle("celery-1")
    wait_until(lambda: not system.keys_of("celery-1"), "nothing is left in the broker")


def test_the_rights_of_the_runbook_are_enough(system: Deployment, broker: redis.Redis):
    runbook = (ROOT / "deploy/runbook.md").read_text()
    (rules,) = re.findall(r"^ACL SETUSER reader (.+)$", runbook, re.MULTILINE)
    broker.execute_command("ACL", "SETUSER", "reader", *rules.replace("PASSWORD", "word").split())
    address = urlsplit(system.broker_url)
    url = f"redis://reader:word@{address.hostname}:{address.port}{address.path}"
    program = ROOT / "examples/producers/python_celery.py"
    try:
        assert "Lisbon" in run_without_memci(program, "reader-1", MEMCI_BROKER_URL=url)
    finally:
        broker.execute_command("ACL", "DELUSER", "reader")


def test_the_documented_python_program_runs(system: Deployment, tmp_path: Path):
    program = tmp_path / "producer.py"
    program.write_text(block("python"))
    assert "Lisbon" in run_without_memci(program, MEMCI_BROKER_URL=system.broker_url)


def test_the_documented_message_is_enough_for_any_language(system: Deployment, broker: redis.Redis):
    mailbox = "memci.agent.raw-1"
    messages = [{"role": "user", "content": "The spare key lies under the blue pot."}]
    job_id, message = envelope(
        "memci.memory.create", mailbox, {"v": 1, "agent_id": "raw-1", "messages": messages}
    )
    broker.lpush(mailbox, message)
    assert system.wait_done(job_id)["state"] == "done"

    question = {
        "v": 1,
        "agent_id": "raw-1",
        "query": "Where is the spare key?",
        "budget_tokens": 300,
    }
    read_id, message = envelope("memci.read.assemble", "memci.read", question)
    broker.lpush("memci.read", message)
    key = f"celery-task-meta-{read_id}"
    answer = json.loads(wait_until(lambda: broker.get(key), "the answer", timeout_s=40))
    assert answer["status"] == "SUCCESS"
    assert "blue pot" in json.dumps(answer["result"]["messages"])
    assert 0 < broker.ttl(key) <= 60


def test_the_same_message_twice_is_one_job(system: Deployment, broker: redis.Redis):
    mailbox = "memci.agent.twice-1"
    user_message = {"role": "user", "content": "I water the plants on Mondays."}
    job_id, message = envelope(
        "memci.memory.create", mailbox, {"v": 1, "agent_id": "twice-1", "messages": [user_message]}
    )
    for _ in range(2):
        broker.lpush(mailbox, message)
        system.wait_done(job_id)
        wait_until(lambda: not broker.exists(mailbox), "the message is taken in")
    assert system.job(job_id) == {
        "state": "done", "kind": "memci.memory.create", "last_seq": 1, "source": "celery"
    }  # fmt: skip


def test_a_queue_named_by_a_string_works_and_its_keys_are_removed(
    system: Deployment, broker: redis.Redis
):
    app = Celery("producer", broker=system.broker_url, set_as_current=False)
    with app:
        sent = app.send_task(
            "memci.memory.create",
            kwargs={
                "v": 1,
                "agent_id": "plain-42",
                "messages": [{"role": "user", "content": "我最喜欢的颜色是绿色。"}],
            },
            queue="memci.agent.plain-42",
        )
    assert system.wait_done(sent.id)["state"] == "done"
    remaining = system.keys_of("plain-42")
    assert remaining
    assert all(key.startswith("_kombu.binding") for key in remaining)

    assert remove_binding_keys(broker) == len(remaining)
    system.wait_idle("plain-42")
    assert system.keys_of("plain-42") == set()


def test_invalid_messages_are_dead_and_the_next_one_is_done(
    system: Deployment, broker: redis.Redis
):
    mailbox = "memci.agent.bad-1"
    bad_id, bad = envelope("memci.memory.create", mailbox, {"v": 1, "agent_id": "bad-1"})
    good_id, good = envelope(
        "memci.memory.create",
        mailbox,
        {"v": 1, "agent_id": "bad-1", "messages": [{"role": "user", "content": "Fine."}]},
    )
    broker.lpush(mailbox, bad, "no envelope", good)
    assert system.wait_done(good_id)["state"] == "done"
    assert system.wait_done(bad_id)["state"] == "dead"
