"""What is asked in the same round trip that opens a transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import psycopg
from psycopg.rows import namedtuple_row

T = TypeVar("T")


class Lookup(Generic[T]):
    """A statement whose answer is there once the transaction is open."""

    _rows: psycopg.Cursor[Any]

    def __init__(
        self,
        statement: str,
        values: Mapping[str, Any] | Sequence[Any],
        read: Callable[[list[Any]], T],
    ) -> None:
        """Take a statement, what is bound to it, and what reads its rows, named tuples."""
        self._statement = statement
        self._values = values
        self._read = read

    def send(self, driver: psycopg.Connection) -> None:
        """Ask, within a pipeline."""
        self._rows = driver.cursor(row_factory=namedtuple_row)
        self._rows.execute(self._statement, self._values)

    def answer(self) -> T:
        """Return the answer, once, behind the pipeline."""
        with self._rows:
            return self._read(self._rows.fetchall())
