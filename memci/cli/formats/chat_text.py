"""Plain chat text.

::

    === 2026-03-02 ===
    [09:15] Alice: Shall we meet on Tuesday?
      A line that is indented, or has no speaker, goes on with the message.
    [2026-03-02 09:16] Assistant: Tuesday it is.
    [2026年3月2日 09:17] 用户：周二见！

After a line with a time, a line without one begins a message only if it names an earlier speaker,
the user or the assistant; any other continues the message. A speaker is a name of at most four
words before a colon at the start of a line. Times stand in brackets or bare before the name; a time
of day belongs to the last line that is a date alone.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memci.cli.formats.parsed_file import BadFileError, Parsed, checked

_DATE = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{4}年\d{1,2}月\d{1,2}日"
_TIME = r"\d{1,2}[:：]\d{2}(?:[:：]\d{2}(?:\.\d{1,6})?)?"
_ZONE = r"\s?(?:Z|UTC|[+-]\d{2}:?\d{2})"
_STAMP = rf"(?:(?P<date>{_DATE})(?:[T\s]\s?(?P<time>{_TIME}(?:{_ZONE})?))?|(?P<alone>{_TIME}))"
_NAME = (
    r"(?P<name>[^\s\d:：\[\]()<>{}\"'`,，.。;；!！?？/\\|=*#-]"
    r"[^:：\[\](){}<>\"`，。；！？/\\|=\n]{0,39}?)"
)
_LINE = re.compile(
    rf"(?:\[\s?{_STAMP.replace('?P<', '?P<b_')}\s?\]\s?|{_STAMP}\s(?:-\s)?)?"
    rf"{_NAME}\s?[:：](?:\s+|(?<=：)|(?=[\u3400-\u9fff])|$)(?P<text>.*)",
    re.DOTALL,
)
_DATE_LINE = re.compile(rf"[\s#=*—-]*(?P<date>{_DATE})[\s#=*—-]*")
_MOST_WORDS = 4
_STAMPS = ("date", "alone", "b_date", "b_alone")

_NAMES_OF_ROLES = {
    "user": ("user", "human", "me", "用户", "我"),
    "assistant": ("assistant", "ai", "bot", "chatgpt", "claude", "助手", "助理", "机器人"),
    "system": ("system", "系统"),
}
_ROLES = {name: role for role, names in _NAMES_OF_ROLES.items() for name in names}


@dataclass(slots=True)
class _Utterance:
    line: int
    name: str
    timestamp: str | None
    lines: list[str] = field(default_factory=list)


class _LineMatcher:
    """Recognizes lines that begin messages; see the rule about times above."""

    def __init__(self) -> None:
        self._timed = False
        # Names that began a message before, and role names but "system", which may be pasted.
        self._speakers = {name for name, role in _ROLES.items() if role != "system"}

    def match(self, line: str) -> re.Match[str] | None:
        """Return the match of the next line if it begins a message, else None."""
        found = match_line(line)
        if found is None:
            return None
        speaker = found["name"].strip().lower()
        if any(found[each] for each in _STAMPS):
            self._timed = True
        elif self._timed and speaker not in self._speakers:
            return None
        self._speakers.add(speaker)
        return found


def parse(text: str) -> Parsed:
    """Return the messages of a chat; the first line must name its speaker."""
    parsed = Parsed("chat text")
    current: _Utterance | None = None
    day: str | None = None
    matcher = _LineMatcher()
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _DATE_LINE.fullmatch(line):
            day = found["date"]
        elif match := matcher.match(line):
            _add(parsed, current)
            current = _Utterance(number, match["name"].strip(), _timestamp(match, day, number))
            current.lines.append(match["text"])
        elif current is not None:
            current.lines.append(line.strip())
        elif line.strip():
            raise BadFileError(
                f"line {number}: this line has no speaker; expected 'Alice: …' or '用户：…'"
            )
    _add(parsed, current)
    return parsed


def match_line(line: str) -> re.Match[str] | None:
    """Return the match of a line that names a speaker."""
    found = _LINE.fullmatch(line)
    return found if found and len(found["name"].split()) <= _MOST_WORDS else None


def _add(parsed: Parsed, utterance: _Utterance | None) -> None:
    if utterance is None:
        return
    content = "\n".join(utterance.lines).strip()
    if not content:
        parsed.ignored["empty message"] += 1
        return
    role = _ROLES.get(utterance.name.lower())
    message: dict[str, Any] = {"role": role or "user", "content": content}
    if role is None:
        message["name"] = utterance.name
    if utterance.timestamp:
        message["timestamp"] = utterance.timestamp
    place = f"line {utterance.line}"
    parsed.add(checked(message, place), place)


def _timestamp(match: re.Match[str], day: str | None, line: int) -> str | None:
    """Return the time as ISO 8601; None for a time of day without a date."""
    date = match["date"] or match["b_date"]
    time = match["time"] or match["b_time"]
    alone = match["alone"] or match["b_alone"]
    if alone is not None:
        date, time = day, alone
    if date is None:
        return None
    year, month, on = (int(part) for part in re.findall(r"\d+", date))
    clock = _clock(time) if time else "00:00"
    written = f"{year:04}-{month:02}-{on:02}T{clock}"
    try:
        return datetime.fromisoformat(written).isoformat()
    except ValueError:
        raise BadFileError(f"line {line}: there is no such time as {date} {time or ''}") from None


def _clock(time: str) -> str:
    """Return a time of day, with its zone, in ISO 8601."""
    clean = time.replace("：", ":").replace("UTC", "Z").replace(" ", "")
    return clean if clean[1:2] != ":" else f"0{clean}"
