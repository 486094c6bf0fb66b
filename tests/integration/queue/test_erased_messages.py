"""M25 and the broker: incoming messages neither restore nor keep erased messages."""

from __future__ import annotations

import json
import re
import tracemalloc
from base64 import b64decode, b64encode
from threading import Thread
from uuid import UUID, uuid4

import pytest

from memci.broker.message_decoding import encode
from memci.broker.names import CREATE_TASK, agent_queue_name, queue
from memci.broker.redis_queues import RedisAgentQueues
from memci.commands import erase, jobs
from memci.errors import BrokerUnavailableError, ErasedError, FencedOffError
from memci.message import AppendLimits, NewMessage, Role
from memci.queue import mailbox
from memci.queue.broker_intake import BrokerIntake, take_in
from memci.queue.intake import Append
from memci.queue.lease import Claims
from memci.storage.agents import list_agents
from memci.storage.erasure.deletion_set import beginnings_of
from memci.storage.messages import read_dead_letter
from memci.storage.page_store.postgres import PostgresPageStore
from memci.testing import wait_until
from tests.support.erasing import Eraser
from tests.support.lanes import Producer, messages_of

LIMITS = AppendLimits(1_000_000, 100_000, 50)


@pytest.fixture
def eraser(producer, client):
    return Eraser(producer.database, producer.wakeups, client, "a")


def say(producer: Producer, *ids: str, text: str = "hello", session: str | None = None) -> None:
    messages = [NewMessage(Role.USER, f"{text} {each}", id=each) for each in ids]
    producer.intake.append(Append("a", messages, session_id=session))


def incoming(*ids: str | None, task_id: str | None = None, **fields) -> bytes:
    messages = [{"role": "user", "content": f"hello {each}", "id": each} for each in ids]
    messages = [{k: v for k, v in each.items() if v is not None} for each in messages]
    arguments = {"agent_id": "a", "messages": messages, **fields}
    return encode(CREATE_TASK, task_id or str(uuid4()), arguments)


def deliver(producer: Producer, raw: bytes) -> UUID | None:
    with producer.database.agent_transaction("a") as connection:
        mailbox.lock_lane(connection, "a")
        return take_in(connection, "a", raw, LIMITS)


def letter(producer: Producer, job_id: UUID) -> bytes | None:
    with producer.database.agent_snapshot("a") as connection:
        return read_dead_letter(connection, "a", job_id)


def stored_ids(producer: Producer) -> list[str]:
    return [each.id for each in messages_of(producer.database, "a")]


def test_a_request_with_an_erased_message_is_buried_without_it(producer, eraser):
    say(producer, "m1", "m2")
    eraser.erase("m1")
    raw = incoming("m1", "m3")
    dead = deliver(producer, raw)
    assert stored_ids(producer) == ["m2"], "nothing is half-accepted"
    job = producer.job("a", dead)
    assert (job.state, "messages[0]: 'm1' was erased for good" in job.last_error) == ("dead", True)
    body = b64decode(json.loads(letter(producer, dead))["body"])
    assert b"hello m3" in body
    assert b"hello m1" not in body
    assert deliver(producer, raw) is None, "it came again before it was removed"
    assert producer.states("a").count("dead") == 1

    replayed = jobs.replay(
        producer.database, producer.wakeups, "a", dead, at_tail=False, limits=LIMITS
    )
    assert producer.job("a", replayed).state == "queued"
    assert stored_ids(producer) == ["m2", "m3"]


def test_a_request_of_only_erased_messages_keeps_no_dead_letter(producer, eraser):
    say(producer, "m1", "m2")
    eraser.erase("m1")
    dead = deliver(producer, incoming("m1"))
    assert letter(producer, dead) is None
    jobs.replay(producer.database, producer.wakeups, "a", dead, at_tail=False, limits=LIMITS)
    assert stored_ids(producer) == ["m2"]


def test_a_redelivered_request_whose_message_was_erased_stores_nothing(producer, eraser):
    """A message without an id is recognised by the id of its task."""
    raw = incoming(None)
    deliver(producer, raw)
    (message,) = messages_of(producer.database, "a")
    eraser.erase(message.id)
    deliver(producer, raw)
    assert stored_ids(producer) == []
    assert "dead" not in producer.states("a")


