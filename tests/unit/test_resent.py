"""Only new messages of a conversation that is sent again are stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from memci.domain.resent_messages import place, session_of
from memci.message import Message, NewMessage, Role

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def conversation(*texts: str) -> list[NewMessage]:
    """Return messages of user and assistant in turn, the user first."""
    roles = (Role.USER, Role.ASSISTANT)
    return [NewMessage(roles[at % 2], text) for at, text in enumerate(texts)]


def store_new(stored: list[Message], sent: list[NewMessage]) -> list[str]:
    """Store what is new, and return its texts."""
    placed = place(sent, stored, "s")
    new = [placed.messages[at] for at in sorted(placed.new)]
    assert {each.id for each in new}.isdisjoint(each.id for each in stored)
    stored += [
        Message(len(stored) + at, each.id or "", each.role, each.content, NOW)
        for at, each in enumerate(new, start=1)
    ]
    return [each.content or "" for each in new]


def test_only_the_last_messages_of_a_full_history_are_new():
    stored: list[Message] = []
    assert store_new(stored, conversation("a")) == ["a"]
    assert store_new(stored, conversation("a", "b", "c")) == ["b", "c"]
    assert store_new(stored, conversation("a", "b", "c")) == []


def test_only_the_last_message_of_a_history_without_its_beginning_is_new():
    stored: list[Message] = []
    store_new(stored, conversation("a", "b", "c", "d"))
    assert store_new(stored, [*conversation("c", "d", "e")]) == ["e"]


def test_a_summary_that_a_client_puts_first_is_new_and_the_rest_is_not():
    stored: list[Message] = []
    store_new(stored, conversation("a", "b", "c", "d"))
    sent = [NewMessage(Role.USER, "So far: a, b."), *conversation("c", "d", "e")]
    assert store_new(stored, sent) == ["So far: a, b.", "e"]


def test_an_edited_message_is_new():
    stored: list[Message] = []
    store_new(stored, conversation("a", "b", "c", "d"))
    assert store_new(stored, conversation("a", "b", "other")) == ["other"]


def test_a_single_message_is_new_unless_it_has_no_answer_yet():
    stored: list[Message] = []
    assert store_new(stored, conversation("ok")) == ["ok"]
    assert store_new(stored, conversation("ok")) == []
    store_new(stored, conversation("ok", "fine"))
    assert store_new(stored, conversation("ok")) == ["ok"]


def test_white_space_around_a_message_is_ignored():
    stored: list[Message] = []
    store_new(stored, conversation("a", " b\n"))
    assert store_new(stored, conversation("a", "b", "c")) == ["c"]


def test_an_erased_message_is_recognised_by_its_id():
    stored: list[Message] = []
    store_new(stored, conversation("a", "b", "c"))
    erased = stored.pop(0).id
    again = place(conversation("a", "b", "c", "d"), stored, "s")
    assert (again.messages[0].id, again.new) == (erased, {0, 3})


def test_ids_depend_on_session_and_name():
    sent = conversation("a", "b")
    ids = [place(sent, [], name).ids for name in ("s", "t")]
    assert ids[0].isdisjoint(ids[1])
    named = [replace(each, name="Ann") for each in sent]
    assert place(named, [], "s").ids.isdisjoint(ids[0])
    assert session_of("a", None) == session_of("a ", None)
    whose = [session_of("a", None), session_of("b", None), session_of("a", "u")]
    assert len(set(whose)) == 3


@given(st.lists(st.sampled_from(["a", "b", "ok"]), min_size=2, max_size=12))
def test_a_growing_history_is_stored_once(texts: list[str]):
    stored: list[Message] = []
    for end in range(2, len(texts) + 1):
        store_new(stored, conversation(*texts[:end]))
    assert [each.content for each in stored] == texts
