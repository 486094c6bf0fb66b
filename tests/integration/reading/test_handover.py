"""Handover texts of long sessions (R8)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memci.errors import NotFoundError
from memci.reading.handover import HandoverReader
from memci.schemas.sessions import HandoverAnswer, HandoverRequest
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from tests.support.insert_sources import pin, plan
from tests.support.stored import Reader, Stored


def insert_messages(alice: Stored, first: int, last: int, role: str) -> None:
    alice.execute(
        "INSERT INTO message (agent_id, seq, id, role, content, session_id, said_at, remember,"
        " memory_state, indexed)"
        " SELECT %s, seq, 'm' || seq, %s, 'Ferry ' || seq, 's1', now(), 'now', 'made', false"
        "   FROM generate_series(%s::bigint, %s::bigint) AS seq",
        role, first, last,
    )  # fmt: skip


def hand_over(reader: Reader, **fields: Any) -> HandoverAnswer:
    handover = HandoverReader(*reader.parts, OfflineSummarizer())
    return handover.run("alice", HandoverRequest(**{"session_id": "s1", **fields}))


def test_the_newest_messages_of_a_long_interaction_are_handed_over(reader: Reader, alice: Stored):
    insert_messages(alice, 1, 1, "user")
    insert_messages(alice, 2, 620, "assistant")
    handed = hand_over(reader)
    assert handed.message_ids == [f"m{seq}" for seq in range(121, 621)]
    assert handed.through_seq == 120
    assert handed.unread == 0


def test_tool_results_are_summed_up_together_with_their_call(reader: Reader, alice: Stored):
    insert_messages(alice, 1, 1, "user")
    insert_messages(alice, 2, 620, "assistant")
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
    # All messages of the session are there, of every user.
    assert "Which ferry do I take?" in text
    assert hand_over(reader, session_id=None).text == text
    of_kim = hand_over(reader, user_id="kim").text
    assert "Of kim" in of_kim
    assert "Buy the tickets" in of_kim
    assert "take back?" not in of_kim


LOADED = (
    ("Load the test copy please.", "The load failed at line 1,288,340. I suggest varchar(120).",
     "Do the same for the orders.", "Understood."),
    ("请把测试副本导入。", "导入在第1288340行失败。我建议把名称改为varchar(120)。",
     "订单表也照这样处理。", "明白。"),
)  # fmt: skip


@pytest.fixture(params=LOADED, ids=["en", "zh"])
def loaded(request: pytest.FixtureRequest, alice: Stored) -> tuple[str, ...]:
    """A session with a long tool result in its middle."""
    question, answer, order, confirmation = request.param
    call = {"id": "c1", "type": "function", "function": {"name": "load", "arguments": "{}"}}
    alice.say(question)
    alice.say(None, "assistant", calls=[call])
    rows = [f"{each} rows copied in {each % 7} s" for each in range(400)]
    alice.say("\n".join([*rows, "ERROR: line 1288340"]), "tool", answers="c1")
    alice.say(answer, "assistant")
    alice.say(order)
    alice.say(confirmation, "assistant")
    words: tuple[str, ...] = request.param
    return words


@pytest.mark.parametrize("budget", [400, 700])
def test_a_tool_result_is_cut_before_any_message(
    reader: Reader, loaded: tuple[str, ...], budget: int
):
    handed = hand_over(reader, budget_tokens=budget)
    assert handed.tokens <= budget
    assert (handed.left_out, len(handed.message_ids)) == (0, 6)
    assert all(each in handed.text for each in loaded)
    assert "load({})" in handed.text
    assert "0 rows copied" in handed.text
    assert "ERROR: line 1288340" in handed.text


def test_messages_without_room_are_counted_in_their_place_and_summed_up(
    reader: Reader, loaded: tuple[str, ...]
):
    whole = hand_over(reader, budget_tokens=4_000)
    assert whole.left_out == 0
    handed = hand_over(reader, budget_tokens=130)
    assert handed.tokens <= 130
    assert (handed.left_out, handed.message_ids) == (4, ["m5", "m6"])
    english = loaded[0].isascii()
    line = "(4 messages before the next" if english else "（因篇幅所限，此处略去原文 4 条消息）"
    assert handed.text.index(line) < handed.text.index(loaded[2])
    assert "1288340" in handed.text.replace(",", "")
    assert handed.text.replace(",", "").index("1288340") < handed.text.index(line)
    assert handed.through_seq == 4


def test_an_unanswered_tool_call_is_handed_over(reader: Reader, alice: Stored):
    alice.say("Which ferry do I take?")
    call = {"id": "c1", "type": "function", "function": {"name": "ferries", "arguments": "{}"}}
    alice.say(None, "assistant", calls=[call])
    handed = hand_over(reader)
    assert "ferries({})" in handed.text
    assert handed.message_ids == ["m1", "m2"]


def test_an_unknown_session_is_not_found(reader: Reader, alice: Stored):
    alice.say("Which ferry do I take?")
    with pytest.raises(NotFoundError, match="no such session"):
        hand_over(reader, session_id="nope")


@pytest.mark.parametrize(("last", "unread"), [(2_004, 0), (2_011, 7)])
def test_messages_beyond_the_most_that_are_summed_up_are_counted(
    reader: Reader, alice: Stored, last: int, unread: int
):
    insert_messages(alice, 1, last, "user")
    handed = hand_over(reader)
    assert len(handed.message_ids) == 4
    assert (handed.through_seq, handed.unread) == (2_000, unread)
    assert ("(7 messages after this are not summed up yet)" in handed.text) is bool(unread)
