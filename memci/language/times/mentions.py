"""Find expressions of time in a text, and insert their dates (R4, R10).

``find_times`` returns the days that they mean. ``add_date_notes`` turns "last Friday" into
"last Friday (2023-05-05)".
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
