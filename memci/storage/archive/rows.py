"""Rows of one agent on their way into an archive and out of it, a bounded number at a time.

Texts of notes on their way from one page store into another (P14).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import Column, Connection
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DataError, IntegrityError, OperationalError, ProgrammingError

from memci.errors import ConflictError, InvalidInputError, NotFoundError, PageStoreError
from memci.storage.archive.row_checks import half_vectors
from memci.storage.archive.tables import CARRIED, Carried
from memci.storage.archive.unpacking import Unpacking
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.schema import page_text
from memci.storage.vectors import to_text

# A time with its offset, as one text, and the offset of such a text.
_SAID_AT = """
CASE WHEN said_offset IS NULL THEN to_json(said_at) #>> '{}'
     ELSE to_char(said_at AT TIME ZONE 'UTC' + said_offset * interval '1 minute',
                  'YYYY-MM-DD"T"HH24:MI:SS.US')
          || CASE WHEN said_offset < 0 THEN '-' ELSE '+' END
          || to_char(abs(said_offset) * interval '1 minute', 'HH24:MI') END AS said_at
"""
_OFFSET = """
CASE WHEN said_at ~ '[+-][0-9]{2}:[0-9]{2}$'
     THEN nullif((extract(epoch FROM right(said_at, 6)::interval) / 60)::smallint, 0) END
"""
# Rows that a cursor hands over at once.
_FETCH = 200
_LINES = """
SELECT row_to_json(line)::text FROM (
    SELECT {columns} FROM {table} WHERE agent_id = %(agent)s AND {only} {order}) AS line
"""
_INSERT = """
INSERT INTO {table} (agent_id, {names}) SELECT %(agent)s, {values}
FROM jsonb_to_recordset(%(rows)s::jsonb) AS new({types}) {conflict}
"""
# Class 54 of SQLSTATE: program limit exceeded.
_OVER_LIMITS = "54"
# An upsert was given one row twice.
_TWICE = "21000"
# Of two servers tombstones each stays.
_BOTH = {"erased_message": "ON CONFLICT DO NOTHING", "agent_setting": """
ON CONFLICT (agent_id) DO UPDATE
SET parameters = excluded.parameters, changed_at = excluded.changed_at
""", "page_tree": """
ON CONFLICT (agent_id) DO UPDATE SET version = excluded.version, segments = excluded.segments,
    settled_seq = excluded.settled_seq, interactions = excluded.interactions,
    next_place = excluded.next_place, archive = excluded.archive, notice = excluded.notice,
    last_step = excluded.last_step
"""}  # fmt: skip
# Its fence is of this server's leases.
_PACKED = {
    "compress_cursor": "compress_cursor - 'fence' AS compress_cursor",
    # Two bytes a number: four for its length come before them.
    "embedding": "translate(encode(substring(halfvec_send(embedding) FROM 5), 'base64'),"
    " E'\\n', '') AS embedding",
}


def lines_of(connection: Connection, agent_id: str, entry: Carried) -> Iterator[bytes]:
    """Yield the rows of one agent in a table, in order, each as one line of JSON."""
    statement = _LINES.format(
        table=entry.name,
        columns=", ".join(_packed(entry, each) for each in entry.columns),
        only=entry.only,
        order=f"ORDER BY {', '.join(entry.order)}" if entry.order else "",
    )
    found = connection.exec_driver_sql(
        statement, {"agent": agent_id}, execution_options={"yield_per": _FETCH}
    )
    for (line,) in found:
        yield line.encode() + b"\n"


def add_rows(
    connection: Connection, agent_id: str, entry: Carried, batch: Sequence[tuple[bytes, Any]]
) -> None:
    """Insert rows, each given as its line and as what that says, which has been checked.

    Raises ``InvalidInputError`` for what only the database can find wrong with them.
    """
    if not batch:
        return
    columns = list(entry.columns)
    statement = _INSERT.format(
        table=entry.name,
        names=", ".join([each.name for each in columns] + ["said_offset"] * entry.has_offset),
        values=", ".join([_value(entry, each) for each in columns] + [_OFFSET] * entry.has_offset),
        types=record_type(entry, columns),
        conflict=_BOTH.get(entry.name, ""),
    )
    try:
        connection.exec_driver_sql(statement, {"agent": agent_id, "rows": _as_array(entry, batch)})
    except IntegrityError as error:
        raise InvalidInputError(_contradiction(error)) from None
    except DataError:
        raise InvalidInputError(
            "a value that PostgreSQL does not take, such as the character U+0000"
        ) from None
    except ProgrammingError as error:
        if getattr(error.orig, "sqlstate", "") != _TWICE:
            raise
        raise InvalidInputError("a row contradicts another one: there is one of an agent") from None
    except OperationalError as error:
        if str(getattr(error.orig, "sqlstate", "")).startswith(_OVER_LIMITS):
            raise InvalidInputError("a value that is longer than any index takes") from None
        raise


def _as_array(entry: Carried, batch: Sequence[tuple[bytes, Any]]) -> str:
    """Return rows as a JSON array, in the words of the archive: Python's numbers lose digits."""
    if any(isinstance(each.type, HALFVEC) for each in entry.columns):
        return json.dumps(_with_vectors([row for _, row in batch]))
    return "[" + ",".join(line.decode() for line, _ in batch) + "]"


