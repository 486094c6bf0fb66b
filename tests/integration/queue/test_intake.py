"""The intake stores all messages of a request or none, in order and once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from uuid import uuid4

import pytest
import redis

from memci.domain.memory.compression_scan import PassCursor
from memci.errors import ConflictError, NotFoundError
from memci.message import NewMessage, Remember, Role
from memci.queue.intake import Append
from memci.storage.network import passes
from tests.support import lanes


def user(text, **fields):
    return NewMessage(Role.USER, text, **fields)


def stored(producer, agent="a"):
    return lanes.messages_of(producer.database, agent)


def test_messages_keep_their_order_and_all_their_parts(producer):
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said_at = datetime(2031, 5, 6, tzinfo=UTC)
    request = Append(
        "a",
        [
            NewMessage(Role.SYSTEM, "be kind"),
            user("你好", id="mine", name="Ana", said_at=said_at, metadata={"k": [1, None]}),
            NewMessage(Role.ASSISTANT, None, tool_calls=(call,)),
            NewMessage(Role.TOOL, "42", tool_call_id="c"),
        ],
        session_id="s",
        user_id="u",
    )
    answer = producer.intake.append(request)
    assert (answer.seq, answer.accepted, answer.duplicates) == (4, 4, 0)
    first, second, third, fourth = stored(producer)
    assert (first.role, first.content, first.seq) == (Role.SYSTEM, "be kind", 1)
    assert (second.id, second.name, second.said_at) == ("mine", "Ana", said_at)
    assert second.metadata == {"k": [1, None]}
    assert (third.content, third.tool_calls, third.text) == (None, (call,), "f({})")
    assert (fourth.tool_call_id, fourth.session_id, fourth.user_id) == ("c", "s", "u")
    assert producer.job("a", answer.job_id).last_seq == 4


def test_a_message_sent_again_is_a_duplicate(producer):
    first = producer.intake.append(Append("a", [user("one", id="1"), user("two", id="2")]))
    again = producer.intake.append(Append("a", [user("two", id="2"), user("three", id="3")]))
    assert (again.seq, again.accepted, again.duplicates) == (3, 1, 1)
    nothing = producer.intake.append(Append("a", [user("one", id="1")]))
    assert (nothing.job_id, nothing.seq, nothing.accepted, nothing.duplicates) == (None, 1, 0, 1)
    assert [each.content for each in stored(producer)] == ["one", "two", "three"]
    assert first.job_id != again.job_id


def test_the_same_id_twice_in_one_request_is_a_duplicate_too(producer):
    answer = producer.intake.append(Append("a", [user("x", id="1"), user("x", id="1")]))
    assert (answer.accepted, answer.duplicates) == (1, 1)


def test_an_id_used_for_something_else_is_refused_and_nothing_is_written(producer):
    producer.intake.append(Append("a", [user("one", id="1")]))
    with pytest.raises(ConflictError, match=r"messages\[1\]"):
        producer.intake.append(Append("a", [user("new"), user("other", id="1")]))
    assert [each.content for each in stored(producer)] == ["one"]
    assert producer.states("a") == ["queued"]


def test_a_request_with_the_same_key_is_the_same_request(producer):
    request = Append("a", [user("one"), user("two")], key="k")
    first, again = producer.intake.append(request), producer.intake.append(request)
    assert first.job_id == again.job_id
    assert (again.seq, again.accepted, again.duplicates) == (2, 0, 2)
    other_agent = producer.intake.append(Append("b", request.messages, key="k"))
    assert (other_agent.accepted, other_agent.job_id != first.job_id) == (2, True)
    with pytest.raises(ConflictError):
        producer.intake.append(Append("a", [user("something else")], key="k"))


def test_a_repeat_is_known_even_when_its_job_is_pruned(producer):
    request = Append("a", [user("one")], job_id=uuid4())
    producer.intake.append(request)
    with producer.database.lane_transaction() as connection:
        connection.exec_driver_sql("DELETE FROM job")
    assert producer.intake.append(request).duplicates == 1
    assert producer.states("a") == []


@pytest.mark.parametrize("remember", [Remember.NEVER, Remember.AUTO])
def test_messages_not_for_memory_are_indexed_and_return_no_job(producer, remember):
    answer = producer.intake.append(Append("a", [user("x")], remember=remember))
    assert answer.job_id is None
    with producer.database.lane_transaction() as connection:
        kinds = connection.exec_driver_sql("SELECT kind FROM job").all()
    assert [row[0] for row in kinds] == ["memci.message.index"]


def test_many_messages_of_a_lane_publish_one_wakeup(producer, broker_url):
    for _ in range(5):
        producer.append("a")
    producer.append("b")
    with closing(redis.Redis.from_url(broker_url)) as client:
        assert client.llen("memci.lane") == 2


def test_concurrent_writers_get_seqs_without_gaps_in_mailbox_order(producer):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: producer.append("a", f"m{n}"), range(80)))
    assert sorted(answer.seq for answer in answers) == list(range(1, 81))
    with producer.database.lane_transaction() as connection:
        rows = connection.exec_driver_sql("SELECT first_seq FROM job ORDER BY ordinal").all()
    assert [row[0] for row in rows] == list(range(1, 81))


def test_compression_requests_are_counted_and_coalesced(producer, broker_url):
    with pytest.raises(NotFoundError):
        producer.intake.request_compress("a")
    producer.append("a")
    asked = [producer.intake.request_compress("a") for _ in range(2)]
    with producer.database.agent_transaction("a") as connection:
        number = passes.begin_pass(connection, "a")
        passes.move_cursor(connection, "a", PassCursor(number, request=2, fence=0))
    asked += [producer.intake.request_compress("a") for _ in range(2)]
    assert [(each.round, each.coalesced) for each in asked] == [
        (1, False), (1, True), (2, False), (2, True),
    ]  # fmt: skip
    with closing(redis.Redis.from_url(broker_url)) as client:
        assert client.llen("memci.compress") == 1


def test_a_key_used_for_more_messages_is_refused(producer):
    producer.intake.append(Append("a", [user("one")], key="k"))
    with pytest.raises(ConflictError, match="key of its own"):
        producer.intake.append(Append("a", [user("one"), user("two")], key="k"))
    assert [each.content for each in stored(producer)] == ["one"]


def test_concurrent_writers_of_the_same_messages_store_them_once(producer):
    request = Append("a", [user(f"m{n}", id=str(n)) for n in range(5)])
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: producer.intake.append(request), range(24)))
    assert sum(answer.accepted for answer in answers) == 5
    assert {answer.seq for answer in answers} == {5}
    assert [each.seq for each in stored(producer)] == [1, 2, 3, 4, 5]
    assert producer.states("a") == ["queued"]
