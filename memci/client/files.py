"""Archives on their way from and to files, a piece at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self
from zipfile import BadZipFile, ZipFile

from pydantic import ValidationError

from memci.errors import InvalidInputError, MemciError
from memci.schemas.archive import MANIFEST, MANIFEST_BYTES, ArchiveManifest

PIECE = 256 * 1024


class Saving:
    """A file that is there under its name once all of it has come, and not before."""

    def __init__(self, path: Path) -> None:
        """Take where it is to be; a file that is there is replaced at the end."""
        self._path = path
        self._part = path.with_name(path.name + ".part")

    def write(self, piece: bytes) -> None:
        """Add a piece."""
        self._file.write(piece)

    def keep(self) -> None:
        """Give it its name: it is whole."""
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


def pieces_of(path: Path) -> Iterator[bytes]:
    """Yield what is in a file."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def unreadable(path: Path | str, error: OSError) -> str:
    """Say why a file cannot be read."""
    if isinstance(error, FileNotFoundError):
        return f"{path}: there is no such file"
    return f"{path} cannot be read: {error.strerror}"


def read_manifest(path: Path) -> ArchiveManifest:
    """Return what an archive says about itself; ``InvalidInputError`` for what is none."""
    try:
        with ZipFile(path) as archive, archive.open(MANIFEST) as manifest:
            return ArchiveManifest.model_validate_json(manifest.read(MANIFEST_BYTES))
    except OSError as error:
        raise InvalidInputError(unreadable(path, error)) from None
    except (BadZipFile, KeyError, ValidationError):
        raise InvalidInputError(f"{path} is no archive of an agent") from None