def test_a_redelivered_request_whose_agent_was_erased_is_refused(producer, eraser):
    raw = incoming(None)
    deliver(producer, raw)
    eraser.erase_agent()
    dead = deliver(producer, raw)
    assert stored_ids(producer) == []
    assert letter(producer, dead) is None
    with producer.database.lane_transaction() as connection:
        assert list_agents(connection, pattern="*", after="", limit=9) == []


@pytest.mark.parametrize(
    ("raw", "erased"),
    [
        (incoming("m1", remember="?"), True),
        (incoming("m2", remember="?"), False),
        (incoming("m2", remember="?", session_id="s"), True),
        (b"no message, but hello m1 stands in it", True),
        (b"no message at all", False),
        (encode(CREATE_TASK, "1", {"agent_id": "a", "message": "hello m1"}), True),
        (encode(CREATE_TASK, "1", {"agent_id": "a", "message_ids": ["m1", "never"]}), True),
        (encode(CREATE_TASK, "1", {"agent_id": "a", "message_ids": ["never"]}), False),
    ],
)
def test_dead_letters_with_an_erased_message_are_erased(producer, eraser, raw, erased):
    say(producer, "m1", session="s")
    dead = deliver(producer, raw)
    assert producer.job("a", dead).state == "dead"
    receipt = eraser.erase(session="s")
    assert (letter(producer, dead) is None) == erased
    assert producer.job("a", dead).state == ("cancelled" if erased else "dead")
    assert receipt.body["rows"].get("dead_letter", 0) == erased


def test_a_dead_letter_with_escaped_quotes_is_erased(producer, eraser):
    messages = [NewMessage(Role.USER, 'she said "é"\nand left', id="m1")]
    producer.intake.append(Append("a", messages))
    dead = deliver(producer, json.dumps({"x": 'she said "é"\nand left'}).encode())
    eraser.erase("m1")
    assert letter(producer, dead) is None


HARD = '他说："你好"，\n路径 C:\\new/été 🌧 \u2028 <b>'


