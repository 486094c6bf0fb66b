"""Outline interactions (P6, P7) and keep a session's summary (R8), by extraction.

A summary has the most valuable lines that fit (``summary_lines``): lines of the previous summary,
sentences of messages and one line for each tool result, in the order of time, under their days.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memci.domain.context.rendering import named
from memci.domain.context.token_counts import Count
from memci.domain.pages.interaction_outline import Outline
from memci.language import summary_lines
from memci.language.cue_phrases import is_courtesy
from memci.language.detection import Language, language_of
from memci.language.sentences import sentences
from memci.language.times.mentions import add_date_notes
from memci.message import Message, Role
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.smallmodel.offline.outlines import OfflineOutlines, summarize_tool_result

# Characters of one line.
_LONGEST_LINE = 240
_LONGEST_ARGUMENTS = 80
_LONGEST_OUTCOME = 120
# With the marks and the gap behind it; a figure's comma has no gap.
_CLAUSES = re.compile(r"(?:[^;,；，]|[;,](?!\s))+(?:[;,]+\s+|[；，]+\s*|$)|.", re.DOTALL)
_ON = " …"
_BETWEEN = ";,；， \n"


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
        kept = summary_lines.select_lines(lines, target)
        if not kept and lines and target > 0:
            return self._compressor.compress(summary_lines.best_line(lines).text, target).strip()
        return summary_lines.format_to_fit(kept, target)

    def _lines(self, messages: Sequence[Message], previous: str) -> Iterator[summary_lines.Line]:
        yield from summary_lines.parse_lines(previous)
        calls: dict[str, str] = {}
        language = language_of("\n".join([previous, *(each.content or "" for each in messages)]))
        for message in messages:
            day = message.said_at.date().isoformat()
            if message.role is Role.TOOL:
                yield summary_lines.Line(self._result_line(message, calls), day)
            elif message.role is not Role.SYSTEM:
                yield from self._sentence_lines(message, day, language)
            calls |= {str(call.get("id")): _format_call(call) for call in message.tool_calls}

    def _sentence_lines(
        self, message: Message, day: str, language: Language
    ) -> Iterator[summary_lines.Line]:
        # A note has no speaker.
        lead = "" if message.is_note else named(message.role, message.name, language)
        most = _LONGEST_LINE - len(lead)
        for sentence in sentences(message.content or ""):
            for part in _split_long_sentence(sentence, most - len(_ON)):
                text = " ".join(part.split())
                if text and not is_courtesy(text):
                    short = self._compressor.compress(text, most).strip()
                    relative = add_date_notes(text, message.said_at) != text
                    yield summary_lines.Line(f"{lead}{short}", day, relative)

    def _result_line(self, message: Message, calls: Mapping[str, str]) -> str:
        called = calls.get(str(message.tool_call_id)) or message.name or "tool"
        result = message.content or ""
        short = summarize_tool_result(result, called, _LONGEST_OUTCOME, self._compressor)
        return f"{called}{summary_lines.TOOL_MARK}{' '.join(short.split()) or '–'}"


def _split_long_sentence(sentence: str, most: int) -> list[str]:
    """Return a sentence; a long one as lines of whole clauses.

    A line never joins clauses that are apart, which would change the meaning.
    """
    parts = [""]
    for clause in _CLAUSES.findall(sentence) if len(sentence) > most else [sentence]:
        if parts[-1] and len(parts[-1]) + len(clause) > most:
            parts.append("")
        parts[-1] += clause
    return [*(f"{each.rstrip(_BETWEEN)}{_ON}" for each in parts[:-1]), parts[-1]]


def _format_call(call: Mapping[str, Any]) -> str:
    function = call.get("function", {})
    arguments = " ".join(str(function.get("arguments", "")).split())
    return f"{function.get('name', 'tool')}({arguments[:_LONGEST_ARGUMENTS]})"
