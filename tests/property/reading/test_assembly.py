"""Laws of assembly (R13, R14)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memci.domain.context.assemble import Assembly
from memci.domain.context.choose import RECENT_TOKENS
from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Section
from memci.domain.context.recent_messages import digest_of_message
from memci.domain.search.candidate import Candidate
from memci.domain.session.interaction import interactions
from memci.domain.token_counts import LIST_OVERHEAD, Count, message_tokens
from memci.errors import BudgetTooSmallError
from memci.language.detection import Language
from memci.message import Message, Role
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.support.examples import examples
from tests.support.talk import (
    TEXTS,
    assemble,
    candidates,
    conversations,
    in_order,
    memory,
    message,
    words,
)

REAL = OfflineTokenCounter().count
quickly = settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
ORDER = [Section.SYSTEM, Section.MEMORY, Section.HISTORY, Section.RECENT, Section.QUERY]


@st.composite
def materials(draw: st.DrawFn) -> Materials:
    window = interactions(draw(conversations()))
    return Materials(
        system=draw(st.none() | TEXTS),
        query=draw(st.none() | TEXTS),
        window=window,
        recent=draw(st.integers(0, len(window) + 1)),
        ranked=in_order(*draw(candidates())),
        language=draw(st.sampled_from(Language)),
    )


def check(assembly: Assembly, budget: int, count: Count) -> None:
    utterances = [part.utterance for part in assembly.parts]
    total = sum(each.tokens(count) for each in utterances) + LIST_OVERHEAD
    assert assembly.tokens == total <= budget
    assert sum(item.tokens for item in assembly.items) + 3 == assembly.tokens
    assert "".join(item.text for item in assembly.items) == "".join(
        each.text for each in utterances
    )


@pytest.mark.parametrize("count", [words, REAL], ids=["simple", "o200k_base"])
@quickly
@given(chosen=materials(), budget=st.integers(3, 400) | st.integers(1_000, 1_400))
def test_a_list_fits_its_budget_and_its_items_add_up_to_it(
    count: Count, chosen: Materials, budget: int
):
    try:
        assembly = assemble(chosen, budget, count)
    except BudgetTooSmallError as error:
        assert sum(error.needs.values()) > budget
        return
    check(assembly, budget, count)


@quickly
@given(chosen=materials(), budget=st.integers(100, 400))
def test_system_and_query_are_always_included_and_sections_keep_their_order(
    chosen: Materials, budget: int
):
    assembly = assemble(chosen, budget, words)
    parts = [item.section for item in assembly.items]
    block = {Section.MEMORY: Section.HISTORY}
    places = [ORDER.index(block.get(each, each)) for each in parts]
    assert places == sorted(places)
    assert (Section.SYSTEM in parts) == (chosen.system is not None)
    assert (Section.QUERY in parts) == (chosen.query is not None)


@quickly
@given(chosen=materials(), budget=st.integers(100, 1_400))
def test_a_message_is_included_at_most_once(chosen: Materials, budget: int):
    items = assemble(chosen, budget, words).items
    seqs = [seq for item in items if item.section is not Section.MEMORY for seq in item.seqs]
    assert len(seqs) == len(set(seqs))
    for item in items:
        if item.section is Section.MEMORY and item.seqs:
            assert not set(seqs).issuperset(item.seqs)


@st.composite
def materials_with_memories(draw: st.DrawFn) -> Materials:
    """Materials with memories made of lines of recent and older messages."""
    messages = draw(conversations())
    lines = [(each.seq, line) for each in messages for line in each.text.splitlines()]
    older = st.tuples(st.integers(1, 9), st.sampled_from(["an older word", "另一句话"]))
    found = []
    for key in range(1, draw(st.integers(1, 4)) + 1):
        drawn = draw(st.lists(st.sampled_from(lines) | older if lines else older, min_size=1))
        seqs = sorted({seq for seq, _ in drawn})
        found.append(
            memory(key, *seqs, text="\n".join(line for _, line in drawn), lexical=1.0 / key)
        )
    found += [message(each.seq, each.text, lexical=1.0) for each in messages if draw(st.booleans())]
    window = interactions(messages)
    return Materials(
        None, None, window, draw(st.integers(0, len(window))),
        in_order(*draw(st.permutations(found))), Language.ENGLISH,
    )  # fmt: skip


@quickly
@given(chosen=materials_with_memories(), budget=st.integers(40, 400))
def test_no_memory_repeats_a_line_of_an_included_message(chosen: Materials, budget: int):
    items = assemble(chosen, budget, words).items
    shown_texts = {
        seq: item.ranked.candidate.text if item.ranked else item.text
        for item in items
        if item.section is not Section.MEMORY
        for seq in item.seqs
    }
    for item in items:
        if item.section is Section.MEMORY and item.ranked:
            repeated = {
                line
                for seq in item.seqs
                for line in shown_texts.get(seq, "").splitlines()
                if any(mark.isalnum() for mark in line)
            }
            assert repeated.isdisjoint(item.ranked.candidate.text.splitlines())


@quickly
@given(messages=conversations(), budget=st.integers(60, 1_000))
def test_the_newest_turns_have_room_at_every_budget(messages: list[Message], budget: int):
    found = [message(seq, "ferry at eight, then the long way", lexical=1.0) for seq in range(1, 99)]
    window = interactions(messages)
    ranked = in_order(*found)
    chosen = Materials("Be brief.", "When?", window, len(window), ranked, Language.ENGLISH)
    assembly = assemble(chosen, budget, words)
    begins = assembly.recent_begins
    left_out = [each for each in window if begins is None or each.messages[-1].seq < begins]
    if not left_out:
        return
    newest_without_room = window[len(left_out) - 1 :]
    tokens = sum(message_tokens(each.messages, words) for each in newest_without_room)
    always = [
        part.utterance for part in assembly.parts if part.items[0].section in {"system", "query"}
    ]
    room = budget - always[0].tokens(words) - always[-1].tokens(words) - LIST_OVERHEAD
    assert tokens > min(RECENT_TOKENS, room // 2)


@quickly
@given(chosen=materials(), budget=st.integers(100, 1_400))
def test_recent_messages_keep_their_order_and_calls_have_results(chosen: Materials, budget: int):
    assembly = assemble(chosen, budget, words)
    recent = [
        (item.seqs[0], part.utterance)
        for part in assembly.parts
        for item in part.items
        if item.section is Section.RECENT
    ]
    by_seq: dict[int, Message] = {
        each.seq: each for interaction in chosen.window for each in interaction.messages
    }
    waiting: list[str] = []
    for _, utterance in recent:
        if utterance.role is Role.TOOL:
            assert utterance.tool_call_id in waiting
            waiting.remove(str(utterance.tool_call_id))
        else:
            assert waiting == []
            waiting = [str(call["id"]) for call in utterance.tool_calls]
    assert waiting == []
    plain = [seq for seq, utterance in recent if utterance.role is not Role.TOOL]
    assert plain == sorted(plain)
    for seq, utterance in recent:
        forms = (by_seq[seq], digest_of_message(by_seq[seq]))
        assert utterance.content in [each.content for each in forms]
        assert utterance.role is Role.TOOL or utterance.content == by_seq[seq].content


@quickly
@given(found=candidates(), limit=st.integers(1, 400))
def test_each_candidate_is_either_included_or_left_out(found: list[Candidate], limit: int):
    ranked = in_order(*found)
    chosen = Materials(None, None, [], 0, ranked, Language.ENGLISH)
    assembly = assemble(chosen, limit + 3, words)
    inside = [item.ranked.candidate for item in assembly.items if item.ranked]
    outside = [each.candidate for each, _ in assembly.left_out]
    keys = [(each.source, each.key) for each in [*inside, *outside]]
    assert sorted(keys) == sorted((each.candidate.source, each.candidate.key) for each in ranked)
    assert len(keys) == len(set(keys))
