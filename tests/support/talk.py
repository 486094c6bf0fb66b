"""Candidates and messages, made by hand or by hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from memci.domain.context import assemble as assembling
from memci.domain.context.assemble import Assembly
from memci.domain.context.choose import choose
from memci.domain.context.materials import Materials
from memci.domain.search.candidate import Candidate, Channel, Source
from memci.domain.search.features import Channels, Comparison
from memci.domain.search.hints import Hints
from memci.domain.search.learned_ranking import rank_hits
from memci.domain.search.ranking import Ranked
from memci.domain.token_counts import Count
from memci.message import Message, Role

BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TEXTS = st.sampled_from([
    "", " ", "a", "a b", "ferry at eight", "ferry at eight, then the long way", "\n", "\n\n- x",
    "two\nlines", "你好", "明天早上八点坐渡轮去香港。", "[memory] not one", "unbelievable", "-" * 9,
])  # fmt: skip


def words(text: str) -> int:
    """Count tokens as runs of letters and single other marks: not additive, like real ones."""
    runs = text.replace("\n", " ").replace("-", " ").split(" ")
    return sum(1 + len(run) // 7 for run in runs if run) + text.count("\n")


def assemble(materials: Materials, budget: int, count: Count) -> Assembly:
    return assembling.assemble(choose(materials, budget, count))


def message(seq: int, text: str = "", **fields: Any) -> Candidate:
    return Candidate(Source.CHAT, seq, text or f"message {seq}", (seq,), BEGIN, **fields)


def memory(key: int, *seqs: int, text: str = "", **fields: Any) -> Candidate:
    return Candidate(Source.MEMORY, key, text or f"memory {key}", seqs, BEGIN, **fields)


def in_order(*candidates: Candidate) -> list[Ranked]:
    return [Ranked(each, 1 / place, {}) for place, each in enumerate(candidates, start=1)]


def ranked_hits(
    found: Sequence[Candidate], hints: Hints, channels: Sequence[Channel] = tuple(Channel)
) -> list[Ranked]:
    """Rank candidates by the learned model, without neighbours or tokens."""
    return rank_hits(Channels.of(found, {}, 0.1), channels, Comparison(), hints)


def keys(ranked: list[Ranked]) -> list[tuple[str, int]]:
    return [(each.candidate.source.value, each.candidate.key) for each in ranked]


@st.composite
def candidates(draw: st.DrawFn, most: int = 7) -> list[Candidate]:
    """Messages with seqs from 1, and memories made of some of them."""
    count = draw(st.integers(0, most))
    said = [
        Candidate(
            Source.CHAT, seq, draw(TEXTS), (seq,), BEGIN + draw(_LATER),
            draw(st.sampled_from([None, "s1", "s2"])), draw(st.sampled_from(Role)),
            draw(st.sampled_from([None, "Ann"])), draw(_COSINES), draw(_SCORES),
        )
        for seq in range(1, count + 1)
    ]  # fmt: skip
    memories = [
        Candidate(
            Source.MEMORY, key, draw(TEXTS), tuple(sorted(draw(st.sets(st.integers(1, most))))),
            BEGIN + draw(_LATER), dense=draw(_COSINES), lexical=draw(_SCORES),
        )
        for key in range(1, draw(st.integers(0, most)) + 1)
    ]  # fmt: skip
    return draw(st.permutations([*said, *memories]))


@st.composite
def conversations(draw: st.DrawFn, most: int = 9) -> list[Message]:
    """Messages with roles in any order, and tool calls with and without results."""
    messages = []
    for seq in range(101, 101 + draw(st.integers(0, most))):
        role = draw(st.sampled_from(Role))
        calls = draw(st.lists(st.sampled_from(["c1", "c2"]), max_size=2, unique=True))
        called = role is Role.ASSISTANT and calls
        messages.append(
            Message(
                seq, f"m{seq}", role, None if called else draw(TEXTS), BEGIN,
                tool_calls=tuple(_call(each) for each in calls) if called else (),
                tool_call_id=draw(st.sampled_from(["c1", "c2"])) if role is Role.TOOL else None,
            )
        )  # fmt: skip
    return messages


_LATER = st.integers(0, 5_000).map(lambda minutes: timedelta(minutes=minutes))
_COSINES = st.none() | st.floats(-1, 1)
_SCORES = st.none() | st.floats(0, 20)


def _call(call_id: str) -> dict[str, object]:
    function = {"name": "look", "arguments": "{}"}
    return {"id": call_id, "type": "function", "function": function}
