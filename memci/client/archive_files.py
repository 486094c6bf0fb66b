"""Reads and writes archives chunk by chunk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

from pydantic import ValidationError

from memci.errors import InvalidInputError, MemciError
from memci.schemas.archive import MANIFEST, MANIFEST_BYTES, ArchiveManifest

CHUNK_BYTES = 256 * 1024


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that gets its name, or replaces one, when the block ends without an error."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(path)
    except OSError as error:
        raise MemciError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


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
