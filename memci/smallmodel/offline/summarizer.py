"""Outline interactions (P6, P7) and keep a session's summary (R8), by extraction.

A summary has the most valuable lines that fit (``summary_lines``): lines of the previous summary,
sentences of messages and one line for each tool result, in the order of time, under their days.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from memci.domain.context.rendering import named
from memci.domain.pages.interaction_outline import (
    MOST_DESCRIPTION,
    MOST_ENTRY,
    MOST_NAME,
    Outline,
    entry_prefix,
    fit_line,
)
from memci.domain.token_counts import Count
from memci.language import summary_lines
from memci.language.clause_values import candidates
from memci.language.cue_phrases import is_courtesy, names_a_topic
from memci.language.detection import Language, language_of
from memci.language.sentences import sentences
from memci.language.small_talk import asks_something
from memci.language.times.mentions import add_date_notes
from memci.message import JsonObject, Message, Role
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.smallmodel.ports import Compressor

# Characters read of the beginning of a message, and of its end.
_READ, _READ_LAST = 5_000, 1_500
_ARROW = " → "
_NOTHING = "–"
_NOTHING_SAID = {Language.ENGLISH: "(nothing was said)", Language.CHINESE: "（没有说什么）"}
_MORE = "…"
# The factor of each attempt to fit the tokens; and the least length.
_SHRINK, _FEWEST = 0.8, 12
# A question is the request; without this factor it would count less than statements.
_ASKED = 3.0
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*```.*$", re.MULTILINE)
_MARKS = re.compile(
    r"^[ \t]*(?:#{1,6}|[-*+>]|\d{1,2}[.)])[ \t]+|^[ \t]*[-=*|: ]{3,}$|\*\*|__", re.MULTILINE
)
_FULL_STOPS = ".。 "
# The end of a line without a mark.
_LINE_END = re.compile(r"(?<![\s.!?:;,…。！？：；，、])\s*\n\s*(?=\S)")
_WENT_WRONG = re.compile(
    r"\b(?:error|fatal|fail(?:s|ed|ure)?|exception|denied|refused|not found)\b"
    "|错误|失败|异常|拒绝|找不到",
    re.IGNORECASE,
)


class OfflineOutlines:
    """Extractive, for English and Chinese; other languages by English's rules."""

    def __init__(self, compressor: OfflineCompressor) -> None:
        """Take the compressor."""
        self._compressor = compressor

    def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
        """Return the outline of messages."""
        entries = tuple(self._entries(messages, language, count))
        request, outcome = _user_text(messages), _outcome(messages)
        name = self._name((request, outcome), count)
        description = self._description((request, outcome), count)
        nothing = _NOTHING_SAID[language]
        return Outline(name or nothing, description or nothing, entries)

    def _name(self, texts: Sequence[str], count: Count) -> str:
        for text in texts:
            gains = _sentence_gains(text)
            if gains:
                best = max(gains, key=gains.__getitem__).rstrip(_FULL_STOPS)
                return self._fitting(best, MOST_NAME, count).rstrip(_FULL_STOPS)
        return self._fitting(next(filter(None, texts), ""), MOST_NAME, count)

    def _description(self, texts: Sequence[str], count: Count) -> str:
        telling = [text for text in texts if _sentence_gains(text) or asks_something(text)]
        telling = telling or [*filter(None, texts)]
        room = (MOST_DESCRIPTION - 2) // max(1, len(telling))
        joined = _ARROW.join(self._fitting(text, room, count) for text in telling)
        # Joined texts may have more tokens than the separate ones.
        return fit_line(joined, MOST_DESCRIPTION, count)

    def _entries(
        self, messages: Sequence[Message], language: Language, count: Count
    ) -> Sequence[str]:
        calls: dict[str, str] = {}
        entries = []
        for message in messages:
            begin = entry_prefix(message, language)
            if message.role is Role.TOOL:
                name = calls.get(str(message.tool_call_id)) or message.name
                begin += fit_line(name, MOST_ENTRY // 2, count) + _ARROW if name else ""
            room = MOST_ENTRY - count(begin)
            line = begin + self._line(message, room, count)
            entries.append(fit_line(line, MOST_ENTRY, count))
            calls |= {str(call.get("id")): _function_name(call) for call in message.tool_calls}
        return entries

    def _line(self, message: Message, room: int, count: Count) -> str:
        if message.role is Role.TOOL:
            return fit_line(_tool_result(message.content or ""), room, count) or _NOTHING
        text = _prose(message.content)
        if not message.tool_calls:
            return self._fitting(text, room, count) or _NOTHING
        called = fit_line("; ".join(map(_format_call, message.tool_calls)), room, count)
        left = room - count(called) - 1
        prose = self._fitting(text, left, count) if text and left >= _FEWEST else ""
        return f"{prose} {called}".strip()

    def _fitting(self, text: str, most: int, count: Count) -> str:
        text = _LINE_END.sub("; " if language_of(text) is Language.ENGLISH else "；", text)
        line = " ".join(text.split())
        tokens = count(line)
        length = int(len(line) * most / max(1, tokens))
        while tokens > most and length >= _FEWEST:
            line = " ".join(self._compressor.compress(text, length).split())
            tokens, length = count(line), int(length * _SHRINK)
        return fit_line(line, most, count)


def _user_text(messages: Sequence[Message]) -> str:
    prose = [_prose_with_code_line(each.content) for each in messages if each.role is Role.USER]
    return "\n".join(filter(None, prose))


def _prose_with_code_line(content: str | None) -> str:
    """Return a message's prose; if it only introduces code ("fix this:"), with its first line."""
    text = _prose(content)
    code = _CODE.search(content or "") if text.endswith((":", "：")) else None
    lines = _FENCE.sub("", code[0]).split("\n") if code else []
    first = next((each.strip() for each in lines if each.strip()), "")
    return f"{text} {first}" if first else text


def _outcome(messages: Sequence[Message]) -> str:
    """Return the outcome: the last answer, else the last result of a tool."""
    for role in (Role.ASSISTANT, Role.TOOL):
        for message in reversed(messages):
            text = _prose(message.content) if message.role is role else ""
            if text:
                return text
    return ""


def _sentence_gains(text: str) -> dict[str, float]:
    """Return the sentences with content, and their gains."""
    language = language_of(text)
    gains: dict[str, float] = {}
    for sentence in sentences(text):
        parts = candidates(sentence, language)
        gain = sum(
            each.gain(Counter()) * (_ASKED if each.clause.end in {"?", "？"} else 1.0)
            for each in parts
            if not (each.social or each.bare) or names_a_topic(each.clause.text)
        )
        if gain:
            gains[sentence] = gain
    return gains


def _tool_result(content: str) -> str:
    """Return a tool's result, from its first error on if it has one."""
    wrong = next((line for line in content.splitlines() if _WENT_WRONG.search(line)), "")
    return f"{wrong.strip()} {_MORE}" if wrong and not content.startswith(wrong) else content


def _prose(content: str | None) -> str:
    """Return a message's text without code and Markdown marks, unless that leaves nothing."""
    text = content or ""
    if len(text) > _READ + _READ_LAST:
        text = f"{text[:_READ]}\n{text[-_READ_LAST:]}"
    return _MARKS.sub("", _CODE.sub("\n", text)).strip() or _FENCE.sub("", text).strip()


def _function_name(call: JsonObject) -> str:
    return " ".join(str(call.get("function", {}).get("name") or "tool").split())


def _format_call(call: JsonObject, most: int = 100) -> str:
    arguments = " ".join(str(call.get("function", {}).get("arguments", "")).split())
    return f"{_function_name(call)}({arguments[:most]})"


_ENDS = re.compile(r'\n+|(?<=[.;!?])\s+|(?<=[。！？；])|(?<=,)\s*(?=["\[{])')
_BRACKETS = " \t,{}[]"
_GAP = " … "
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]{3,}|[\u3400-\u9fff]{2}")
_OFTEN = 3  # so many pieces of one form are a list

