"""What is handed over of very long sessions (R8)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memci.errors import NotFoundError
from memci.reading.handover import HandingOver
from memci.shapes.summary import HandoverAnswer, HandoverRequest
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from tests.support.kept import pin, plan
from tests.support.stored import Reader, Stored


def many(alice: Stored, first: int, last: int, role: str) -> None:
    alice.execute(
        "INSERT INTO message (agent_id, seq, id, role, content, session_id, said_at, remember,"
        " memory_state, indexed)"
        " SELECT %s, seq, 'm' || seq, %s, 'Ferry ' || seq, 's1', now(), 'now', 'made', false"
        "   FROM generate_series(%s::bigint, %s::bigint) AS seq",
        role, first, last,
    )  # fmt: skip


def hand_over(reader: Reader, **fields: Any) -> HandoverAnswer:
    made = HandingOver(*reader.parts, OfflineSummarizer())
    return made.run("alice", HandoverRequest(**{"session_id": "s1", **fields}))


def test_of_an_endless_interaction_the_newest_stands_there(reader: Reader, alice: Stored):
    many(alice, 1, 1, "user")
    many(alice, 2, 620, "assistant")
    handed = hand_over(reader)
    assert handed.message_ids == [f"m{seq}" for seq in range(121, 621)]
    assert handed.through_seq == 120
    assert handed.unread == 0


def test_results_are_summed_up_with_the_call_that_they_answer(reader: Reader, alice: Stored):
    many(alice, 1, 1, "user")
    many(alice, 2, 620, "assistant")
    calls = [{"id": f"c{each}", "type": "function", "function": {"name": "look"}}
             for each in (1, 2, 3)]  # fmt: skip
    alice.execute(
        "UPDATE message SET tool_calls = calls"
        " FROM (SELECT %s AS agent, %s::jsonb AS calls) AS made"
        " WHERE agent_id = agent AND seq = 119",
        json.dumps(calls),
    )
    alice.execute(
        "UPDATE message SET role = 'tool', tool_call_id = 'c' || seq - 119"
        " WHERE agent_id = %s AND seq BETWEEN 120 AND 122"
    )
    handed = hand_over(reader)
    assert handed.message_ids == [f"m{seq}" for seq in range(123, 621)]
    assert handed.through_seq == 122
    assert handed.unread == 0


def test_no_other_users_pins_and_plans_are_handed_over(reader: Reader, alice: Stored):
    alice.say("From now on, answer me in French.", session="k1", user="kim")
    alice.say("Which ferry do I take?", user="kim")
    alice.say("Which ferry do I take back?", user="lee")
    for number, user in enumerate(("kim", "lee", None), 1):
        pin(alice, number, f"Of {user}", user_id=user)
    plan(alice, 2, ("Buy the tickets", "active"), user="kim")
    text = hand_over(reader).text
    assert "Of lee" in text
    assert "Of None" in text
    assert "Of kim" not in text
    assert "Buy the tickets" not in text
    # What was said in the session is all of it there, whoever has said it.
    assert "Which ferry do I take?" in text
    assert hand_over(reader, session_id=None).text == text
    of_kim = hand_over(reader, user_id="kim").text
    assert "Of kim" in of_kim
    assert "Buy the tickets" in of_kim
    assert "take back?" not in of_kim


def test_of_a_session_that_is_not_there_nothing_is_handed_over(reader: Reader, alice: Stored):
    alice.say("Which ferry do I take?")
    with pytest.raises(NotFoundError, match="no such session"):
        hand_over(reader, session_id="nope")


@pytest.mark.parametrize(("last", "unread"), [(2_004, 0), (2_011, 7)])
def test_what_was_too_much_to_be_summed_up_is_counted(
    reader: Reader, alice: Stored, last: int, unread: int
):
    many(alice, 1, last, "user")
    handed = hand_over(reader)
    assert len(handed.message_ids) == 4
    assert (handed.through_seq, handed.unread) == (2_000, unread)
    assert ("(7 messages after this are not summed up yet)" in handed.text) is bool(unread)
