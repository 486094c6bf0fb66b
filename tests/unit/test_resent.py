"""What of a conversation that is sent again is new."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from memci.domain.resent_messages import place, session_of
from memci.message import Message, NewMessage, Role

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def said(*texts: str) -> list[NewMessage]:
    """Turn by turn, the user first."""
    roles = (Role.USER, Role.ASSISTANT)
    return [NewMessage(roles[at % 2], text) for at, text in enumerate(texts)]


def keep(stored: list[Message], sent: list[NewMessage]) -> list[str]:
    """Store what is new, and return its texts."""
    placed = place(sent, stored, "s")
    new = [placed.messages[at] for at in sorted(placed.new)]
    assert {each.id for each in new}.isdisjoint(each.id for each in stored)
    stored += [
        Message(len(stored) + at, each.id or "", each.role, each.content, NOW)
        for at, each in enumerate(new, start=1)
    ]
    return [each.content or "" for each in new]


def test_of_a_whole_history_the_last_message_is_new():
    stored: list[Message] = []
    assert keep(stored, said("a")) == ["a"]
    assert keep(stored, said("a", "b", "c")) == ["b", "c"]
    assert keep(stored, said("a", "b", "c")) == []


def test_of_a_history_whose_beginning_was_cut_too():
    stored: list[Message] = []
    keep(stored, said("a", "b", "c", "d"))
    assert keep(stored, [*said("c", "d", "e")]) == ["e"]


def test_a_summary_that_a_client_puts_first_is_new_and_the_rest_is_not():
    stored: list[Message] = []
    keep(stored, said("a", "b", "c", "d"))
    sent = [NewMessage(Role.USER, "So far: a, b."), *said("c", "d", "e")]
    assert keep(stored, sent) == ["So far: a, b.", "e"]


def test_what_was_edited_is_new():
    stored: list[Message] = []
    keep(stored, said("a", "b", "c", "d"))
    assert keep(stored, said("a", "b", "other")) == ["other"]


def test_one_message_alone_is_new_unless_it_still_waits():
    stored: list[Message] = []
    assert keep(stored, said("ok")) == ["ok"]
    assert keep(stored, said("ok")) == []
    keep(stored, said("ok", "fine"))
    assert keep(stored, said("ok")) == ["ok"]


def test_white_space_around_makes_no_other_message():
    stored: list[Message] = []
    keep(stored, said("a", " b\n"))
    assert keep(stored, said("a", "b", "c")) == ["c"]


def test_what_was_erased_is_known_by_its_id():
    stored: list[Message] = []
    keep(stored, said("a", "b", "c"))
    erased = stored.pop(0).id
    again = place(said("a", "b", "c", "d"), stored, "s")
    assert (again.messages[0].id, again.new) == (erased, {0, 3})


def test_ids_are_of_a_session():
    sent = said("a", "b")
    ids = [place(sent, [], name).ids for name in ("s", "t")]
    assert ids[0].isdisjoint(ids[1])
    named = [replace(each, name="Ann") for each in sent]
    assert place(named, [], "s").ids.isdisjoint(ids[0])
    assert session_of("a", None) == session_of("a ", None)
    whose = [session_of("a", None), session_of("b", None), session_of("a", "u")]
    assert len(set(whose)) == 3


@given(st.lists(st.sampled_from(["a", "b", "ok"]), min_size=2, max_size=12))
def test_a_history_that_grows_is_stored_as_it_is(texts: list[str]):
    stored: list[Message] = []
    for end in range(2, len(texts) + 1):
        keep(stored, said(*texts[:end]))
    assert [each.content for each in stored] == texts
