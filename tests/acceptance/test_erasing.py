"""M25: erased texts are in no table, no key of the broker and no log."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import redis
from pydantic import SecretStr
from sqlalchemy.engine import make_url

from memci import Memci
from memci.broker.message_decoding import encode
from memci.broker.names import CREATE_TASK, agent_queue_name
from memci.client import Agent
from memci.config.settings import Settings
from memci.embedded import Postgres
from memci.errors import ErasedError
from memci.storage.schema import metadata
from memci.testing import wait_until
from tests.integration.http.serving import served
from tests.support import fleet as fleets
from tests.support.erasing import found_in_broker, found_in_database
from tests.support.fleet import Worker

MARK, SIGN = "Zyxquartz", "绝密甲"
MARKS = (MARK, SIGN, "密甲")
CONTENT = sorted(each.name for each in metadata.sorted_tables if each.name not in {"lane", "job"})
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "look_up", "arguments": f'{{"name": "{MARK}"}}'},
}
SECRET = [
    {"role": "system", "content": f"You guard {MARK}."},
    {
        "role": "user", "name": MARK, "metadata": {"project": MARK, SIGN: [SIGN]},
        "content": f"Project {MARK} ships its reactor from Lisbon on the ninth of March. "
        f"{MARK} is what nobody outside of Lisbon may hear of.",
    },
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": f"{MARK}: forty tons, by ship, insured."},
    {"role": "user", "content": f"{SIGN}项目的负责人是王小明，三月九日从里斯本出发。"},
]  # fmt: skip
PLAIN = [
    {"role": "user", "content": "Anna moves to Lisbon in May and looks for a flat near the river."},
    {"role": "assistant", "content": "Alfama is close to the river, and Lisbon is warm in May."},
]


@dataclass
class System:
    """A whole memci, with access to its database, broker and worker."""

    memci: Memci
    worker: Worker
    superuser: psycopg.Connection
    client: redis.Redis

    def traces(self) -> list[str]:
        return [
            *found_in_database(self.superuser, *MARKS),
            *found_in_broker(self.client, MARKS),
            *(f"log: {mark}" for mark in MARKS if mark in self.worker.log_text),
        ]

    def store_everywhere(self, agent_id: str) -> Agent:
        """Remember, compress, recall and search secret texts, and send invalid messages of them."""
        agent = self.memci.agent(agent_id)
        agent.remember(SECRET, session_id=MARK)
        agent.remember(PLAIN, session_id="plain")
        agent.wait_idle()
        agent.compress()
        agent.wait_idle()
        assert MARK in agent.recall_text([MARK]).text
        assert agent.search(f"{MARK} reactor").hits
        context = agent.context(f"What of {MARK}?", budget_tokens=900, session_id=MARK)
        assert MARK in context.model_dump_json()
        wrong = [{"role": "?", "content": MARK}]
        arguments = {"agent_id": agent_id, "messages": wrong, "session_id": MARK}
        whole = {"agent_id": agent_id, "messages": SECRET}
        for raw in (
            encode(CREATE_TASK, "1", arguments),
            encode(CREATE_TASK, "2", whole)[:-9],
            json.dumps(SECRET).encode(),
        ):
            self.client.lpush(agent_queue_name(agent_id), raw)
        wait_until(lambda: agent.about().dead == 3, "the messages are dead", timeout_s=30)
        wait_until(lambda: self.count("receipt", agent_id) >= 3, "the reads are noted")
        return agent

    def count(self, table: str, agent_id: str) -> int:
        statement = f"SELECT count(*) FROM {table} WHERE agent_id = %s"
        row = self.superuser.execute(statement, (agent_id,)).fetchone()
        assert row is not None
        return int(row[0])


@pytest.fixture
def system(
    shared_postgres: Postgres, database_url: str, broker_url: str, tmp_path: Path
) -> Iterator[System]:
    settings = Settings(database_url=SecretStr(database_url), broker_url=SecretStr(broker_url))
    with ExitStack() as stack:
        fleet = stack.enter_context(fleets.fleet(database_url, broker_url, tmp_path))
        fleet.app = "workers"
        worker = fleet.start("memci.lane,memci.compress,memci.read,memci.upkeep")
        server = stack.enter_context(served(settings))
        yield System(
            stack.enter_context(Memci(server.url)),
            worker,
            stack.enter_context(
                shared_postgres.connect_as_superuser(make_url(database_url).database or "")
            ),
            stack.enter_context(closing(redis.Redis.from_url(broker_url))),
        )


@pytest.mark.timeout(180)
def test_erased_messages_are_in_no_table_and_no_log(system: System) -> None:
    """A session and then an agent, with one system for both, because it starts slowly."""
    _erase_a_session(system)
    _erase_an_agent(system)


def _erase_a_session(system: System) -> None:
    ada = system.store_everywhere("ada")
    places = {trace.partition(".")[0] for trace in system.traces()}
    assert {
        "message",
        "message_term",
        "node",
        "node_term",
        "link",
        "dead_letter",
        "receipt",
    } <= places
    found = ada.preview_erasure(query=f"{MARK} reactor", k=5)
    assert any(MARK in each.excerpt for each in found.messages)
    secret = [each.id for each in ada.messages(session_id=MARK).messages]

    receipt = ada.erase(session_id=MARK)
    assert system.traces() == []
    assert system.count("dead_letter", "ada") == 0
    assert receipt.body["message_ids"] == secret
    assert ada.receipt(receipt.id) == receipt

    ada.compress()
    ada.wait_idle()
    with pytest.raises(ErasedError):
        ada.remember([{**SECRET[1], "id": secret[1]}], session_id=MARK)
    assert system.traces() == []
    assert "Lisbon" in ada.recall_text(["Lisbon"]).text
    remaining = [each.content for each in ada.messages().messages]
    assert remaining == [each["content"] for each in PLAIN]


def _erase_an_agent(system: System) -> None:
    bob = system.store_everywhere("bob")
    with frozen_worker(system.worker):
        system.client.lpush(agent_queue_name("bob"), json.dumps({"about": MARK}).encode())
        assert f"{agent_queue_name('bob')}" in found_in_broker(system.client, MARKS)
        bob.erase_agent()
        assert system.client.llen(agent_queue_name("bob")) == 0
    wait_until(lambda: system.traces() == [], "nothing is left")
    assert [each.agent_id for each in system.memci.agents().agents] == ["ada"]
    remaining = {table for table in CONTENT if system.count(table, "bob")}
    assert remaining == {"receipt", "erased_message", "event"}
    answer = bob.recall(["Lisbon"])
    assert (answer.memories, answer.forgotten, answer.miss) == ([], [], "never_known")
    bob.remember(PLAIN, session_id="plain")
    bob.wait_idle()
    assert bob.about().messages == len(PLAIN)
    assert system.traces() == []


@contextmanager
def frozen_worker(worker: Worker) -> Iterator[None]:
    worker.send(signal.SIGSTOP)
    try:
        yield
    finally:
        worker.send(signal.SIGCONT)
