"""A producer's message is read, or refused with a reason that quotes nothing of the message."""

from __future__ import annotations

import base64
import json
from uuid import UUID

import pytest
from celery.app.amqp import AMQP
from hypothesis import given
from hypothesis import strategies as st

from memci.broker.app import make_producer
from memci.broker.intake_queues import note
from memci.broker.message_decoding import IncomingMessage, decode, encode, job_id_of
from memci.errors import InvalidInputError

LIMIT = 100_000
ID = "6f1f2a3e-0000-4000-8000-000000000001"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def envelope(body, *, encoding="base64", **fields):
    text = body if isinstance(body, str) else json.dumps(body)
    if encoding == "base64":
        text = base64.b64encode(text.encode()).decode()
    return json.dumps(
        {
            "body": text,
            "content-type": "application/json",
            "properties": {"body_encoding": encoding},
            **fields,
        }
    ).encode()


def v2(arguments, **headers):
    """Return a message of protocol 2."""
    return envelope([[], arguments, {}], headers={"task": "t", "id": ID, **headers})


def read(raw) -> IncomingMessage:
    return decode(raw, limit_bytes=LIMIT)


def refusal(raw) -> str:
    with pytest.raises(InvalidInputError) as refused:
        read(raw)
    return str(refused.value)


def test_protocol_2_as_celery_writes_it():
    with make_producer("redis://127.0.0.1:1") as app:
        message = AMQP(app).as_task_v2(ID, "memci.memory.create", kwargs={"agent_id": "é"})
    decoded = read(envelope(list(message.body), headers=message.headers))
    assert (decoded.id, decoded.task) == (UUID(ID), "memci.memory.create")
    assert decoded.arguments == {"agent_id": "é"}


def test_protocol_1_as_celery_writes_it():
    with make_producer("redis://127.0.0.1:1") as app:
        message = AMQP(app).as_task_v1(ID, "memci.memory.create", kwargs={"agent_id": "a"})
    decoded = read(envelope(message.body))
    assert (decoded.id, decoded.task) == (UUID(ID), "memci.memory.create")
    assert decoded.arguments == {"agent_id": "a"}


def test_a_body_without_base64_is_read():
    body = json.dumps([[], {"a": 1}, {}])
    assert read(envelope(body, encoding=None, headers={"task": "t"})).arguments == {"a": 1}


def test_an_encoded_message_is_decoded_to_the_same_values():
    decoded = read(encode("t", ID, {"agent_id": "a", "text": "記憶"}))
    assert (decoded.task, decoded.id) == ("t", UUID(ID))
    assert decoded.arguments == {"agent_id": "a", "text": "記憶"}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "envelope is not JSON"),
        (b"\xff\xfe\xfd", "envelope is not JSON"),
        (b"7", "not a JSON object"),
        (b"[1]", "not a JSON object"),
        (b"[" * 50_000, "envelope is not JSON"),
        (b'{"a":' * 15_000, "envelope is not JSON"),
        (b"1" * 50_000, "envelope is not JSON"),
        (b"{}", "no body"),
        (json.dumps({"body": 7}).encode(), "no body"),
        (json.dumps({"body": None}).encode(), "no body"),
        (envelope("x", encoding="base64").replace(b'"eA=="', b'"e A="'), "not base64"),
        (json.dumps({"body": "é", "properties": {"body_encoding": "base64"}}).encode(), "base64"),
        (envelope("nonsense"), "body is not JSON"),
        (envelope("[" * 20_000), "body is not JSON"),
        (envelope("7"), "not a Celery task message"),
        (envelope([[], {}]), "not a Celery task message"),
        (envelope([[], [], {}], headers={"task": "t"}), "task name and keyword arguments"),
        (envelope([[], {}, {}]), "task name and keyword arguments"),
        (envelope([[], {}, {}], headers={"task": 7}), "task name and keyword arguments"),
        (envelope([[], {}, {}], headers=[]), "task name and keyword arguments"),
        (envelope({"task": "t", "args": [1]}), "task name and keyword arguments"),
        (v2({}).replace(b"application/json", b"application/x-python-serialize"), "only JSON"),
        (envelope([[], {}, {}], **{"content-type": {"a": 1}}), "only JSON"),
        (envelope("x" * (LIMIT + 1)), f"larger than {LIMIT} bytes"),
        (note(500_000_000, b"a", b"b"), "500000000 bytes are too many to be read"),
    ],
)  # fmt: skip
def test_hostile_input_is_refused(raw, reason):
    assert reason in refusal(raw)


def test_a_refusal_quotes_nothing_of_the_message():
    secret = "my secret"
    for raw in (
        secret.encode(),
        envelope(secret),
        envelope([[], {}, {}], headers={"task": [secret]}),
        v2({}).replace(b"application/json", secret.encode()),
    ):
        assert secret not in refusal(raw)


@pytest.mark.parametrize("given_type", [None, ""])
def test_a_missing_content_type_is_json(given_type):
    raw = envelope([[], {}, {}], headers={"task": "t"}, **{"content-type": given_type})
    assert read(raw).task == "t"


def test_unneeded_properties_and_headers_may_have_any_type():
    raw = json.dumps(
        {"body": json.dumps({"task": "t", "kwargs": {}}), "properties": 7, "headers": "x"}
    ).encode()
    assert read(raw).task == "t"


@pytest.mark.parametrize("task_id", [None, 7, ["x"], {}])
def test_a_message_without_an_id_gets_one_from_all_its_bytes(task_id):
    one, two = (v2({"text": "x" * 70_000 + end}, id=task_id) for end in "ab")
    assert read(one).id == read(one).id
    assert read(one).id != read(two).id


def test_different_ids_that_are_no_uuids_give_different_job_ids():
    ids = ["", "1", "2", "x" * 1000, "\ud800", "\ud801", "記憶", ID, "\0"]
    assert len({job_id_of(each, b"") for each in ids}) == len(ids)
    assert job_id_of("1", b"x") == job_id_of("1", b"y")


@pytest.mark.parametrize(
    "form", [ID, ID.upper(), f"{{{ID}}}", f"urn:uuid:{ID}", ID.replace("-", "")]
)
def test_all_forms_of_a_uuid_give_the_same_job_id(form):
    assert job_id_of(form, b"") == UUID(ID)


@pytest.mark.parametrize(
    ("given_trace", "kept"),
    [(TRACE, TRACE), (TRACE + "\0", None), ("x", None), ("\ud800", None), (7, None), (None, None)],
)
def test_only_a_valid_traceparent_is_kept(given_trace, kept):
    assert read(v2({}, traceparent=given_trace)).traceparent == kept


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
known = st.sampled_from(["body", "headers", "properties", "content-type", "task", "id", "kwargs"])


def assert_read_or_refused(raw):
    try:
        decoded = read(raw)
    except InvalidInputError as error:
        assert len(str(error)) < 200
    else:
        assert isinstance(decoded.id, UUID)
        assert isinstance(decoded.arguments, dict)


@given(st.binary(max_size=300))
def test_random_bytes_are_read_or_refused(raw):
    assert_read_or_refused(raw)


@given(st.dictionaries(known, values))
def test_random_envelopes_are_read_or_refused(value):
    assert_read_or_refused(json.dumps(value).encode())


@given(
    st.one_of(values, st.tuples(values, values, values).map(list), st.dictionaries(known, values)),
    st.one_of(values, st.dictionaries(known, values)),
)
def test_random_bodies_are_read_or_refused(body, headers):
    assert_read_or_refused(envelope(body, headers=headers))
