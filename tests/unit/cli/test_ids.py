"""Ids of messages in a file, made from their content."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memci.cli.formats.read import with_ids

MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": st.text(max_size=5)}
    ),
    max_size=8,
)


def ids(messages, session=None):
    return [message["id"] for message in with_ids(messages, session)]


@given(MESSAGES, MESSAGES)
def test_a_file_that_has_grown_keeps_the_ids_of_its_first_messages(first, more):
    assert ids(first + more)[: len(first)] == ids(first)


@given(MESSAGES)
def test_no_two_messages_of_a_file_share_an_id(messages):
    found = ids(messages)
    assert len(set(found)) == len(found)


@given(MESSAGES, st.text(max_size=5))
def test_another_session_is_another_conversation(messages, session):
    assert not set(ids(messages)) & set(ids(messages, session))


@given(MESSAGES, MESSAGES)
def test_ids_after_the_first_difference_differ(one, other):
    same = True
    for a, b, id_a, id_b in zip(one, other, ids(one), ids(other), strict=False):
        same = same and a == b
        assert (id_a == id_b) == same


def test_an_id_in_the_file_is_kept():
    assert ids([{"id": "mine", "role": "user", "content": "Hi"}]) == ["mine"]