_FAULT = re.compile(
    r"\b(?:error|exception|fail|denied|refused|not found|timed? ?out|invalid|missing)|"
    "错误|失败|异常|超时|拒绝|找不到|无效",
    re.IGNORECASE,
)
_SUM = re.compile(
    r"\b(?:total|sum|price|cost|count|result|balance|average|status|amount|free|seats?)\b|"
    "合计|总|价|费|余额|结果|状态|数量|平均|共",
    re.IGNORECASE,
)
_WORTH_OF_FAULT = 4.0
_WORTH_OF_SUM = 2.0
_WORTH_OF_FIGURE = 2.0
_WORTH_OF_ASKED = 0.5  # each word of the call
_WORTH_OF_BEGIN = 1.0
_WORTH_OF_LIST = -4.0


def summarize_tool_result(result: str, called: str, most: int, compressor: Compressor) -> str:
    """Return the result of a call (``called``: name and arguments), in ``most`` characters."""
    whole = " ".join(result.split())
    if len(whole) <= most:
        return whole
    pieces = [text for each in _ENDS.split(result) if (text := " ".join(each.split()))]
    pieces = [each.strip(_BRACKETS) or each for each in pieces]
    forms = Counter(_DIGITS.sub("0", each) for each in pieces)
    asked = set(_words(called))

    def worth(place: int) -> float:
        piece = pieces[place]
        found = _WORTH_OF_BEGIN if place == 0 else 0.0
        found += _WORTH_OF_FAULT if _FAULT.search(piece) else 0.0
        found += _WORTH_OF_SUM if _SUM.search(piece) else 0.0
        found += _WORTH_OF_FIGURE if _DIGITS.search(piece) else 0.0
        found += _WORTH_OF_LIST if forms[_DIGITS.sub("0", piece)] >= _OFTEN else 0.0
        return found + _WORTH_OF_ASKED * len(asked.intersection(_words(piece)))

    best = sorted(range(len(pieces)), key=lambda place: (-worth(place), place))
    taken: list[int] = []
    room = most
    for place in best:
        cost = len(pieces[place]) + (len(_GAP) if taken else 0)
        if cost <= room:
            taken.append(place)
            room -= cost
        elif not taken:
            return compressor.compress(pieces[place], most).strip()
    return _joined(pieces, sorted(taken))


def _joined(pieces: list[str], taken: list[int]) -> str:
    joined = ""
    for before, place in zip([-1, *taken], taken, strict=False):
        beside = before == place - 1 and joined.endswith((".", "!", "?", ";"))
        joined += (" " if beside else _GAP) * bool(joined) + pieces[place]
    return joined


def _words(text: str) -> list[str]:
    return [each.lower() for each in _WORD.findall(text)]


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
            calls |= {
                str(call.get("id")): _format_call(call, _LONGEST_ARGUMENTS)
                for call in message.tool_calls
            }

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
