"""Readers of times that are relative to the day of the text (R4, R10).

``data/times.*.toml`` assigns the readers to rules; both languages share them. ``today`` is the day
of the text. English has two conventions: "last Friday" is the latest Friday, or the Friday of last
week; and a week begins on Monday, or on Sunday. A reading is certain if both give the same days.
"""

from dataclasses import replace
from datetime import date, timedelta

from memci.language.loading import TaskData
from memci.language.times import calendar
from memci.language.times.calendar import DAYS_A_WEEK, SATURDAY, SUNDAY, Reading, as_guess
from memci.language.times.dates import month_or_day, season_name
from memci.language.times.time_words import STEPS, Parts

_THURSDAY = 3
_FEBRUARY, _HALF_A_YEAR = 2, 6
_DAY_WORDS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_DAY_WORDS |= {"大前天": -3, "前天": -2, "昨": -1, "今": 0, "明": 1, "后天": 2, "大后天": 3}
# Days from and to which 前几天, 前两天 and 前些天 reach back; 前段时间 has no number.
_LATELY = {"几": (7, 2), "两": (3, 1), "些": (14, 2), "": (60, 7)}
_RECENT_DAYS = 14
_DATA = TaskData("times")
_NEAREST = _DATA.pattern("nearest")


# ---- Days


def day(parts: Parts, today: date, *, days: int | None = None) -> Reading:
    """Read "yesterday", 后天."""
    return calendar.day(today, _DAY_WORDS[parts.text("day")] if days is None else days)


def bare_weekday(parts: Parts, today: date) -> Reading:
    """Read "Friday", 周五."""
    return calendar.latest_weekday(today, parts.weekday)


def which_weekday(parts: Parts, today: date) -> Reading:
    """Read "last Friday", "this coming Friday"."""
    which, unambiguous = parts.which
    index, weekday = parts.weekday, today.weekday()
    latest, coming = -((weekday - index) % 7 or 7), (index - weekday) % 7 or 7
    if which == "last":
        return as_guess(calendar.day(today, latest), sure=unambiguous or index >= weekday)
    if which == "next":
        agreed = index <= weekday and (weekday != SUNDAY or index == SUNDAY)
        return as_guess(calendar.day(today, coming), sure=unambiguous or agreed)
    return as_guess(calendar.weekday(today, 0, index), sure=index > weekday)


def weekday_by_step(parts: Parts, today: date) -> Reading:
    """Read 上周五, 两周前的周五."""
    return calendar.weekday(today, parts.step - parts.number("n", default=0), parts.weekday)


def weekday_ago(parts: Parts, today: date, *, weeks: int | None = None) -> Reading:
    """Read "the Friday before last", "two Fridays ago"."""
    back = (today.weekday() - parts.weekday - 1) % DAYS_A_WEEK + 1
    weeks = parts.number("n") - 1 if weeks is None else weeks
    return calendar.day(today, -back - DAYS_A_WEEK * weeks)


def which_weekend(parts: Parts, today: date) -> Reading:
    """Read "last weekend"."""
    which, unambiguous = parts.which
    on_it = today.weekday() >= SATURDAY
    if which == "last":
        return as_guess(calendar.weekend(today, -1), sure=not (unambiguous and on_it))
    if which == "next" and unambiguous:
        return as_guess(calendar.weekend(today, int(on_it)), sure=not on_it)
    if which == "next":
        return as_guess(calendar.weekend(today, 1), sure=on_it)
    # "This weekend", said on a Monday, is as often the one that is just over.
    return as_guess(calendar.weekend(today, 0), sure=today.weekday() >= _THURSDAY)


def bare_weekend(_parts: Parts, today: date) -> Reading:
    """Read 周末: the latest one."""
    return as_guess(calendar.weekend(today, -(today.weekday() < SATURDAY)))


def weekends_ago(parts: Parts, today: date) -> Reading:
    """Read "two weekends ago"."""
    found = calendar.weekend(today, -parts.number("n"))
    return as_guess(found, sure=today.weekday() < SATURDAY)


# ---- Weeks, months and years around today


def unit_by_step(parts: Parts, today: date, *, unit: str) -> Reading:
    """Read 上周, 上周末."""
    return calendar.around(today, unit, parts.step)


def month_by_step(parts: Parts, today: date) -> Reading:
    """Read 上个月, 下月三号."""
    month = calendar.month(today, parts.step)
    return month_or_day(month.first.year, month.first.month, parts)


def which_unit(parts: Parts, today: date) -> Reading:
    """Read last, this or next week, month or year; "this past week" rolls back from today."""
    which, rolls = parts.which
    unit, step = parts.unit, STEPS[which]
    if rolls:
        return calendar.rolling(today, unit, step)
    sure = unit != "week" or today.weekday() != SUNDAY
    return as_guess(calendar.around(today, unit, step), sure=sure)


