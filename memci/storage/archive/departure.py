"""Writing all that an agent is into an archive, inside one snapshot."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import IO

from sqlalchemy import Connection

import memci
from memci.domain.agent import no_agent
from memci.shapes.archive import (
    FORMAT_VERSION,
    ArchiveEmbedder,
    ArchiveManifest,
)
from memci.storage.archive.bodies import body_lines
from memci.storage.archive.packing import Packing
from memci.storage.archive.registry import CARRIED, LEFT_OUT
from memci.storage.archive.rows import lines_of
from memci.storage.erasure.gone import IS_AGENT, IS_THERE
from memci.storage.page_store.port import PageStore
from memci.storage.rows import page_body
from memci.storage.vector_model import held_model

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
            if each.table is page_body
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
