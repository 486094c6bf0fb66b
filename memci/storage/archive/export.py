"""Writes all rows of an agent into an archive: a zip of JSON lines and a manifest."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sqlalchemy import Connection

import memci
from memci.domain.agent import no_agent
from memci.schemas.archive import (
    FORMAT_VERSION,
    MANIFEST,
    ArchiveEmbedder,
    ArchiveFile,
    ArchiveManifest,
)
from memci.storage.agents import IS_AGENT, IS_THERE
from memci.storage.archive.rows import body_lines, lines_of
from memci.storage.archive.tables import CARRIED, LEFT_OUT
from memci.storage.page_store.port import PageStore
from memci.storage.schema import page_text
from memci.storage.vectors import held_model

# Half the time of zlib's own default, for a twentieth more bytes.
_LEVEL = 3
_NEVER = (1980, 1, 1, 0, 0, 0)


class Packing:
    """An archive that is being written."""

    def __init__(self, file: IO[bytes]) -> None:
        """Take a file that can seek."""
        self._zip = ZipFile(file, "w", ZIP_DEFLATED, compresslevel=_LEVEL)

    def add(self, name: str, lines: Iterable[bytes]) -> ArchiveFile:
        """Write a file of lines; return what the manifest is to say about it."""
        rows, size, digest = 0, 0, sha256()
        try:
            with self._zip.open(_entry(name), "w", force_zip64=True) as file:
                for line in lines:
                    file.write(line)
                    digest.update(line)
                    rows, size = rows + 1, size + len(line)
        except BaseException:
            self._zip.close()  # while its file is open; later on nobody would do it
            raise
        return ArchiveFile(rows=rows, bytes=size, sha256=digest.hexdigest())

    def finish(self, manifest: ArchiveManifest) -> None:
        """Write the manifest and the directory; without them an archive is none."""
        with self._zip.open(_entry(MANIFEST), "w") as file:
            file.write(manifest.model_dump_json(indent=2).encode())
        self._zip.close()


def _entry(name: str) -> ZipInfo:
    """Return an entry that the same rows make alike at any time."""
    entry = ZipInfo(name, _NEVER)
    entry.compress_type = ZIP_DEFLATED
    return entry


# A developer's first page or document makes an agent before its first message.
_THERE = f"""
SELECT FROM lane WHERE agent_id = %s AND ({IS_AGENT} OR {IS_THERE} AND EXISTS (
    SELECT FROM page_tree WHERE page_tree.agent_id = lane.agent_id AND version > 0)
    OR documents > 0)
"""  # noqa: S608 - constants of another module
# Asked for here, since Alembic takes longer to import than all of the rest.
_REVISION = "SELECT version_num FROM alembic_version"


def pack(
    connection: Connection, store: PageStore, agent_id: str, file: IO[bytes]
) -> ArchiveManifest:
    """Write the archive; memory holds a few hundred rows of it, however large the agent is.

    Raises ``NotFoundError`` for no agent, and ``ConflictError`` when a note has no text.
    """
    if connection.exec_driver_sql(_THERE, (agent_id,)).first() is None:
        raise no_agent(agent_id)
    held = held_model(connection)
    packing = Packing(file)
    tables = {
        each.name: packing.add(
            each.file,
            body_lines(connection, store, agent_id)
            if each.table is page_text
            else lines_of(connection, agent_id, each),
        )
        for each in CARRIED
    }
    manifest = ArchiveManifest(
        format="memci-agent",
        version=FORMAT_VERSION,
        memci=memci.__version__,
        schema_revision=connection.exec_driver_sql(_REVISION).scalar_one(),
        agent_id=agent_id,
        exported_at=datetime.now(UTC),
        embedder=held and ArchiveEmbedder(model=held.model.name, dimension=held.model.dimension),
        left_out=dict(LEFT_OUT),
        tables=tables,
    )
    packing.finish(manifest)
    return manifest
