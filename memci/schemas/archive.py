"""One agent as one archive: what is in it, and what became of it on another server."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import ConfigDict, Field, StrictInt

from memci.schemas.base import Answer, Text

# Raised by whoever changes which columns an archive has; a test notices.
FORMAT_VERSION = 3
MANIFEST = "manifest.json"
# As much of a manifest is looked at: it is a few kilobytes.
MANIFEST_BYTES = 256 * 1024

_Count = Annotated[StrictInt, Field(ge=0, le=2**53)]
_Name = Annotated[Text, Field(max_length=256)]


class ArchiveFile(Answer):
    """One table in an archive: a file of lines, each a row as a JSON object."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rows: _Count
    bytes: _Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ArchiveEmbedder(Answer):
    """Whose vectors are in an archive; made by another one, they are made anew after an import."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: _Name
    dimension: Annotated[StrictInt, Field(ge=1, le=16_000)]


class ArchiveManifest(Answer):
    """What an archive says about itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["memci-agent"]
    version: StrictInt
    memci: Annotated[_Name, Field(description="The release that made it")]
    schema_revision: _Name
    agent_id: _Name
    exported_at: datetime
    embedder: ArchiveEmbedder | None
    left_out: dict[_Name, _Name] = Field(description="Tables that stay behind, and why")
    tables: dict[_Name, ArchiveFile]


class ImportAnswer(Answer):
    """What an import has brought."""

    agent_id: str
    from_agent_id: str = Field(description="Whose archive it was")
    rows: dict[str, int] = Field(description="Rows by table")
    queued: int = Field(description="Jobs that wait, and are run from now on")
    reembed_job_id: UUID | None = Field(
        description="The job that makes vectors of another embedder anew; null when none are"
    )
