"""M26: a message that repeats what the agent has read makes no memory."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from memci.reading.lists.listings import Listings
from tests.support.network import AgentUnderTest

FACT = "Anna moves to Lisbon in May and looks for a flat near the river"


def receipt(ada: AgentUnderTest, at_seq: int, *seqs: int, nodes: tuple[int, ...] = ()) -> None:
    """Store a receipt of a read after the message ``at_seq``."""
    ada.execute(
        "INSERT INTO receipt (agent_id, id, kind, body, at_seq, seqs, given, nodes)"
        " VALUES (%s, %s, 'context', '{}', %s, %s, %s, %s)",
        uuid4(), at_seq, list(seqs), list(seqs), list(nodes),
    )  # fmt: skip


def states(ada: AgentUnderTest) -> list[tuple[str, str | None]]:
    rows = ada.rows(
        "SELECT memory_state, memory_reason FROM message WHERE agent_id = %s ORDER BY seq"
    )
    return [(row.memory_state, row.memory_reason) for row in rows]


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_a_repeated_message_makes_no_memory(ada: AgentUnderTest, role: str) -> None:
    ada.remember(FACT)
    receipt(ada, 1, 1)
    ada.remember(f"{FACT}!", role=role)
    assert states(ada)[1] == ("filtered", "echo")
    assert len(ada.nodes("memory")) == 1
    indexed = ada.rows("SELECT FROM message_vector WHERE agent_id = %s AND seq = 2")
    assert indexed, "it is found by search all the same"


def test_a_repetition_by_a_user_makes_a_memory(ada: AgentUnderTest) -> None:
    ada.remember(FACT)
    receipt(ada, 1, 1)
    ada.remember(FACT, session="s2")
    assert [state for state, _ in states(ada)] == ["made", "made"]


def test_a_repetition_of_a_message_that_was_not_read_is_no_echo(ada: AgentUnderTest) -> None:
    ada.remember(FACT)
    ada.remember(FACT, role="assistant")
    receipt(ada, 2, 2)
    ada.remember("Anna has found a flat with two rooms and a view of the bridge", role="assistant")
    assert [state for state, _ in states(ada)] == ["made"] * 3


def test_a_message_is_no_echo_of_itself(ada: AgentUnderTest) -> None:
    """The agent has read it among the recent messages before the job runs."""
    job = ada.say(FACT, role="assistant")
    receipt(ada, 1, 1)
    ada.create(job)
    assert states(ada) == [("made", None)]


def test_a_repetition_of_a_memory_that_was_read_is_an_echo(ada: AgentUnderTest) -> None:
    ada.remember("the ferry to Porto sails at nine")
    (node,) = ada.nodes("memory")
    ada.execute(f"UPDATE node SET content = '{FACT}' WHERE agent_id = %s AND id = %s", node.id)
    receipt(ada, 1, nodes=(node.id,))
    ada.remember(FACT, role="assistant")
    assert states(ada)[1] == ("filtered", "echo")


@pytest.mark.parametrize(("between", "echo"), [(19, True), (20, False)])
def test_reads_of_the_last_20_interactions_count(
    ada: AgentUnderTest, between: int, echo: bool
) -> None:
    ada.say(FACT)
    receipt(ada, 1, 1)
    ada.say(*[f"question {n}" for n in range(between)])
    ada.remember(FACT, role="assistant")
    assert (states(ada)[-1][0] == "filtered") == echo


def test_interactions_are_counted_for_each_message_of_a_job(ada: AgentUnderTest) -> None:
    ada.say(FACT)
    receipt(ada, 1, 1)
    first = ada.say(FACT, role="assistant")
    ada.say(*[f"question {n}" for n in range(20)])
    last = ada.say(FACT, role="assistant")
    ada.create(ada.job(first.first_seq, last.last_seq))
    found = states(ada)
    assert found[1] == ("filtered", "echo")
    assert found[-1] == ("made", None)


@pytest.mark.parametrize("after", [150, 700])
def test_an_echo_is_found_however_much_was_read_meanwhile(ada: AgentUnderTest, after: int) -> None:
    """Many others are read too, and each message of a job has its own earlier receipts."""
    ada.say(FACT, *[f"question number {n} about something else" for n in range(10)])
    receipt(ada, 11, 1)
    ada.execute(
        "INSERT INTO receipt (agent_id, id, kind, body, at_seq, seqs, given, nodes)"
        " SELECT %s, gen_random_uuid(), 'context', '{}', 11, g, g, '{}'"
        "   FROM (SELECT ARRAY[2 + n %% 10, 2 + n / 10 %% 10]::bigint[] AS g"
        f"           FROM generate_series(1, {after}) n) each"
    )
    first = ada.say(FACT, role="assistant")
    last = ada.say("the harbour is closed for the whole week", role="assistant")
    receipt(ada, last.last_seq, 3)
    ada.create(ada.job(first.first_seq, last.last_seq))
    assert [state for state, _ in states(ada)[-2:]] == ["filtered", "made"]
    listed = Listings(ada.database).messages("ada", session_id=None, cursor="11", limit=1)
    assert listed.messages[0].memory_reason == "echo"


def test_tool_calls_are_compared_too(ada: AgentUnderTest) -> None:
    ada.say(FACT)
    receipt(ada, 1, 1)
    job = ada.say(None, role="assistant")
    call = {"id": "c", "type": "function", "function": {"name": "note", "arguments": FACT}}
    ada.execute(
        "UPDATE message SET tool_calls = '" + json.dumps([call]) + "' WHERE agent_id = %s"
        " AND seq = 2"
    )
    ada.create(job)
    assert states(ada)[1] == ("filtered", "echo")


def test_a_very_long_message_that_repeats_is_embedded_whole(ada: AgentUnderTest) -> None:
    text = " ".join(f"word{n}" for n in range(900))
    ada.remember(text)
    receipt(ada, 1, 1)
    ada.remember(text, role="tool")
    assert states(ada)[1] == ("filtered", "echo")
    vectors = ada.rows(
        "SELECT embedding::real[] AS v FROM message_vector WHERE agent_id = %s ORDER BY seq"
    )
    assert len(vectors) == 2
    assert any(vectors[1].v)
