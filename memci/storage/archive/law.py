"""Laws of the rows of one agent taken together, as statements that find what breaks them."""

from __future__ import annotations

from typing import NamedTuple


class Law(NamedTuple):
    """``broken``: a statement that returns what breaks it, if anything does."""

    says: str
    broken: str


def known(
    table: str, column: str, of: str, key: str, only: str = "true", *, source: str = ""
) -> Law:
    """Say that what a column names is there; hashed, since nothing is counted yet."""
    rows = source or f"FROM {table} WHERE agent_id = %(agent)s"
    return Law(
        f"every {table}.{column} is the {key} of a {of}",
        f"SELECT {column} {rows} AND {only}"  # noqa: S608 - ours
        f" EXCEPT SELECT {key} FROM {of} WHERE agent_id = %(agent)s LIMIT 1",
    )


def counted(table: str, column: str, counter: str, *, of: str = "lane") -> Law:
    """Say that a number was given out: the next one is free."""
    return Law(
        f"no {table}.{column} is above {of}.{counter}",
        f"SELECT {column} FROM {table} JOIN {of} USING (agent_id)"  # noqa: S608 - ours
        f" WHERE agent_id = %(agent)s AND {column} > {counter} LIMIT 1",
    )
