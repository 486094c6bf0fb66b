"""Reads and writes archives chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self
from zipfile import BadZipFile, ZipFile

from pydantic import ValidationError

from memci.errors import InvalidInputError, MemciError
from memci.schemas.archive import MANIFEST, MANIFEST_BYTES, ArchiveManifest

CHUNK_BYTES = 256 * 1024


class PartFile:
    """A file that gets its name when all of it is written."""

    def __init__(self, path: Path) -> None:
        """Replace an existing file of this name at the end."""
        self._path = path
        self._part = path.with_name(path.name + ".part")

    def write(self, chunk: bytes) -> None:
        """Add a chunk."""
        self._file.write(chunk)

    def finish(self) -> None:
        """Give the file its name."""
        self._file.close()
        self._part.replace(self._path)

    def __enter__(self) -> Self:
        try:
            self._file = self._part.open("wb")
        except OSError as error:
            raise MemciError(f"{self._path} cannot be written: {error.strerror}") from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise MemciError(f"{self._path} cannot be written: {error.strerror}") from None


def chunks_of(path: Path) -> Iterator[bytes]:
    """Yield the content of a file."""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def unreadable(path: Path | str, error: OSError) -> str:
    """Return a message that says why a file cannot be read."""
    if isinstance(error, FileNotFoundError):
        return f"{path}: there is no such file"
    return f"{path} cannot be read: {error.strerror}"


def read_manifest(path: Path) -> ArchiveManifest:
    """Return the manifest of an archive; raises ``InvalidInputError`` for other files."""
    try:
        with ZipFile(path) as archive, archive.open(MANIFEST) as manifest:
            return ArchiveManifest.model_validate_json(manifest.read(MANIFEST_BYTES))
    except OSError as error:
        raise InvalidInputError(unreadable(path, error)) from None
    except (BadZipFile, KeyError, ValidationError):
        raise InvalidInputError(f"{path} is no archive of an agent") from None
