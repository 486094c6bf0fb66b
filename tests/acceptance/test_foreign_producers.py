"""Programs that know memci by its messages only: real brokers, real workers, real answers."""

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
from tests.support.producers import House, identity_fields, open_house

pytestmark = pytest.mark.timeout(180)

# Runs a program in which nothing of memci can be imported.
_ALONE = """
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
def house(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    with closing(redis.Redis.from_url(process_redis.url)) as client:
        client.flushall()
    folder = tmp_path_factory.mktemp("house")
    with (
        database_copy(shared_postgres) as database_url,
        open_house(database_url, process_redis.url, folder) as opened,
    ):
        yield opened


@pytest.fixture
def broker(house: House) -> Iterator[redis.Redis]:
    with closing(redis.Redis.from_url(house.broker_url)) as client:
        yield client


def run_alone(program: Path, *arguments: str, **environment: str) -> str:
    command = [sys.executable, "-I", "-c", _ALONE, str(program), *arguments]
    return identity_fields(command, program.parent, **environment)


def block(language: str) -> str:
    """The document's first block in this language."""
    found = re.search(
        rf"^```{language}\n(.*?)^```", _DOCUMENT.read_text(), re.MULTILINE | re.DOTALL
    )
    assert found is not None
    return found[1]


def envelope(task: str, queue: str, arguments: dict[str, Any]) -> tuple[str, str]:
    """The message of docs/reference/events.md, filled in; and its id."""
    message = json.loads(CELERY_MESSAGE)
    message["body"] = base64.b64encode(json.dumps([[], arguments, {}]).encode()).decode()
    message["headers"] |= {"task": task, "id": (task_id := str(uuid4()))}
    message["properties"] |= {"correlation_id": task_id, "delivery_tag": str(uuid4())}
    message["properties"]["delivery_info"]["routing_key"] = queue
    return task_id, json.dumps(message)


def test_bare_celery_remembers_compresses_and_gets_a_context(house: House):
    program = ROOT / "examples/producers/python_celery.py"
    said = json.loads(run_alone(program, "celery-1", MEMCI_BROKER_URL=house.broker_url))

    context = said["context"]
    assert context["tokens"] <= context["budget_tokens"] == 400
    assert context["messages"][-1] == {
        **context["messages"][-1],
        "role": "user",
        "content": "Where will Ada live?",
    }
    assert "Lisbon" in json.dumps(context["messages"])
    assert (context["seq"], context["pending"]) == (4, 0)
    assert house.job(said["job_id"]) == {
        "state": "done", "kind": "memci.memory.create", "last_seq": 4, "source": "celery"
    }  # fmt: skip
    wait_until(lambda: house.passes_wanted("celery-1"), "the wish for a pass is in")
    house.wait_idle("celery-1")
    wait_until(lambda: not house.keys_of("celery-1"), "nothing is left in the broker")


def test_the_rights_of_the_runbook_are_enough(house: House, broker: redis.Redis):
    runbook = (ROOT / "deploy/runbook.md").read_text()
    (rules,) = re.findall(r"^ACL SETUSER reader (.+)$", runbook, re.MULTILINE)
    broker.execute_command("ACL", "SETUSER", "reader", *rules.replace("PASSWORD", "word").split())
    address = urlsplit(house.broker_url)
    url = f"redis://reader:word@{address.hostname}:{address.port}{address.path}"
    program = ROOT / "examples/producers/python_celery.py"
    try:
        assert "Lisbon" in run_alone(program, "reader-1", MEMCI_BROKER_URL=url)
    finally:
        broker.execute_command("ACL", "DELUSER", "reader")


def test_the_documented_python_runs_as_it_stands(house: House, tmp_path: Path):
    program = tmp_path / "producer.py"
    program.write_text(block("python"))
    assert "Lisbon" in run_alone(program, MEMCI_BROKER_URL=house.broker_url)


def test_the_documented_message_is_enough_for_any_language(house: House, broker: redis.Redis):
    mailbox = "memci.agent.raw-1"
    messages = [{"role": "user", "content": "The spare key lies under the blue pot."}]
    job_id, message = envelope(
        "memci.memory.create", mailbox, {"v": 1, "agent_id": "raw-1", "messages": messages}
    )
    broker.lpush(mailbox, message)
    assert house.wait_done(job_id)["state"] == "done"

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


def test_the_same_message_twice_is_one_job(house: House, broker: redis.Redis):
    mailbox = "memci.agent.twice-1"
    said = {"role": "user", "content": "I water the plants on Mondays."}
    job_id, message = envelope(
        "memci.memory.create", mailbox, {"v": 1, "agent_id": "twice-1", "messages": [said]}
    )
    for _ in range(2):
        broker.lpush(mailbox, message)
        house.wait_done(job_id)
        wait_until(lambda: not broker.exists(mailbox), "the message is taken in")
    assert house.job(job_id) == {
        "state": "done", "kind": "memci.memory.create", "last_seq": 1, "source": "celery"
    }  # fmt: skip


def test_a_queue_named_by_a_string_works_and_its_keys_are_removed(
    house: House, broker: redis.Redis
):
    app = Celery("producer", broker=house.broker_url, set_as_current=False)
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
    assert house.wait_done(sent.id)["state"] == "done"
    left = house.keys_of("plain-42")
    assert left
    assert all(key.startswith("_kombu.binding") for key in left)

    assert remove_binding_keys(broker) == len(left)
    house.wait_idle("plain-42")
    assert house.keys_of("plain-42") == set()


def test_what_cannot_be_taken_in_is_buried_and_what_follows_is_not(
    house: House, broker: redis.Redis
):
    mailbox = "memci.agent.bad-1"
    bad_id, bad = envelope("memci.memory.create", mailbox, {"v": 1, "agent_id": "bad-1"})
    good_id, good = envelope(
        "memci.memory.create",
        mailbox,
        {"v": 1, "agent_id": "bad-1", "messages": [{"role": "user", "content": "Fine."}]},
    )
    broker.lpush(mailbox, bad, "no envelope", good)
    assert house.wait_done(good_id)["state"] == "done"
    assert house.wait_done(bad_id)["state"] == "dead"
