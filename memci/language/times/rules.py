"""Rules that find expressions of time, from ``data/times.*.toml``."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial

from memci.language.detection import Language
from memci.language.loading import TaskData
from memci.language.times import dates, relative
from memci.language.times.calendar import Reading
from memci.language.times.time_words import Parts

DATA = TaskData("times")
# ASCII classes: Han characters may touch English words, and "ſ" is no "s".
FLAGS = re.IGNORECASE | re.ASCII
_READERS = vars(relative) | vars(dates)


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and a function that returns the meaning of a match on a day, or None.

    ``needs`` (lower case): a text without any of these is not searched; most texts are not.
    A pattern's group ``mention``, if any, is the expression.
    """

    pattern: re.Pattern[str]
    read: Callable[[Parts, date], Reading | None]
    needs: tuple[str, ...]


def rules_of(name: str, language: Language) -> tuple[Rule, ...]:
    """Return the rules of a list in the data: ``dates``, ``relative`` or ``questions``."""
    return tuple(
        Rule(
            DATA.compile(row["pattern"], language, FLAGS),
            partial(_READERS[row["read"]], **row.get("with", {})),
            tuple(DATA.expand(row["needs"], language).split()),
        )
        for row in DATA.rows(name, language)
    )


def readings(rules: Iterable[Rule], text: str, today: date) -> Iterator[tuple[int, int, Reading]]:
    """Yield (start, end, reading) of each match of each rule in a text said on a day."""
    lower = text.lower()
    for rule in rules:
        if not any(need in lower for need in rule.needs):
            continue
        for match in rule.pattern.finditer(text):
            try:
                reading = rule.read(Parts(match), today)
            except (OverflowError, ValueError):
                continue  # 30 February, or beyond the calendar
            if reading is not None:
                is_part = "mention" in match.re.groupindex
                yield *(match.span("mention") if is_part else match.span()), reading