def _with_vectors(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows whose vectors are in pgvector's words; those of one length go together."""
    by_length: dict[int, list[int]] = {}
    for at, row in enumerate(rows):
        by_length.setdefault(len(row["embedding"]), []).append(at)
    texts: dict[int, str] = {}
    for places in by_length.values():
        vectors = half_vectors([rows[at]["embedding"] for at in places])
        texts.update(zip(places, to_text(vectors), strict=True))
    return [{**row, "embedding": texts[at]} for at, row in enumerate(rows)]


def _packed(entry: Carried, column: Column[object]) -> str:
    if entry.has_offset and column.name == "said_at":
        return _SAID_AT
    return _PACKED.get(column.name, column.name)


def _value(entry: Carried, column: Column[object]) -> str:
    if isinstance(column.type, HALFVEC):
        return f"{column.name}::halfvec"
    if entry.has_offset and column.name == "said_at":
        return "said_at::timestamptz"
    return column.name


def record_type(entry: Carried, columns: Sequence[Column[object]]) -> str:
    """Return columns as a record is declared; vectors, and times with offsets, travel as text."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy's own
    return ", ".join(
        f"{each.name} text"
        if _value(entry, each) != each.name
        else f"{each.name} {each.type.compile(dialect)}"
        for each in columns
    )


def _contradiction(error: IntegrityError) -> str:
    constraint = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
    return f"a row contradicts another one ({constraint or 'it was erased for good'})"


_NOTES = (
    "SELECT id, text_version FROM page WHERE agent_id = %s AND text_version IS NOT NULL ORDER BY id"
)
# Its texts come one by one, from far away maybe: between two of them the database hears of us.
_AT_ONCE = 20
_FIND = "SELECT FROM page WHERE agent_id = %s AND id = %s AND text_version = %s"
_WITHOUT = """
SELECT id FROM page WHERE agent_id = %s AND text_version IS NOT NULL AND NOT id = ANY(%s::text[])
ORDER BY id LIMIT 1
"""
_MOST_NAMED = 100
_ONE_NOTE = "every text is of one note, in its version"
_ONE_TEXT = "every note has its text"


def body_lines(connection: Connection, store: PageStore, agent_id: str) -> Iterator[bytes]:
    """Yield the text of each note, from the store, as one line of JSON.

    Raises ``ConflictError``, behind the last one, when the store has none for some notes.
    """
    lost: list[str] = []
    with closing(
        connection.exec_driver_sql(_NOTES, (agent_id,), execution_options={"yield_per": _AT_ONCE})
    ) as notes:
        for note in notes:
            try:
                text = store.load(TextKey(agent_id, note.id, note.text_version))
            except NotFoundError:
                lost.append(note.id)
                continue
            row = {"page_id": note.id, "version": note.text_version, "text": text}
            yield json.dumps(row, ensure_ascii=False).encode() + b"\n"
    if lost:
        raise _lost(lost)


def _lost(indexes: Sequence[str]) -> ConflictError:
    named = ", ".join(indexes[:_MOST_NAMED])
    more = len(indexes) - _MOST_NAMED
    return ConflictError(
        f"the page store has no text of {'page' if len(indexes) == 1 else 'pages'} {named}"
        f"{f' and {more} more' if more > 0 else ''}: if they were erased just now, export again; if"
        " the store has lost them, bring them back from a back-up or erase these pages first"
    )


def keep_bodies(
    connection: Connection, store: PageStore, agent_id: str, archive: Unpacking
) -> None:
    """Keep the texts of an archive's notes in the store that is used here (P14).

    All other rows must be in place, and nothing but COMMIT may follow: should that fail, the store
    is left with texts that no page refers to. Raises ``InvalidInputError`` for a note without its
    text or a text without its note, and ``PageStoreError``; no text is left then.
    """
    kept: dict[str, TextKey] = {}
    (entry,) = (each for each in CARRIED if each.table is page_text)
    try:
        for _, row in archive.rows(entry):
            index, version = row["page_id"], row["version"]
            given = (agent_id, index, version)
            found = connection.exec_driver_sql(_FIND, given).first()
            _check(found is not None and index not in kept, _ONE_NOTE, index)
            kept[index] = TextKey(agent_id, index, version)
            store.save(kept[index], row["text"])
        without = connection.exec_driver_sql(_WITHOUT, (agent_id, list(kept))).scalar()
        _check(without is None, _ONE_TEXT, without)
    except BaseException:
        for key in kept.values():
            # What cannot be deleted is swept: no page refers to it.
            with suppress(PageStoreError):
                store.delete(key)
        raise


def _check(holds: bool, law: str, index: str | None) -> None:  # noqa: FBT001 - what is checked
    if not holds:
        raise InvalidInputError(f"the archive contradicts itself: {law}; not so {index}")
