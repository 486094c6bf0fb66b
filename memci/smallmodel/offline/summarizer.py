"""Outlines interactions (P6, P7) and keeps a session's summary (R8), in words of what was said.

What is kept of a session: lines of the summary before, sentences of what was said and one line for
each tool result, those that tell most in the room that there is (``digest``), in the order of time,
under the days on which they were said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memci.domain.context.budget import Count
from memci.domain.language import Language
from memci.domain.message import Message, Role
from memci.domain.pages.outline import Outline
from memci.domain.time.notes import with_absolute
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.smallmodel.offline.cues import is_social
from memci.smallmodel.offline.digest import (
    TOOL_MARK,
    Line,
    lines_of,
    most_telling,
    told_most,
    written,
)
from memci.smallmodel.offline.outline import OfflineOutlines
from memci.smallmodel.offline.sentences import sentences

# Characters of one line.
_LONGEST_LINE = 240
_LONGEST_ARGUMENTS = 80
_LONGEST_OUTCOME = 120


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
        lines = list({line.text: line for line in self._lines(messages, previous)}.values())
        kept = told_most(lines, target)
        if not kept and lines and target > 0:
            return self._compressor.compress(most_telling(lines).text, target).strip()
        return written(kept)

    def _lines(self, messages: Sequence[Message], previous: str) -> Iterator[Line]:
        yield from lines_of(previous)
        calls: dict[str, str] = {}
        for message in messages:
            day = message.said_at.date().isoformat()
            if message.role is Role.TOOL:
                yield Line(self._result(message, calls), day)
            elif message.role is not Role.SYSTEM:
                yield from self._said(message, day)
            calls |= {str(call.get("id")): _called(call) for call in message.tool_calls}

    def _said(self, message: Message, day: str) -> Iterator[Line]:
        # What an agent noted was said to nobody: it stands for itself.
        lead = "" if message.is_note else f"{message.name or message.role}: "
        for sentence in sentences(message.content or ""):
            text = " ".join(sentence.split())
            if text and not is_social(text):
                short = self._compressor.compress(text, _LONGEST_LINE - len(lead)).strip()
                relative = with_absolute(text, message.said_at) != text
                yield Line(f"{lead}{short}", day, relative)

    def _result(self, message: Message, calls: Mapping[str, str]) -> str:
        """One line for a tool's result: what was called, and what came of it."""
        called = calls.get(str(message.tool_call_id)) or message.name or "tool"
        outcome = " ".join((message.content or "").split())
        short = self._compressor.compress(outcome, _LONGEST_OUTCOME) if outcome else ""
        return f"{called}{TOOL_MARK}{' '.join(short.split()) or '–'}"


def _called(call: Mapping[str, Any]) -> str:
    function = call.get("function", {})
    arguments = " ".join(str(function.get("arguments", "")).split())
    return f"{function.get('name', 'tool')}({arguments[:_LONGEST_ARGUMENTS]})"