def as_json_stringify(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def as_php(value: object) -> str:
    return json.dumps(value).replace("/", r"\/")


def with_capitals(value: object) -> str:
    return re.sub(r"\\u[0-9a-f]{4}", lambda each: r"\u" + each[0][2:].upper(), json.dumps(value))


def as_go(value: object) -> str:
    return as_json_stringify(value).replace("<", r"\u003c").replace("\u2028", r"\u2028")


@pytest.mark.parametrize("write", [json.dumps, as_json_stringify, as_php, with_capitals, as_go])
def test_a_dead_letter_is_erased_whatever_its_encoding(producer, eraser, write):
    messages = [NewMessage(Role.USER, HARD, id="m1"), NewMessage(Role.USER, "你好", id="m2")]
    producer.intake.append(Append("a", messages))
    plain = write({"agent": "a", "said": [HARD]})
    nested = write({"event": plain})
    packed = [write({"body": b64encode(each.encode()).decode()}) for each in (plain, nested)]
    dead = [deliver(producer, each.encode()) for each in (plain, nested, *packed)]
    other = deliver(producer, nested.replace("new", "old").encode())
    eraser.erase("m1")
    assert [letter(producer, each) for each in dead] == [None] * 4
    assert letter(producer, other) is not None


def test_a_request_may_leave_out_erased_messages(producer, eraser):
    say(producer, "m1", "m2")
    eraser.erase("m1")
    assert deliver(producer, incoming("m1", "m3", skip_erased=True)) is None
    assert stored_ids(producer) == ["m2", "m3"]
    assert deliver(producer, incoming("m1", skip_erased=True)) is None
    assert stored_ids(producer) == ["m2", "m3"]


def call(name: str, arguments: str) -> dict[str, object]:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_only_the_beginnings_of_messages_are_read(producer):
    long = "é文\n" * 60
    messages = [
        NewMessage(Role.USER, "short", id="m1"),
        NewMessage(Role.USER, long, id="m2"),
        NewMessage(Role.ASSISTANT, None, id="m3", tool_calls=(call("f", "{}"), call("g", long))),
        NewMessage(Role.ASSISTANT, "so", id="m4", tool_calls=(call("f" * 70, long), call("g", ""))),
        NewMessage(Role.ASSISTANT, long[:60], id="m5", tool_calls=(call("f", "{}"),)),
        NewMessage(Role.ASSISTANT, "", id="m6"),
    ]
    producer.intake.append(Append("a", messages))
    whole = [each.text for each in messages_of(producer.database, "a")]
    with producer.database.agent_snapshot("a") as connection:
        for most in (1, 7, 60, 100):
            read = list(beginnings_of(connection, "a", range(1, 7), most))
            assert read == [each[:most] for each in whole]


def test_a_session_is_erased_without_reading_all_of_its_texts(producer, eraser):
    say(producer, *(f"m{each}" for each in range(100)), session="s")
    with producer.database.agent_transaction("a") as connection:
        connection.exec_driver_sql(
            "UPDATE message SET content = 'its own text ' || seq || repeat('x', 500000)"
            " WHERE agent_id = 'a'"
        )
    dead = deliver(producer, b"its own text 98 stands in it, and no message")
    erased = deliver(producer, b"its own text 99" + b"x" * 60 + b" stands in it, and no message")
    tracemalloc.start()
    try:
        receipt = eraser.erase(session="s")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(receipt.body["message_ids"]) == 100
    assert (letter(producer, dead) is None, letter(producer, erased) is None) == (False, True)
    assert peak < 10_000_000


def test_messages_in_the_broker_are_erased_with_the_agent(producer, eraser, client):
    say(producer, "m1")
    for each in ("m1", "m2"):
        producer.celery.send_task(
            CREATE_TASK,
            kwargs={"agent_id": "a", "messages": [{"role": "user", "content": "x", "id": each}]},
            queue=queue(agent_queue_name("a")),
            ignore_result=True,
        )
    assert client.llen(agent_queue_name("a")) == 2
    eraser.erase_agent()
    assert not client.exists(agent_queue_name("a"))


class ErasingQueues:
    """Agents' queues that erase the agent just after its messages are read."""

    def __init__(self, queues, eraser):
        self._queues = queues
        self._eraser = eraser

    def __getattr__(self, name):
        return getattr(self._queues, name)

    def take(self, *request):
        batch = self._queues.take(*request)
        assert batch.raw
        self._eraser.erase_agent()
        return batch


def test_a_batch_that_was_read_before_the_erasure_is_not_taken_in(producer, eraser, client):
    say(producer, "m1")
    client.lpush(agent_queue_name("a"), incoming("m2"))
    queues = ErasingQueues(RedisAgentQueues(client), eraser)
    claimed = Claims(producer.database, 30_000).claim_named("a")
    with pytest.raises(FencedOffError):
        BrokerIntake(queues, batch=10, limits=LIMITS).take_in(claimed.lease)
    assert stored_ids(producer) == []
    assert not client.exists(agent_queue_name("a"))


def test_no_agent_is_erased_while_the_broker_is_unavailable(producer, client):
    """Otherwise messages in the broker would create the erased agent again."""

    class NoBroker:
        def empty(self, agent_id):
            raise ConnectionRefusedError

    say(producer, "m1")
    with pytest.raises(BrokerUnavailableError):
        erase.run_agent(
            producer.database,
            PostgresPageStore(producer.database),
            producer.wakeups,
            NoBroker(),
            "a",
        )
    assert stored_ids(producer) == ["m1"]
    assert producer.lane("a").lease_owner is None


def test_a_message_that_waits_for_its_own_erasure_is_refused(producer, eraser):
    """Its statement began before the erasure ended."""
    say(producer, "m1", "m2")
    refused: list[Exception] = []

    def send_again():
        try:
            say(producer, "m1")
        except ErasedError as error:
            refused.append(error)

    with producer.database.agent_transaction("a") as connection:
        connection.exec_driver_sql("SELECT FROM lane WHERE agent_id = 'a' FOR UPDATE")
        sender = Thread(target=send_again)
        sender.start()
        wait_for_lock(producer)
        connection.exec_driver_sql(
            "INSERT INTO erased_message (agent_id, digest)"
            " SELECT agent_id, sha256(convert_to(id, 'UTF8')) FROM message WHERE id = 'm1'"
        )
        connection.exec_driver_sql("DELETE FROM message WHERE id = 'm1'")
    sender.join(20)
    assert len(refused) == 1
    assert stored_ids(producer) == ["m2"]


def wait_for_lock(producer: Producer) -> None:
    def waits() -> bool:
        with producer.database.lane_transaction() as connection:
            return bool(
                connection.exec_driver_sql(
                    "SELECT count(*) FROM pg_locks WHERE NOT granted"
                ).scalar()
            )

    wait_until(waits, "somebody waits for the lane")
