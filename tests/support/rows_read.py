"""The rows that transactions read, as the server counts them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import event

from memci.storage.session import Database


def rows_read(database: Database, table: str) -> list[int]:
    """A list of the rows of a table that each later transaction reads."""
    read: list[int] = []

    def count(connection: Any) -> None:
        driver = connection.connection.driver_connection
        (rows,) = driver.execute(
            "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables"
            " WHERE relname = %s",
            (table,),
        ).fetchone()
        driver.execute("SELECT pg_stat_force_next_flush()")
        read.append(rows)

    event.listen(database.engine, "commit", count)
    with database.lane_transaction():
        pass  # earlier transactions read the rows counted up to here
    read.clear()
    return read
