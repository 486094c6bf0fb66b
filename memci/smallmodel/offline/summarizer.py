"""Outlines interactions (P6, P7) and keeps a session's summary (R8), in words of what was said.

What is kept of a session: lines of the summary before, sentences that decide, want or plan
something, one line for each tool result, and what else tells most. When room is short, decisions
stay longest, and older lines go before newer ones of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from memci.domain.context.budget import Count
from memci.domain.language import Language
from memci.domain.message import Message, Role
from memci.domain.pages.outline import Outline
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.smallmodel.offline.cues import Cue, cues_of, is_social
from memci.smallmodel.offline.outline import OfflineOutlines
from memci.smallmodel.offline.sentences import sentences

# Characters of one line.
_LONGEST_LINE = 240
_LONGEST_ARGUMENTS = 80
_LONGEST_OUTCOME = 120


class _Kind(IntEnum):
    """What is kept first."""

    DECISION = 0
    WANTED = 1  # preferences, constraints, corrections, plans
    TOOL = 2
    TOLD = 3  # facts, lessons
    OTHER = 4


_KINDS: Mapping[Cue, _Kind] = {
    Cue.DECISION: _Kind.DECISION,
    Cue.CONSTRAINT: _Kind.WANTED,
    Cue.PREFERENCE: _Kind.WANTED,
    Cue.CORRECTION: _Kind.WANTED,
    Cue.PLAN: _Kind.WANTED,
    Cue.FACT: _Kind.TOLD,
    Cue.LESSON: _Kind.TOLD,
}


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    kind: _Kind


class OfflineSummarizer:
    """Extractive, for English and Chinese; other languages by English's rules."""

    def __init__(self) -> None:
        self._compressor = OfflineCompressor()
        self._outlines = OfflineOutlines(self._compressor)

    def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
        """Return what an interaction is called and was about, and a line for each message."""
        return self._outlines.outline(messages, language, count)

    def summarize(self, messages: Sequence[Message], previous: str, target: int) -> str:
        """Return a summary of at most ``target`` characters that takes the previous one's place."""
        before = [_Line(text, _kind_of(text)) for text in previous.splitlines() if text.strip()]
        lines = list({line.text: line for line in [*before, *self._lines(messages)]}.values())
        kept = _choose(lines, target)
        if not kept and lines and target > 0:
            best = min(lines, key=lambda line: line.kind)
            return self._compressor.compress(best.text, target).strip()
        return "\n".join(lines[at].text for at in sorted(kept))

    def _lines(self, messages: Sequence[Message]) -> Iterator[_Line]:
        calls: dict[str, str] = {}
        for message in messages:
            if message.role is Role.TOOL:
                yield _Line(self._result(message, calls), _Kind.TOOL)
            elif message.role is not Role.SYSTEM:
                yield from self._said(message)
            calls |= {str(call.get("id")): _called(call) for call in message.tool_calls}

    def _said(self, message: Message) -> Iterator[_Line]:
        # What an agent noted was said to nobody: it stands for itself.
        lead = "" if message.is_note else f"{message.name or message.role}: "
        for sentence in sentences(message.content or ""):
            text = " ".join(sentence.split())
            if text and not is_social(text):
                short = self._compressor.compress(text, _LONGEST_LINE - len(lead)).strip()
                yield _Line(f"{lead}{short}", _kind_of(text))

    def _result(self, message: Message, calls: Mapping[str, str]) -> str:
        """One line for a tool's result: what was called, and what came of it."""
        called = calls.get(str(message.tool_call_id)) or message.name or "tool"
        outcome = " ".join((message.content or "").split())
        short = self._compressor.compress(outcome, _LONGEST_OUTCOME) if outcome else ""
        return f"{called} → {' '.join(short.split()) or '–'}"


def _called(call: Mapping[str, Any]) -> str:
    function = call.get("function", {})
    arguments = " ".join(str(function.get("arguments", "")).split())
    return f"{function.get('name', 'tool')}({arguments[:_LONGEST_ARGUMENTS]})"


def _kind_of(text: str) -> _Kind:
    return min((_KINDS[cue] for cue in cues_of(text)), default=_Kind.OTHER)


def _choose(lines: Sequence[_Line], target: int) -> set[int]:
    """Take lines by kind, the newest of a kind first, as long as they fit."""
    kept: set[int] = set()
    room = target + 1  # the last line needs no line break
    for at in sorted(range(len(lines)), key=lambda at: (lines[at].kind, -at)):
        cost = len(lines[at].text) + 1
        if cost <= room:
            kept.add(at)
            room -= cost
    return kept
