"""An assembled list repeats nothing, and loses nothing by that (R14)."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memci.domain.context.assemble import Assembly
from memci.domain.context.materials import Materials
from memci.domain.context.message_list import LeftOut, Section
from memci.domain.memory.self_contained_text import worded
from memci.domain.search.candidate import Source, message_candidate
from memci.domain.search.duplicates import words_of
from memci.domain.session.interaction import interactions
from memci.domain.token_counts import LIST_OVERHEAD
from memci.language.detection import Language
from memci.message import Message, Role
from tests.support.examples import examples
from tests.support.talk import BEGIN, assemble, in_order, memory, words

thoroughly = settings(max_examples=examples(500), suppress_health_check=[HealthCheck.too_slow])
# Each states another fact; none is part of another.
SENTENCES = [
    "I met Ann yesterday at the harbour.",
    "The ferry leaves at eight.\nBring boots!",
    "Last Friday we moved the database.",
    "Shall we sail next month?",
    "1. buy rope\n2. paint the hull\n\n3. call Bob",
    "昨天我买了一辆红色的自行车。",
    "下个月去成都出差，住在王磊家。",
    "会议几点开始？",
    "晚上一起吃火锅。记得带伞！",
]
SPEAKERS = st.sampled_from([(Role.USER, None), (Role.USER, "Ann"), (Role.ASSISTANT, None)])


@st.composite
def materials_with_memories(draw: st.DrawFn) -> Materials:
    """A conversation, its memories, and search results from both."""
    texts = draw(st.lists(st.sampled_from(SENTENCES), min_size=2, max_size=9))
    messages = []
    for seq, text in enumerate(texts, start=1):
        role, name = draw(SPEAKERS)
        at = BEGIN + timedelta(hours=draw(st.sampled_from([0, 1, 30])) + seq)
        messages.append(Message(seq, f"m{seq}", role, text, at, name, "s1"))
    cuts = sorted(draw(st.sets(st.integers(1, len(messages) - 1), max_size=3)) | {0, len(messages)})
    found = [
        memory(key, *(each.seq for each in part), text=_memory(part), lexical=draw(st.floats(1, 9)))
        for key, part in enumerate((messages[a:b] for a, b in pairwise(cuts)), 1)
    ]
    found += [
        message_candidate(each, lexical=draw(st.floats(1, 9)))
        for each in messages
        if draw(st.booleans())
    ]
    window = interactions(messages)
    query = draw(st.none() | st.sampled_from([*SENTENCES, "When does the ferry leave?"]))
    ranked = in_order(*draw(st.permutations(found)))
    recent = draw(st.integers(0, len(window)))
    return Materials(None, query, window, recent, ranked, Language.ENGLISH)


def _memory(part: list[Message]) -> str:
    return worded("\n".join(each.text for each in part), part, Language.ENGLISH)


def section_texts(assembly: Assembly, section: Section) -> list[tuple[tuple[int, ...], str]]:
    """The texts of a section without date lines, each with the messages that it comes from."""
    return [
        (item.seqs, item.ranked.candidate.text if item.ranked else item.text)
        for item in assembly.items
        if item.section is section
    ]


def padded_words(text: str) -> str:
    return f" {' '.join(words_of(text))} "


@thoroughly
@given(chosen=materials_with_memories(), budget=st.integers(60, 700))
def test_no_memory_repeats_an_included_message(chosen: Materials, budget: int):
    assembly = assemble(chosen, budget, words)
    utterances = [part.utterance for part in assembly.parts]
    total = sum(each.tokens(words) for each in utterances) + LIST_OVERHEAD
    assert assembly.tokens == total <= budget

    verbatim = [
        (seq, text)
        for section in (Section.RECENT, Section.HISTORY, Section.QUERY)
        for seqs, text in section_texts(assembly, section)
        for seq in seqs
    ]
    memories = section_texts(assembly, Section.MEMORY)
    for seq, text in verbatim:
        for seqs, remembered_text in memories:
            if seq in seqs:
                others = [
                    each.text for each in _messages(chosen) if each.seq in seqs and each.seq != seq
                ]
                assert text in others or padded_words(text) not in padded_words(remembered_text)
    assert len({seq for seq, _ in verbatim}) == len(verbatim)


@thoroughly
@given(chosen=materials_with_memories(), budget=st.integers(60, 700))
def test_history_repeats_no_message_of_a_day_and_not_the_query(chosen: Materials, budget: int):
    assembly = assemble(chosen, budget, words)
    by_seq = {each.seq: each for each in _messages(chosen)}
    present = [by_seq[seq] for seqs, _ in section_texts(assembly, Section.RECENT) for seq in seqs]
    for (seq,), text in section_texts(assembly, Section.HISTORY):
        one = by_seq[seq]
        assert padded_words(text) != padded_words(chosen.query or "")
        assert all(
            (each.role, each.name, each.said_at.date(), each.text)
            != (one.role, one.name, one.said_at.date(), one.text)
            for each in present
        )
        present.append(one)


@thoroughly
@given(chosen=materials_with_memories())
def test_candidates_left_out_as_present_are_in_the_list(chosen: Materials):
    assembly = assemble(chosen, 5_000, words)
    everything = [
        line
        for section in (Section.RECENT, Section.HISTORY, Section.QUERY, Section.MEMORY)
        for _, text in section_texts(assembly, section)
        for line in [padded_words(text), *map(padded_words, text.splitlines())]
    ]
    for left_out, reason in assembly.left_out:
        assert reason is LeftOut.PRESENT
        one = left_out.candidate
        texts = (
            [each.text for each in _messages(chosen) if each.seq in one.seqs]
            if one.source is Source.MEMORY
            else [one.text]
        )
        assert all(any(padded_words(text) in line for line in everything) for text in texts)


def _messages(chosen: Materials) -> list[Message]:
    return [message for each in chosen.window for message in each.messages]
