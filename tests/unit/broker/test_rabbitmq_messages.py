"""RabbitMQ messages are wrapped like messages that kombu puts into Redis."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

from amqp import Message
from hypothesis import given
from hypothesis import strategies as st
from kombu.transport import pyamqp

from memci.broker import rabbitmq_queues
from memci.broker.intake_queues import noted_size
from memci.broker.message_decoding import decode

ID = "6f1f2a3e-0000-4000-8000-000000000001"
JSON = "application/json"


def message(body, content_type=JSON, **headers):
    return Message(
        body, content_type=content_type, content_encoding="utf-8", application_headers=headers
    )


def envelope(given_message, most_bytes=100_000):
    return rabbitmq_queues.raw_message(given_message, most_bytes)


def read(wrapped):
    return decode(wrapped, limit_bytes=100_000)


def test_a_wrapped_message_is_read_like_one_from_redis():
    body = json.dumps([[], {"text": "記憶"}, {}])
    for given_body in (body, body.encode(), memoryview(body.encode())):
        decoded = read(envelope(message(given_body, task="t", id=ID)))
        assert (decoded.task, decoded.id) == ("t", UUID(ID))
        assert decoded.arguments == {"text": "記憶"}


def test_a_redelivered_message_gives_the_same_bytes():
    """RabbitMQ counts deliveries in a header and may change the order of the other headers."""
    first = message("[[],{},{}]", task="t", lang="py")
    again = message("[[],{},{}]", lang="py", task="t", **{"x-delivery-count": 2})
    assert envelope(first) == envelope(again)


def test_a_worker_sees_the_same_bytes_as_the_intake():
    """Celery hands out messages of kombu, whose delivery details change each time."""
    plain = message("no JSON", task="t", id=ID)
    plain.delivery_info = {"routing_key": "memci.agent.a", "delivery_tag": 7, "redelivered": True}
    assert envelope(pyamqp.Message(plain)) == envelope(plain)


def test_different_bodies_give_different_bytes():
    assert envelope(message("1")) != envelope(message("2"))


def test_a_too_large_message_keeps_both_ends_and_its_headers():
    large = [envelope(message("x" * 200_000, id=ID, copy=copy)) for copy in "112"]
    assert noted_size(large[0]) == 200_000
    assert ID.encode() in large[0]
    assert large[0] == large[1] != large[2]
    assert len(large[0]) < 70_000


def test_the_size_limit_applies_to_the_body_and_not_to_the_envelope():
    body = json.dumps([[], {"text": "x" * 99_950}, {}])
    assert len(body) <= 100_000
    assert read(envelope(message(body, task="t", id=ID))).task == "t"


def test_a_message_without_properties_is_json():
    body = json.dumps({"task": "t", "kwargs": {"a": 1}})
    assert read(envelope(Message(body))).arguments == {"a": 1}


@given(
    st.binary(max_size=50),
    st.dictionaries(
        st.text(max_size=5),
        st.one_of(
            st.none(), st.text(), st.integers(), st.binary(), st.just(Decimal("1.5")),
            st.just(datetime(2026, 1, 1, tzinfo=UTC)), st.lists(st.binary()),
        ),
        max_size=4,
    ),
)  # fmt: skip
def test_any_message_is_wrapped(body, headers):
    wrapped = json.loads(envelope(message(body, **headers)))
    assert wrapped["properties"]["body_encoding"] == "base64"