def next_but_one(parts: Parts, today: date) -> Reading:
    """Read "the week before last", "the month after next"."""
    step = 2 * STEPS[parts.text("which")]
    sure = {
        "week": today.weekday() != SUNDAY,
        "weekend": step < 0 and today.weekday() < SATURDAY,
    }
    return as_guess(calendar.around(today, parts.unit, step), sure=sure.get(parts.unit, True))


def which_month(parts: Parts, today: date) -> Reading | None:
    """Read "last May"; None for "this may help"."""
    which, unambiguous = parts.which
    month, capital = parts.month("m"), parts.match["m"][0].isupper()
    if which == "this" and not capital:
        return None
    if which == "last":
        past = calendar.month_of(today.year - (month >= today.month), month)
        return as_guess(past, sure=capital and (unambiguous or month >= today.month))
    if which == "next":
        coming = calendar.month_of(today.year + (month <= today.month), month)
        return as_guess(coming, sure=capital and (unambiguous or month <= today.month))
    # "This May", said in November, may be the next one.
    sure = abs(today.month - month) <= _HALF_A_YEAR
    return as_guess(calendar.month_of(today.year, month), sure=sure)


def which_season(parts: Parts, today: date) -> Reading:
    """Read "last summer"."""
    which, _ = parts.which
    name = season_name(parts)
    begun = today.year - (name == "winter" and today.month <= _FEBRUARY)
    this = calendar.season(begun, name)
    if which == "last" and this.last >= today:
        return calendar.season(this.first.year - 1, name)
    if which == "next" and this.first <= today:
        return calendar.season(this.first.year + 1, name)
    return this


# ---- Counted from today


def ago(parts: Parts, today: date) -> Reading:
    """Read "two days ago", 三个月前."""
    return calendar.distant(today, parts.unit, -parts.number("n"))


def from_now(parts: Parts, today: date, *, certain: bool = True) -> Reading:
    """Read "three weeks from now", 两周后."""
    return as_guess(calendar.distant(today, parts.unit, parts.number("n")), sure=certain)


def some_ago(parts: Parts, today: date) -> Reading:
    """Read "a few days ago", "a couple of weeks ago", 几天前."""
    counts = (1, 3) if "two" in parts else (2, 7)
    near, far = (calendar.rolling(today, parts.unit, -count).first for count in counts)
    return as_guess(calendar.period(far, near))


def half_ago(parts: Parts, today: date) -> Reading:
    """Read "half a year ago", "two and a half years ago", 一年半前."""
    unit, count = parts.unit, parts.number("n", default=0)
    if unit == "year":
        found = calendar.month(today, -12 * count - 6)
    else:
        days = 30 * count + 15 if unit == "month" else 7 * count + 3
        middle, slack = today - timedelta(days), timedelta(max(1, days // 5))
        found = calendar.period(middle - slack, middle + slack)
    return replace(found, approximate=True, certain=False)


def decades_ago(parts: Parts, today: date) -> Reading:
    """Read "two decades ago"."""
    return replace(calendar.year(today, -10 * parts.number("n")), approximate=True)


def last_units(parts: Parts, today: date) -> Reading:
    """Read "in the last three days", 最近三天."""
    return calendar.rolling(today, parts.unit, -parts.number("n", default=1))


def units_around(parts: Parts, today: date) -> Reading:
    """Read "the past few weeks", "the next two months"."""
    step = -1 if parts.text("side") in {"last", "past"} else 1
    count = 4 if "few" in parts else parts.number("n")
    return replace(calendar.rolling(today, parts.unit, step * count), certain=True)


def past_units(parts: Parts, today: date) -> Reading:
    """Read 这几天, 半年来, 三个月以来."""
    n = parts.text("n")
    if n == "半":
        return calendar.period(today - timedelta(182 if parts.unit == "year" else 15), today)
    is_some = n in {"几", "数"}
    found = calendar.rolling(today, parts.unit, -5 if is_some else -parts.number("n"))
    return replace(found, certain=not is_some)


def days_back(_parts: Parts, today: date, *, far: int, near: int) -> Reading:
    """Read "the other day", "recently"."""
    return as_guess(calendar.period(today - timedelta(far), today - timedelta(near)))


def lately(parts: Parts, today: date) -> Reading:
    """Read 前几天, 前两天 and 前段时间."""
    far, near = _LATELY[parts.text("n")]
    return days_back(parts, today, far=far, near=near)


def recently(parts: Parts, today: date) -> Reading | None:
    """Read 最近, except of a place: 离我最近."""
    if _NEAREST.search(parts.match.string[: parts.match.start()]):
        return None
    return days_back(parts, today, far=_RECENT_DAYS, near=0)
