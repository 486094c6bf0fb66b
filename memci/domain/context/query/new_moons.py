"""When feasts of the moon's calendar are: tables, for the moon keeps no short rule (R10)."""

from __future__ import annotations

from datetime import date, timedelta
from enum import Enum

_FIRST_YEAR = 2000


class MoonFeast(Enum):
    """The earliest day of any of these years, and the days from there, from 2000 on."""

    NEW_YEAR = (1, 20), (
        16, 4, 23, 12, 2, 20, 9, 29, 18, 6, 25, 14, 3, 21, 11, 30, 19, 8, 27, 16, 5, 23, 12, 2,
        21, 9, 28, 17, 6, 24, 14, 3, 22, 11, 30, 19, 8, 26, 15, 4, 23, 12, 2, 21, 10, 28, 17, 6,
        25, 13, 3,
    )  # fmt: skip
    DRAGON_BOATS = (5, 27), (
        10, 29, 19, 8, 26, 15, 4, 23, 12, 1, 20, 10, 27, 16, 6, 24, 13, 3, 22, 11, 29, 18, 7, 26,
        14, 4, 23, 13, 1, 20, 9, 28, 16, 5, 24, 14, 3, 22, 11, 0, 18, 7, 26, 15, 4, 23, 12, 2, 19,
        8, 27,
    )  # fmt: skip
    SEVENTH = (7, 31), (
        6, 25, 15, 4, 22, 11, 0, 19, 7, 26, 16, 6, 23, 13, 2, 20, 9, 28, 17, 7, 25, 14, 4, 22, 10,
        29, 19, 8, 26, 16, 5, 24, 12, 1, 20, 10, 28, 17, 7, 26, 14, 3, 22, 11, 0, 19, 8, 27, 16,
        5, 23,
    )  # fmt: skip
    MID_AUTUMN = (9, 8), (
        4, 23, 13, 3, 20, 10, 28, 17, 6, 25, 14, 4, 22, 11, 0, 19, 7, 26, 16, 5, 23, 13, 2, 21, 9,
        28, 17, 7, 25, 14, 4, 23, 11, 0, 19, 8, 26, 16, 5, 24, 12, 2, 20, 9, 27, 17, 7, 26, 14, 3,
        22,
    )  # fmt: skip
    DOUBLE_NINTH = (10, 1), (
        5, 24, 13, 3, 21, 10, 29, 18, 6, 25, 15, 4, 22, 12, 1, 20, 8, 27, 16, 6, 24, 13, 3, 22,
        10, 28, 17, 7, 25, 15, 4, 23, 11, 0, 19, 8, 26, 16, 6, 25, 13, 2, 21, 10, 28, 17, 7, 26,
        15, 4, 23,
    )  # fmt: skip

    def of(self, year: int) -> date:
        """Return its day; raises ``ValueError`` for years that are not from 2000 to 2050."""
        (month, day), days = self.value
        if not 0 <= year - _FIRST_YEAR < len(days):
            raise ValueError(f"the feasts of the moon in {year} are not known here")
        return date(year, month, day) + timedelta(days[year - _FIRST_YEAR])
