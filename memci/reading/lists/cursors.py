"""Pages of lists: a cursor names the last entry of a page, and is opaque to callers."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote, unquote

from memci.domain.agent_id import AGENT_ID_PATTERN
from memci.errors import InvalidInputError
from memci.storage.session import Database

T = TypeVar("T")
_AFTER = "after/"


@dataclass(frozen=True)
class Listing:
    """A reader of lists from a database."""

    database: Database


def place_after(cursor: str | None, parts: int = 1) -> tuple[int, ...]:
    """Return the whole numbers in a cursor; for the first page, lower than all others.

    Raises ``InvalidInputError`` for a cursor that no list returned.
    """
    if cursor is None:
        return (-1,) * parts
    # No more digits than fit into a bigint.
    if not re.fullmatch(r"\.".join([r"\d{1,18}"] * parts), cursor, re.ASCII):
        raise _invalid_cursor()
    return tuple(map(int, cursor.split(".")))


def agent_after(cursor: str | None) -> str:
    """Return the agent id in a cursor, or ""; raises likewise."""
    agent_id = named_after(cursor)
    if agent_id and not re.fullmatch(AGENT_ID_PATTERN, agent_id):
        raise _invalid_cursor()
    return agent_id


def named_after(cursor: str | None) -> str:
    """Return the name in a cursor, or ""; raises likewise."""
    return names_after(cursor, 1)[0]


def names_after(cursor: str | None, parts: int) -> tuple[str, ...]:
    """Return the names in a cursor, or as many ""; raises likewise."""
    if cursor is None:
        return ("",) * parts
    quoted = cursor.removeprefix(_AFTER)
    names = tuple(map(unquote, quoted.split("/")))
    if quoted in {cursor, ""} or len(names) != parts or any("\x00" in each for each in names):
        raise _invalid_cursor()
    return names


def names_cursor(*names: str) -> str:
    """Return the cursor after an entry with these names; no agent id has its form."""
    return _AFTER + "/".join(quote(each, safe="") for each in names)


def page_of(
    rows: Sequence[T], limit: int, name: Callable[[T], object]
) -> tuple[Sequence[T], str | None]:
    """Return at most ``limit`` rows, and the next cursor if there is one more row."""
    if len(rows) <= limit:
        return rows, None
    return rows[:limit], str(name(rows[limit - 1]))


def _invalid_cursor() -> InvalidInputError:
    return InvalidInputError(
        "not a cursor of this list: send next_cursor of its last page as it came", field="cursor"
    )
