"""Laws of the message filter (R1 to R4)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memci.domain.memory.message_filter import (
    MemoryState,
    Status,
    Utterance,
    filter_reasons,
    windows_of,
)
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.self_contained_text import worded
from memci.language.detection import language_of
from memci.language.small_talk import split_words
from memci.message import Message, Role
from memci.storage.session import Database
from tests.support.examples import examples
from tests.support.network import AgentUnderTest
from tests.support.pure_network import SAID_AT

LAWS = settings(max_examples=examples(500))
STORED = settings(
    LAWS, max_examples=examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture]
)

parameters = st.builds(
    MemoryParameters,
    window_size=st.integers(1, 12),
    window_stride=st.integers(1, 12),
    novelty_threshold=st.sampled_from([0.0, 0.2, 0.35, 0.35, 0.7, 1.0]),
    skip_trivial=st.booleans(),
    min_content_length=st.sampled_from([0, 20, 40]),
    simplemem_enabled=st.sampled_from([True, True, True, False]),
)
texts = st.sampled_from([
    "Hi!", "Thanks!", "ok", "Do you smoke?", "Yes", "No.", "How are you?", "Yes, since 2016",
    "My sister moved to Lisbon", "My sister moved to Oslo", "The rent is too high in Lisbon",
    "我喜欢苹果", "我不喜欢苹果", "好的", "你抽烟吗？", "👍", "!!",
    "so we will see how it goes then",
])  # fmt: skip
speakers = st.sampled_from([("user", ""), ("assistant", ""), ("user", "Ann"), ("tool", "")])
utterances = st.lists(
    st.builds(
        Utterance,
        text=texts | st.text(max_size=30),
        speaker=speakers,
        status=st.sampled_from([Status.CANDIDATE, Status.CANDIDATE, *Status]),
        calls=st.booleans(),
    ),
    max_size=16,
)


def alike(one: int, other: int) -> float:
    return ((one * 31 + other * 17) % 101) / 100


@LAWS
@given(utterances, parameters)
def test_each_message_has_one_repeatable_verdict(
    said: list[Utterance], values: MemoryParameters
) -> None:
    verdicts = filter_reasons(said, alike, values)
    assert len(verdicts) == len(said)
    assert verdicts == filter_reasons(said, alike, values)
    for utterance, verdict in zip(said, verdicts, strict=True):
        judged = values.simplemem_enabled and utterance.status is Status.CANDIDATE
        assert judged or verdict is None


@LAWS
@given(utterances, st.data())
def test_a_new_statement_is_kept(said: list[Utterance], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(said)))
    new = Utterance("Grandmother emigrated", data.draw(speakers))
    verdicts = filter_reasons([*said[:place], new, *said[place:]], alike, MemoryParameters())
    assert verdicts[place] is None


@LAWS
@given(utterances, st.data())
def test_an_answer_to_a_question_is_kept(said: list[Utterance], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(said)))
    question = Utterance("Does Grandmother snore?", ("assistant", ""))
    answer = Utterance(
        data.draw(st.sampled_from(["Yes", "No.", "Often, since 2016"])), ("user", "")
    )
    talk = [*said[:place], question, answer, *said[place:]]
    assert filter_reasons(talk, alike, MemoryParameters())[place : place + 2] == [None, None]


@LAWS
@given(utterances)
def test_different_messages_are_never_repetitions(said: list[Utterance]) -> None:
    different = {tuple(split_words(each.text)): each for each in said}
    verdicts = filter_reasons(list(different.values()), lambda *_: 0.0, MemoryParameters())
    assert "repeated" not in verdicts


@LAWS
@given(st.integers(0, 60), parameters)
def test_every_message_lies_in_windows_in_order(count: int, values: MemoryParameters) -> None:
    around = windows_of(count, values)
    assert len(around) == count
    for place, windows in enumerate(around):
        assert windows
        assert all(place in window and len(window) <= values.window_size for window in windows)
        assert all(one.start < other.start for one, other in pairwise(windows))


visible = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(
    lambda text: bool(text.strip())
)


@LAWS
@given(st.lists(st.tuples(visible, st.sampled_from(["Ann", "Bob", None])), min_size=1, max_size=6))
def test_a_memory_text_only_adds_words_to_messages(said: list[tuple[str, Any]]) -> None:
    messages = [
        Message(seq, f"m{seq}", Role.USER, text, SAID_AT, name=name)
        for seq, (text, name) in enumerate(said, 1)
    ]
    text = "\n".join(each.text for each in messages)
    question = Message(0, "m0", Role.ASSISTANT, "Do you?", SAID_AT)
    for asked in (None, question):
        written = iter(_squeezed(worded(text, messages, language_of(text), asked)))
        assert all(each in written for each in _squeezed(text))


jobs = st.lists(
    st.tuples(st.lists(texts, min_size=1, max_size=4), st.sampled_from(["user", "assistant"])),
    min_size=1,
    max_size=3,
)


@pytest.mark.timeout(600)  # a failure is shrunk for five minutes
@STORED
@given(jobs)
def test_no_message_is_lost_between_jobs(
    database: Database, said: list[tuple[list[str], str]]
) -> None:
    ada = AgentUnderTest(database, f"ada-{uuid4()}")
    for together, role in said:
        ada.remember(*together, role=role)
    memory_states = ada.memory_states()
    states = [state for state, _ in memory_states]
    assert len(states) == sum(len(together) for together, _ in said)
    assert set(states) <= {MemoryState.MADE, MemoryState.FILTERED}
    assert all((reason is None) == (state == MemoryState.MADE) for state, reason in memory_states)
    made = [node.message_seqs[-1] for node in ada.nodes("memory")]
    assert made == sorted(made)
    assert made == [seq for seq, state in enumerate(states, 1) if state == MemoryState.MADE]


def _squeezed(text: str) -> str:
    return "".join(text.split())
