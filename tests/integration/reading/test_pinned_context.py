"""Contexts always show pins (R13, R14)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memci.errors import BudgetTooSmallError
from memci.reading.lists.listings import Listings
from memci.schemas.reads import ContextItem
from tests.support.lists import assemble, check, sections
from tests.support.stored import BEGIN, Reader, Stored

_PIN = """
INSERT INTO pin (agent_id, number, kind, text, message_seq, pinned_by) VALUES (%s, %s, %s, %s, %s,
'agent')
"""
_PIN_PART = """
INSERT INTO pin (agent_id, number, kind, text, message_seq, pinned_by, span_start, span_end)
VALUES (%s, %s, 'constraint', '', %s, 'detector', %s, %s)
"""
_PIN_OF_USER = """
INSERT INTO pin (agent_id, number, kind, text, pinned_by, user_id)
VALUES (%s, %s, 'note', %s, 'agent', %s)
"""


def test_pins_follow_the_system_text_and_are_counted(reader: Reader, alice: Stored) -> None:
    alice.say("I take the ferry at eight.")
    alice.execute(_PIN, 1, "constraint", "Never fly", None)
    alice.execute(_PIN, 2, "task", "line one\n# line two", None)
    context = assemble(reader, "Which ferry?", system="Be kind.")
    check(reader, context)
    assert sections(context)[:2] == ["system", "pins"]
    assert context.messages[1].content == (
        "# Pinned (always in sight)\n\n- [1] constraint: Never fly\n"
        "- [2] task: \n```\nline one\n# line two\n```\n\n"
    )
    receipt = Listings(reader.database).receipt("alice", context.receipt_id)
    assert [each["section"] for each in receipt.body["items"]].count("pins") == 2
    again = assemble(reader, "And which train?", system="Be kind.")
    assert again.stable_prefix >= len("Be kind.") + len(context.messages[1].content)


def test_a_pinned_message_is_not_retrieved_again_and_the_receipt_names_it(
    reader: Reader, alice: Stored
) -> None:
    message = alice.say("渡轮八点开。")
    alice.execute(_PIN, 1, "note", "", message)
    for each in range(3):
        alice.say(f"Something else {each}")
    context = assemble(reader, "渡轮几点开？", recent=0)
    check(reader, context)
    assert sum("渡轮八点开" in (each.content or "") for each in context.messages) == 1
    (pinned,) = (each for each in context.items if each.section == "pins")
    assert len(pinned.message_ids) == 1


@pytest.mark.parametrize(
    ("text", "query"),
    [("Never book the ferry at night.", "Which ferry?"), ("不要订夜里的渡轮。", "订哪班渡轮？")],
)
def test_a_message_whose_only_sentence_is_pinned_is_not_retrieved_again(
    reader: Reader, alice: Stored, text: str, query: str
) -> None:
    message = alice.say(text, session="old")
    alice.say("The ferry leaves at eight. 渡轮八点开。", session="old")
    for end, times in ((len(text), 1), (len(text) - 1, 1), (len(text) // 2, 2)):
        alice.execute("DELETE FROM pin WHERE agent_id = %s")
        alice.execute(_PIN_PART, 1, message, 0, end)
        context = assemble(reader, query, session_id="new")
        items = [item for item in context.items if has_message(item, message)]
        assert len(items) == times
        assert any("八点开" in item.text for item in context.items)


def has_message(item: ContextItem, seq: int) -> bool:
    return f"m{seq}" in item.message_ids


def test_the_error_of_a_budget_too_small_for_pins_names_them(reader: Reader, alice: Stored) -> None:
    alice.say("Hello")
    alice.execute(_PIN, 1, "note", "word " * 50, None)
    with pytest.raises(BudgetTooSmallError, match="pins 6") as refused:
        assemble(reader, "Hi?", 40)
    assert refused.value.needs["pins"] > 50


def test_pins_of_a_user_are_in_no_context_of_another(reader: Reader, alice: Stored) -> None:
    alice.say("Hello")
    for number, user in enumerate(("ann", "bob", None), 1):
        alice.execute(_PIN_OF_USER, number, f"Of {user}", user)
    assert owners(reader, user_id="bob") == {"bob", "None"}


def owners(reader: Reader, **fields: str) -> set[str]:
    """Return the users whose pins are in a context."""
    context = assemble(reader, "What is pinned?", **fields)
    (text,) = (each.content for each in context.messages if "Pinned" in (each.content or ""))
    return {user for user in ("ann", "bob", "None") if f"Of {user}" in text}


def test_the_user_of_a_context_without_user_is_that_of_its_session(
    reader: Reader, alice: Stored
) -> None:
    alice.say("From now on, answer me in French.", session="k1", user="ann")
    alice.say("Hello", session="l1", user="bob")
    alice.say("Good morning.", "assistant", session="l1")
    for number, user in enumerate(("ann", "bob", None), 1):
        alice.execute(_PIN_OF_USER, number, f"Of {user}", user)
    assert owners(reader, session_id="k1") == {"ann", "None"}
    assert owners(reader, session_id="l1") == {"bob", "None"}
    assert owners(reader, session_id="l1", user_id="ann") == {"ann", "None"}
    assert owners(reader, session_id="new") == {"None"}, "nobody knows whose it will be"
    assert owners(reader) == {"ann", "bob", "None"}, "who names neither sees all"
    alice.say("And I?", session="l1", user="ann")
    assert owners(reader, session_id="l1") == {"ann", "None"}, "that of the last message"
    alice.say("Nobody's.", session="none")
    assert owners(reader, session_id="none") == {"ann", "bob", "None"}, "a session without users"


@pytest.mark.parametrize(
    "text", ["From now on, answer me in French.", "以后请用中文回答我。"], ids=["en", "zh"]
)
def test_as_of_a_time_later_pins_are_not_shown(reader: Reader, alice: Stored, text: str) -> None:
    alice.say("The ferry leaves at eight.")
    seq = alice.say(text)
    alice.execute(_PIN, 1, "preference", "", seq)
    alice.execute(_PIN, 2, "constraint", "Never fly", None)
    alice.execute(
        "UPDATE pin SET created_at = at FROM (SELECT %s AS agent, %s::timestamptz AS at) AS made"
        " WHERE agent_id = agent AND number = 2",
        BEGIN + timedelta(minutes=3),
    )

    def shown(minutes: int) -> list[bool]:
        context = assemble(reader, "Which ferry?", as_of=BEGIN + timedelta(minutes=minutes))
        pins = "".join(each.text for each in context.items if each.section == "pins")
        return [text in pins, "Never fly" in pins]

    assert [shown(minutes) for minutes in (1, 2, 3)] == [
        [False, False], [True, False], [True, True],
    ]  # fmt: skip
