"""When the Chinese New Year is: a table, for the moon keeps no rule that is short (R10)."""

from __future__ import annotations

from datetime import date, timedelta

_FIRST_YEAR = 2000
# Days from 20 January, the earliest that it can be said of any of these years.
_DAYS = (
    16, 4, 23, 12, 2, 20, 9, 29, 18, 6, 25, 14, 3, 21, 11, 30, 19, 8, 27, 16, 5, 23, 12, 2, 21, 9,
    28, 17, 6, 24, 14, 3, 22, 11, 30, 19, 8, 26, 15, 4, 23, 12, 2, 21, 10, 28, 17, 6, 25, 13, 3,
)  # fmt: skip


def chinese_new_year(year: int) -> date:
    """Return its first day; raises ``ValueError`` for years that are not from 2000 to 2050."""
    if not 0 <= year - _FIRST_YEAR < len(_DAYS):
        raise ValueError(f"the Chinese New Year of {year} is not known here")
    return date(year, 1, 20) + timedelta(_DAYS[year - _FIRST_YEAR])
