"""Find expressions of time in a text, and insert their dates (R4, R10).

``find_times`` returns the days that they mean. ``add_date_notes`` turns "last Friday" into
"last Friday (2023-05-05)". Other functions recognise relative times ("yesterday", 下周六) in
shortened texts: without its note such a time is meaningless later.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime

from memci.language.detection import Language
from memci.language.times import false_mentions, text_around
from memci.language.times.calendar import Granularity, Reading, as_guess
from memci.language.times.rules import Rule, readings, rules_of
from memci.language.times.time_words import MONTHS

# Between midnight and four, "today" may be the day that has just ended. Exactly midnight means that
# the producer knows only the day.
_SMALL_HOURS = 4
_DAYS = ("today", "tonight", "tomorrow", "yesterday", "this ", "今", "明", "昨天", "昨日")


@dataclass(frozen=True, slots=True)
class TimeMention:
    """An expression of time at characters ``start`` to ``end`` of a text."""

    start: int
    end: int
    text: str
    language: Language
    reading: Reading

    @property
    def certain(self) -> bool:
        """True if the days may be stated as a fact."""
        return self.reading.certain


_Doubtful = Callable[[str, int, int, Reading], bool]
_RULES: tuple[tuple[Iterable[Rule], Language, _Doubtful], ...] = (
    (rules_of("dates", Language.ENGLISH), Language.ENGLISH, false_mentions.is_recurring),
    (rules_of("relative", Language.ENGLISH), Language.ENGLISH, false_mentions.is_doubtful_english),
    (rules_of("dates", Language.CHINESE), Language.CHINESE, false_mentions.is_recurring),
    (rules_of("relative", Language.CHINESE), Language.CHINESE, false_mentions.is_doubtful_chinese),
)


def find_times(text: str, said_at: datetime) -> list[TimeMention]:
    """Return the expressions of time in ``text``, in order, without overlaps.

    English and Chinese are read. The day is that of ``said_at`` in its own offset from UTC: pass
    the speaker's local time if it is known. Code, addresses and lines quoted with ``>`` are
    skipped; a time within quotation marks is never certain.
    """
    candidates = sorted(_candidates(text, said_at), key=lambda each: (each.start, -each.end))
    if not candidates:
        return []
    untouched, quoted = text_around.code_and_quoted_lines(text), text_around.quotations(text)
    found: list[TimeMention] = []
    for mention in candidates:
        place = mention.start, mention.end
        if (found and mention.start < found[-1].end) or untouched.touches(*place):
            continue
        sure = mention.certain and (mention.reading.whole or not quoted.touches(*place))
        found.append(replace(mention, reading=replace(mention.reading, certain=sure)))
    return _equally_certain(text, found)


def _equally_certain(text: str, found: list[TimeMention]) -> list[TimeMention]:
    """Make days without a year in one sentence all certain or all guesses."""
    equal = list(found)
    group: list[int] = []
    for at, mention in enumerate(found):
        if not mention.reading.yearless:
            continue
        if group and text_around.ends_sentence(text, found[group[-1]].end, mention.start):
            group = []
        group.append(at)
        if not all(equal[each].certain for each in group):
            for each in group:
                equal[each] = replace(found[each], reading=as_guess(found[each].reading))
    return equal


def _candidates(text: str, said_at: datetime) -> Iterator[TimeMention]:
    today, small_hours = said_at.date(), _in_small_hours(said_at)
    for group, language, doubtful in _RULES:
        for start, end, reading in readings(group, text, today):
            certain = reading.certain and (
                reading.whole
                or not (
                    doubtful(text, start, end, reading)
                    or (small_hours and text[start:end].lower().startswith(_DAYS))
                )
            )
            yield TimeMention(
                start, end, text[start:end], language, replace(reading, certain=certain)
            )


def _in_small_hours(said_at: datetime) -> bool:
    exactly_midnight = not (said_at.hour or said_at.minute or said_at.second)
    return said_at.hour < _SMALL_HOURS and not exactly_midnight


_DAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_PERIOD = f"week|weekend|month|year|spring|summer|autumn|fall|winter|{_DAY}"
_PART = "morning|afternoon|evening|night"
_CHINESE = (
    "大?[前后]天|[昨今明][天晚早日]|(?:上|下|这|本)+个?(?:周|星期|礼拜)(?:[一二三四五六日天末])?|"
    "(?:周|星期|礼拜)[一二三四五六日天末]|(?:上|下|这|本)+个?月|[去今明后前]年[春夏秋冬]?[天季]?|"
    "[一二两三四五六七八九十几\\d]+(?:天|周|个?星期|个?月|年)[前后]|月底|年底|周末"
)
_ENGLISH = (
    rf"\b(?:the day (?:before yesterday|after tomorrow)|yesterday|today|tonight|tomorrow|"
    rf"(?:last|next|this|coming) (?:{_PERIOD}|{_PART})|(?:a|an|one|two|three|four|five|six|\d+) "
    rf"(?:day|week|month|year)s? ago|in (?:a|one|two|three|\d+) (?:day|week|month|year)s?|"
    rf"(?:{_DAY})s?)"
    rf"(?: (?:{_PART}))?\b"
)
_RELATIVE = rf"(?:{_ENGLISH}|{_CHINESE})"
RELATIVE_TIME = re.compile(_RELATIVE, re.IGNORECASE)
_NOTE = re.compile(r"\s?[(（][^()（）\n]*\d{4}[^()（）\n]*[)）]")
_BEFORE_NOTE = re.compile(rf"{_RELATIVE}[上下晚早中]?[午上晨]?$", re.IGNORECASE)
_LOOK_BACK = 24
_ABSOLUTE = re.compile(
    r"(?:\d+|[〇零一二三四五六七八九十两半]+)(?:年|月|日|号|点半?|时|分)|"
    r"\d+(?:st|nd|rd|th|\s?[ap]m)?\b|\d+|[至到天周]|个月|小时|分钟|"
    r"\b(?:(?:jan|febr)(?:uary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|to|at|on|by|every|"
    r"days?|weeks?|months?|years?|hours?|minutes?|mins?|"
    r"(?:sept?|octo?|nov|dec)(?:em)?(?:ber)?)\b",
    re.IGNORECASE,
)

Span = tuple[int, int]


def spans_with_date_notes(text: str) -> list[Span]:
    """Return (start, end) of each relative time with its note: "yesterday (2026-03-07)"."""
    if "(" not in text and "（" not in text:
        return []
    found = []
    for note in _NOTE.finditer(text):
        before = text[max(0, note.start() - _LOOK_BACK) : note.start()]
        match = _BEFORE_NOTE.search(before)
        if match:
            found.append((note.start() - len(before) + match.start(), note.end()))
    return found


def has_only_times(text: str) -> bool:
    """Return True if a text contains only times, dates and numbers."""
    return not any(each.isalnum() for each in _ABSOLUTE.sub("", RELATIVE_TIME.sub("", text)))


_ISO_DAY, _NUMBER, _YEAR = r"\d{4}-\d\d-\d\d", r"\d{1,2}", r"\d{4}"
_NAME = f"(?:{'|'.join(month.capitalize() for month in MONTHS)})"
_ENGLISH_NOTE = (
    rf"(?:around )?(?:{_ISO_DAY}|(?:{_NAME} )?{_YEAR}"
    rf"|{_NUMBER}(?: {_NAME}(?: {_YEAR})?)?–{_NUMBER} {_NAME} {_YEAR})"
)
_CHINESE_NOTE = (
    rf"约?(?:{_ISO_DAY}|{_YEAR}年(?:{_NUMBER}月)?"
    rf"|{_YEAR}年{_NUMBER}月{_NUMBER}日–(?:(?:{_YEAR}年)?{_NUMBER}月)?{_NUMBER}日)"
)
_DATE_NOTE = re.compile(rf" \({_ENGLISH_NOTE}\)|（{_CHINESE_NOTE}）")
# "Last Friday (the 5th)": the text has the date itself.
_DATED = re.compile(r"\s?[(（][^()（）\n]{0,40}\d[^()（）\n]{0,40}[)）]")
_POSSESSIVE = re.compile(r"['’]s\b")


@dataclass(frozen=True, slots=True)
class DateNote:
    """Text to insert before character ``at``."""

    at: int
    text: str


def add_date_notes(text: str, said_at: datetime) -> str:
    """Return ``text`` with the date after each expression of time whose meaning is certain.

    The text itself is unchanged, and a second call adds nothing.
    ``said_at``: as for ``find_times``.
    """
    formatted, done = "", 0
    for note in date_notes(text, said_at):
        formatted += text[done : note.at] + note.text
        done = note.at
    return formatted + text[done:]


def remove_date_notes(text: str) -> str:
    """Return ``text`` without the dates that ``add_date_notes`` inserts."""
    return _DATE_NOTE.sub("", text)


def date_notes(text: str, said_at: datetime) -> list[DateNote]:
    """Return the notes that ``add_date_notes`` inserts, in order.

    A repeated expression gets its date once; one beside a date gets none. Notes that are there
    already do not affect the search for times.
    """
    written = text_around.CharacterMask(text, _DATE_NOTE)
    places = [at for at in range(len(text)) if not written.touches(at, at + 1)]
    bare = "".join(text[at] for at in places)
    notes: list[DateNote] = []
    seen: set[str] = set()
    for mention in find_times(bare, said_at):
        words = mention.text.lower()
        if not mention.certain or mention.reading.whole or words in seen:
            continue
        seen.add(words)
        possessive = _POSSESSIVE.match(bare, mention.end)
        end = possessive.end() if possessive else mention.end
        at = places[end - 1] + 1
        if not written.touches(at, at + 1) and not _DATED.match(bare, end):
            notes.append(DateNote(at, _note(mention)))
    return notes


def _note(mention: TimeMention) -> str:
    reading = mention.reading
    if mention.language is Language.CHINESE:
        formatted = _format_reading(
            reading, "{0.year:04}年", "{0.year:04}年{0.month}月", _chinese_days
        )
        return f"（{'约' if reading.approximate else ''}{formatted}）"
    month = f"{_month(reading.first)} {{0.year:04}}"
    formatted = _format_reading(reading, "{0.year:04}", month, _english_days)
    return f" ({'around ' if reading.approximate else ''}{formatted})"


def _format_reading(
    reading: Reading, year: str, month: str, days: Callable[[date, date], str]
) -> str:
    match reading.granularity:
        case Granularity.YEAR:
            return year.format(reading.first)
        case Granularity.MONTH:
            return month.format(reading.first)
        case Granularity.DAY:
            return reading.middle.isoformat()
        case Granularity.WEEK if reading.approximate:  # "three weeks ago" is around a day
            return reading.middle.isoformat()
        case _:
            return days(reading.first, reading.last)


def _english_days(first: date, last: date) -> str:
    begin: list[str] = [str(first.day)]
    if (first.year, first.month) != (last.year, last.month):
        begin.append(_month(first))
    if first.year != last.year:
        begin.append(f"{first.year:04}")
    return f"{' '.join(begin)}–{last.day} {_month(last)} {last.year:04}"


def _chinese_days(first: date, last: date) -> str:
    year = f"{last.year:04}年" if first.year != last.year else ""
    month = f"{last.month}月" if year or first.month != last.month else ""
    return f"{first.year:04}年{first.month}月{first.day}日–{year}{month}{last.day}日"


def _month(day: date) -> str:
    return MONTHS[day.month - 1].capitalize()
