"""Writes all rows of an agent into an archive: a zip of JSON lines and a manifest."""

import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sqlalchemy import Column, Connection, Table

import memci
from memci.domain.agent_id import no_agent
from memci.errors import ConflictError, NotFoundError
from memci.schemas import archive as schemas
from memci.storage.agents import IS_AGENT, IS_THERE
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.schema import AGENT_TABLES
from memci.storage.schema.pages import page_text
from memci.storage.search.vectors import held_model

EXPORTED_TABLES = tuple(table for table in AGENT_TABLES if "left_out" not in table.info)
LEFT_OUT = {
    table.name: table.info["left_out"] for table in AGENT_TABLES if "left_out" in table.info
}
# Not exported: the manifest names the agent, and ``said_at`` includes its offset.
_SAID_ELSEWHERE = frozenset({"agent_id", "said_offset"})


def file_of(table: Table) -> str:
    """Return the path of a table's rows in an archive."""
    return f"tables/{table.name}.jsonl"


def exported_columns(table: Table) -> list[Column[object]]:
    """Return the columns that an archive has."""
    return [
        column
        for column in table.columns
        if column.identity is None
        and column.name not in _SAID_ELSEWHERE
        and not column.info.get("local")
    ]


def row_order(table: Table) -> list[str]:
    """Return the columns by which rows are sorted, so that the same rows make the same file."""
    identities = [column.name for column in table.columns if column.identity is not None]
    return identities or [each.name for each in table.primary_key if each.name != "agent_id"]


# Half the time of zlib's default level, for a twentieth more bytes.
_LEVEL = 3
_NO_DATE = (1980, 1, 1, 0, 0, 0)
# A developer's first page or document creates an agent before its first message.
_FIND_AGENT = f"""
SELECT FROM lane WHERE agent_id = %s AND ({IS_AGENT} OR {IS_THERE} AND EXISTS (
    SELECT FROM page_tree WHERE page_tree.agent_id = lane.agent_id AND version > 0)
    OR documents > 0)
"""  # noqa: S608 - constants of another module
# Queried here, since Alembic takes longer to import than everything else.
_REVISION = "SELECT version_num FROM alembic_version"
# Columns with another form in an archive: a time with its offset, a cursor without the fence, which
# belongs to this server's leases, and a vector as base64: two bytes a number, after four for its
# length.
_SAID_AT = """
CASE WHEN said_offset IS NULL THEN to_json(said_at) #>> '{}'
     ELSE to_char(said_at AT TIME ZONE 'UTC' + said_offset * interval '1 minute',
                  'YYYY-MM-DD"T"HH24:MI:SS.US')
          || CASE WHEN said_offset < 0 THEN '-' ELSE '+' END
          || to_char(abs(said_offset) * interval '1 minute', 'HH24:MI') END AS said_at
"""
_WRITTEN_AS = {
    "compress_cursor": "compress_cursor - 'fence' AS compress_cursor",
    "embedding": "translate(encode(substring(halfvec_send(embedding) FROM 5), 'base64'),"
    " E'\\n', '') AS embedding",
}
# Rows of a cursor at a time. Texts come one by one, perhaps from a remote store, and statements
# between them keep the connection alive.
_ROWS_AT_ONCE = 200
_NOTES_AT_ONCE = 20
_NOTES = (
    "SELECT id, text_version FROM page WHERE agent_id = %s AND text_version IS NOT NULL ORDER BY id"
)
_MOST_NAMED = 100


def write_archive(
    connection: Connection, store: PageStore, agent_id: str, file: IO[bytes]
) -> schemas.ArchiveManifest:
    """Write the archive; only a few hundred rows are in memory at a time.

    Raises ``NotFoundError`` for no agent, and ``ConflictError`` when a note has no text.
    """
    if connection.exec_driver_sql(_FIND_AGENT, (agent_id,)).first() is None:
        raise no_agent(agent_id)
    in_use = held_model(connection)
    archive = ZipFile(file, "w", ZIP_DEFLATED, compresslevel=_LEVEL)
    tables = {}
    for table in EXPORTED_TABLES:
        if table is page_text:
            lines = _note_lines(connection, store, agent_id)
        else:
            lines = table_lines(connection, agent_id, table)
        tables[table.name] = _add_file(archive, file_of(table), lines)
    manifest = schemas.ArchiveManifest(
        format="memci-agent",
        version=schemas.FORMAT_VERSION,
        memci=memci.__version__,
        schema_revision=connection.exec_driver_sql(_REVISION).scalar_one(),
        agent_id=agent_id,
        exported_at=datetime.now(UTC),
        embedder=in_use
        and schemas.ArchiveEmbedder(model=in_use.model.name, dimension=in_use.model.dimension),
        left_out=LEFT_OUT,
        tables=tables,
    )
    with archive.open(_entry(schemas.MANIFEST), "w") as opened:
        opened.write(manifest.model_dump_json(indent=2).encode())
    archive.close()
    return manifest


def table_lines(connection: Connection, agent_id: str, table: Table) -> Iterator[bytes]:
    """Yield the rows of one agent in a table, in order, each as one line of JSON."""
    has_offset = "said_offset" in table.columns
    columns = ", ".join(
        _SAID_AT if has_offset and name == "said_at" else _WRITTEN_AS.get(name, name)
        for name in (column.name for column in exported_columns(table))
    )
    order = ", ".join(row_order(table)) or "agent_id"
    statement = f"""
    SELECT row_to_json(line)::text FROM (
        SELECT {columns} FROM {table.name}
         WHERE agent_id = %(agent)s AND {table.info.get("exported", "true")}
         ORDER BY {order}) AS line
    """  # noqa: S608 - names of our own
    found = connection.exec_driver_sql(
        statement, {"agent": agent_id}, execution_options={"yield_per": _ROWS_AT_ONCE}
    )
    for (line,) in found:
        yield line.encode() + b"\n"


def _note_lines(connection: Connection, store: PageStore, agent_id: str) -> Iterator[bytes]:
    """Yield the text of each note, from whichever page store is used (P14).

    Raises ``ConflictError`` after the last one if the store lacks some.
    """
    lost: list[str] = []
    options = {"yield_per": _NOTES_AT_ONCE}
    with closing(
        connection.exec_driver_sql(_NOTES, (agent_id,), execution_options=options)
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
        more = len(lost) - _MOST_NAMED
        raise ConflictError(
            f"the page store has no text of {'page' if len(lost) == 1 else 'pages'} "
            f"{', '.join(lost[:_MOST_NAMED])}{f' and {more} more' if more > 0 else ''}: if they "
            "were erased just now, export again; if the store has lost them, bring them back from "
            "a back-up or erase these pages first"
        )


def _add_file(archive: ZipFile, name: str, lines: Iterable[bytes]) -> schemas.ArchiveFile:
    """Write a file of lines; return what the manifest says about it."""
    rows, size, digest = 0, 0, sha256()
    try:
        with archive.open(_entry(name), "w", force_zip64=True) as file:
            for line in lines:
                file.write(line)
                digest.update(line)
                rows, size = rows + 1, size + len(line)
    except BaseException:
        archive.close()  # while the file is open; later it is not added
        raise
    return schemas.ArchiveFile(rows=rows, bytes=size, sha256=digest.hexdigest())


def _entry(name: str) -> ZipInfo:
    """Return an entry with a fixed time, so that the same rows make the same archive."""
    entry = ZipInfo(name, _NO_DATE)
    entry.compress_type = ZIP_DEFLATED
    return entry
