"""Readers of dates, and of months, seasons, quarters and their parts (R4, R10).

``data/times.*.toml`` assigns the readers to rules; both languages share them. ``today`` is the day
of the text.
"""

from dataclasses import replace
from datetime import date, timedelta

from memci.language.loading import TaskData
from memci.language.times import calendar
from memci.language.times.calendar import DAYS_A_WEEK, SATURDAY, WEEKDAYS, Reading, as_guess
from memci.language.times.false_mentions import contradicts_tense
from memci.language.times.time_words import Parts

_MONTHS_A_QUARTER = 3
_CENTURY, _PIVOT = 1900, 3
_SEASONS = {"fall": "autumn", "春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
# First and last day of a part of a month, day of a part of a week, month of a part of a year.
_DAYS_OF_MONTH = {"early": (1, 10), "mid": (11, 20), "late": (21, 31)}
_DAYS_OF_MONTH |= {"first": (1, 15), "second": (16, 31)}
_DAYS_OF_MONTH |= {"初": (1, 10), "上旬": (1, 10), "中旬": (11, 20), "中": (11, 20)}
_DAYS_OF_MONTH |= {"下旬": (21, 31), "底": (21, 31), "末": (21, 31)}
_DAYS_OF_WEEK = {"early": (0, 1), "mid": (2, 3), "late": (4, 6), "first": (0, 2), "second": (3, 6)}
_MONTHS_OF_YEAR = {"early": (1, 4), "mid": (5, 8), "late": (9, 12)}
_MONTHS_OF_YEAR |= {"first": (1, 6), "second": (7, 12), "上半年": (1, 6), "下半年": (7, 12)}
_MONTHS_OF_YEAR |= {"初": (1, 3), "中": (5, 8), "底": (10, 12), "末": (10, 12), "终": (10, 12)}
_PART_NAMES = {"beginning": "early", "start": "early", "middle": "mid", "end": "late"}
_PART_NAMES |= {"latter": "second", "last": "second"}
# A date without its year is certain only this near: "on July 20", said on 9 July; and within a
# quarter where its sentence does not contradict it, which is three times as far.
_NEAR_DAYS, _QUARTER_DAYS = 31, 92
# Within so many months around, a day of the month falls on each weekday.
_MONTHS_AROUND = 14
_AHEAD = 3  # questions are seldom about the far future
_DATA = TaskData("times")
# Of these the first and the second are no days.
_RANKED = _DATA.pattern("ranked")
# Where a month is named, the day is of that month.
_A_MONTH = _DATA.pattern("names_month")


# ---- Dates


def whole_date(parts: Parts, today: date) -> Reading:
    """Read "8 May 2023", "May 2023", "2023-05-08", 2023年5月, 2023年."""
    return replace(_year_month_or_day(parts.year_or_this(today), parts), whole=True)


def date_of_year(parts: Parts, today: date) -> Reading:
    """Read 去年五月, 22年5月8日."""
    year = 2000 + parts.number("yy") if "yy" in parts else parts.year_or_this(today)
    return _year_month_or_day(year, parts)


def yearless_date(parts: Parts, today: date) -> Reading | None:
    """Read "May 8", "in May", 五月八号, 五月."""
    month = parts.month("m")
    if "d" not in parts:
        return as_guess(_latest_month(today, month))
    return _nearest_date(today, month, parts.number("d"), parts.sentence)


def latest_date(parts: Parts, today: date) -> Reading | None:
    """Read "the 5th of May" in a question."""
    found = latest_of_years(today, parts.month("m"), parts.number("d"))
    return replace(calendar.day(found, 0), yearless=True) if found else None


def date_range(parts: Parts, _today: date) -> Reading | None:
    """Read "29 May–4 June 2023", "May 5-6, 2023", 2023年5月1日到7日."""
    y1, y2 = (parts.number(each) for each in parts.either("y1", "y2"))
    m1, m2 = (parts.month(each) for each in parts.either("m1", "m2"))
    first, last = date(y1, m1, parts.number("d1")), date(y2, m2, parts.number("d2"))
    return replace(calendar.period(first, last), whole=True) if first <= last else None


def years(parts: Parts, _today: date) -> Reading | None:
    """Read "2019-2021"."""
    first, last = parts.number("y1"), parts.number("y2")
    return calendar.period(date(first, 1, 1), date(last, 12, 31)) if first <= last else None


def decade(parts: Parts, _today: date) -> Reading:
    """Read "1990s", 九十年代."""
    first = parts.number("decade", default=0)
    if not first:
        tens = parts.number("tens")
        tens = tens // 10 if tens > DAYS_A_WEEK + 2 else tens
        first = _CENTURY + 10 * tens + (100 if tens < _PIVOT else 0)
    return calendar.period(date(first, 1, 1), date(first + 9, 12, 31))


def nearest_weekday_date(parts: Parts, today: date) -> Reading | None:
    """Read "Wednesday the 11th", 周三11号: the nearest day with both."""
    days = _days_around(today, parts.number("d"))
    found = next((each for each in days if each.weekday() == parts.weekday), None)
    return calendar.day(found, 0) if found else None


def latest_day(parts: Parts, today: date) -> Reading | None:
    """Read "on the 11th", 11号那天: the latest one, unless the text names a month."""
    if _A_MONTH.search(parts.match.string):
        return None
    return as_guess(calendar.day(_latest_day(today, parts.number("d")), 0))


def latest_days(parts: Parts, today: date) -> Reading | None:
    """Read "from the 3rd to the 5th": the latest ones, unless the text names a month."""
    text = parts.match.string
    if _RANKED.search(text) or _A_MONTH.search(text):
        return None
    last = _latest_day(today, parts.number("d"))
    begun = (
        _day_of_month(last.year, month, parts.number("d1"))
        for month in (last.month, last.month - 1)
    )
    first = next((each for each in begun if each and each < last), None)
    return as_guess(calendar.period(first, last)) if first else None


def days_of_month_by_step(parts: Parts, today: date) -> Reading | None:
    """Read "the 3rd of last month", "from the 3rd to the 5th of last month", 上个月3号到5号."""
    days = (parts.number(each) for each in parts.either("d1", "d"))
    first, last = (_day_of_month(today.year, today.month + parts.step, each) for each in days)
    return calendar.period(first, last) if first and last and first <= last else None


# ---- Months, seasons, quarters and their parts, of a year or the latest


def month_in(parts: Parts, today: date, group: str = "m") -> Reading:
    """Read "May 2023", "in May": the month of a group, in the year that is named beside it."""
    month, year = parts.month(group), parts.year(today)
    found = _latest_month(today, month) if year is None else calendar.month_of(year, month)
    return _yearless(found, yearless=year is None)


def months(parts: Parts, today: date) -> Reading | None:
    """Read 3月到5月."""
    first, ended = parts.month("m1"), month_in(parts, today, "m2")
    begun = calendar.month_of(
        ended.first.year - (ended.yearless and first > ended.first.month), first
    )
    if begun.first > ended.last:
        return None
    return _yearless(calendar.period(begun.first, ended.last), yearless=ended.yearless)


def days_of_months(parts: Parts, today: date) -> Reading | None:
    """Read "from 5 to 7 May", 5月1日到7日."""
    begun, ended = (month_in(parts, today, each) for each in ("m", parts.either("m2", "m")[0]))
    if begun.yearless and ended.first < begun.first:
        year = ended.first.year - (begun.first.month > ended.first.month)
        begun = replace(calendar.month_of(year, begun.first.month), yearless=True)
    first = begun.first.replace(day=parts.number("d1"))
    last = ended.first.replace(day=parts.number("d2"))
    if first > last:
        return None
    return _yearless(calendar.period(first, last), yearless=begun.yearless)


def part_of_month(parts: Parts, today: date) -> Reading:
    """Read "early May", 五月初."""
    month = month_in(parts, today)
    found = _days_of_month(month, *_DAYS_OF_MONTH[_part_name(parts)])
    return replace(found, certain=False, yearless=month.yearless)


def part_of_year(parts: Parts, today: date) -> Reading:
    """Read "the end of 2022", 去年底, 上半年."""
    year = parts.year(today)
    first, last = _MONTHS_OF_YEAR[_part_name(parts)]
    begun = year if year is not None else today.year - (first > today.month)
    return replace(_months_of_year(begun, first, last), certain=False, yearless=year is None)


def part_of_unit(parts: Parts, today: date) -> Reading:
    """Read "the end of last month", "the start of the year", 上个月底."""
    name, step, unit = _part_name(parts), parts.step, parts.unit or "year"
    if unit == "month":
        found = _days_of_month(calendar.month(today, step), *_DAYS_OF_MONTH[name])
    elif unit == "week":
        monday = calendar.week(today, step).first
        first, last = _DAYS_OF_WEEK[name]
        found = calendar.period(monday + timedelta(first), monday + timedelta(last))
    else:
        found = _months_of_year(today.year + step, *_MONTHS_OF_YEAR[name])
    return as_guess(found)


def nth_in_month(parts: Parts, today: date) -> Reading:
    """Read "the second week of May", "the last Monday of June 2023", 五月第二周."""
    month, unit = month_in(parts, today), parts.unit
    count = parts.ordinal("nth")  # -1: the last one
    if unit == "week":
        first = DAYS_A_WEEK * (count - 1) + 1 if count > 0 else month.last.day - DAYS_A_WEEK + 1
        found = _days_of_month(month, first, first + DAYS_A_WEEK - 1)
        return replace(found, certain=False, yearless=month.yearless)
    index = SATURDAY if unit == "weekend" else WEEKDAYS.index(unit)
    edge = month.first if count > 0 else month.last
    ahead = (index - edge.weekday()) % DAYS_A_WEEK
    # The last one begins at most six days before the month's end.
    steps = ahead + DAYS_A_WEEK * (count - 1) if count > 0 else (ahead or DAYS_A_WEEK) - DAYS_A_WEEK
    day = edge + timedelta(steps)
    found = calendar.period(day, day + timedelta(unit == "weekend"))
    return replace(found, yearless=month.yearless)


def season(parts: Parts, today: date) -> Reading:
    """Read "summer 2022", 去年夏天, 上个冬天: of a year, or the latest that has begun."""
    name, year = season_name(parts), parts.year(today)
    if year is not None:
        return calendar.season(year, name)
    found = calendar.season(today.year, name)
    if found.first > today:
        found = calendar.season(today.year - 1, name)
    if parts.text("step") == "上" and found.last >= today:
        found = calendar.season(found.first.year - 1, name)
    return replace(found, yearless="step" not in parts)


def quarter(parts: Parts, today: date) -> Reading:
    """Read "Q1 2023", "the second quarter", 第二季度: of a year, or the latest that has begun."""
    count = parts.number("q") if "q" in parts else parts.ordinal("nth")
    first, year = _MONTHS_A_QUARTER * (count - 1) + 1, parts.year(today)
    begun = today.year - (first > today.month) if year is None else year
    found = _months_of_year(begun, first, first + _MONTHS_A_QUARTER - 1)
    return _yearless(found, yearless=year is None)


def latest_of_years(today: date, month: int, day: int) -> date | None:
    """Return the latest such day that is not in the future."""
    years = range(today.year, today.year - 8, -1)
    found = (calendar.existing_date(year, month, day) for year in years)
    return next((each for each in found if each and each <= today), None)


def season_name(parts: Parts) -> str:
    """Return spring, summer, autumn or winter."""
    return _SEASONS.get(parts.text("season"), parts.text("season"))


def _part_name(parts: Parts) -> str:
    word = (parts.text("part") or parts.text("half")).split()[0].split("-")[0]
    return _PART_NAMES.get(word, word)


def month_or_day(year: int, month: int, parts: Parts) -> Reading:
    """Return a month, or its day that the group ``d`` names."""
    if "d" not in parts:
        return calendar.month_of(year, month)
    return calendar.day(date(year, month, parts.number("d")), 0)


def _year_month_or_day(year: int, parts: Parts) -> Reading:
    if "m" not in parts:
        return calendar.year_of(year)
    return month_or_day(year, parts.month("m"), parts)


def _yearless(reading: Reading, *, yearless: bool) -> Reading:
    return replace(reading, yearless=yearless, certain=reading.certain and not yearless)


def _latest_month(today: date, month: int) -> Reading:
    return calendar.month_of(today.year - (month > today.month), month)


def _months_of_year(year: int, first: int, last: int) -> Reading:
    return calendar.period(date(year, first, 1), calendar.month_of(year, last).last)


def _days_of_month(month: Reading, first: int, last: int) -> Reading:
    """Return days of a month; ``last`` may be beyond its end."""
    begin = month.first.replace(day=first)
    return calendar.period(begin, month.first.replace(day=min(last, month.last.day)))


def _nearest_date(today: date, month: int, day: int, sentence: str) -> Reading | None:
    """Return the nearest date of that month and day; certain only when it is near."""
    dates = [
        each
        for year in range(today.year - 4, today.year + 5)
        if (each := calendar.existing_date(year, month, day))
    ]
    if not dates:
        return None
    found = min(dates, key=lambda each: abs(each - today))
    far = abs((found - today).days)
    sure = far <= _NEAR_DAYS or (
        far <= _QUARTER_DAYS and not contradicts_tense(sentence, ahead=found > today)
    )
    return replace(calendar.day(found, 0), certain=sure, yearless=True)


def _day_of_month(year: int, month: int, day: int) -> date | None:
    """Return a day of a month, which may be counted from before or after the year."""
    return calendar.existing_date(year + (month - 1) // 12, (month - 1) % 12 + 1, day)


def _days_around(today: date, day: int) -> list[date]:
    """Return this day of the months around, nearest first; future days count as further away."""
    months = range(today.month - _MONTHS_AROUND, today.month + _MONTHS_AROUND + 1)
    found = [each for month in months if (each := _day_of_month(today.year, month, day))]
    return sorted(
        found, key=lambda each: today - each if each <= today else _AHEAD * (each - today)
    )


def _latest_day(today: date, day: int) -> date:
    """Return the latest day with this number; ``ValueError`` if there is none."""
    found = next((each for each in _days_around(today, day) if each <= today), None)
    if found is None:
        raise ValueError("no such day")
    return found
