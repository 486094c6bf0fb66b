"""Reads an archive; trusts nothing in it before it is checked.

Names in it are looked up, never used as paths. Sizes are limited before anything is unpacked, and
``zipfile`` unpacks no more of a file than its directory says.
"""

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import IO, Any, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, LargeZipFile, ZipFile, ZipInfo

from pydantic import ValidationError
from sqlalchemy import Table

from memci.domain.strict_json import NotStrictError, decode
from memci.errors import InvalidInputError, TooLargeError
from memci.schemas.archive import FORMAT_VERSION, MANIFEST, MANIFEST_BYTES, ArchiveManifest
from memci.storage.archive.export import EXPORTED_TABLES, file_of
from memci.storage.archive.row_checks import LineError, checked_row

# The directory of a valid archive has two kilobytes; compressed data is read in smaller pieces.
_MOST_READ = 1024 * 1024
# A row with the largest message or a snapshot of the largest network is much shorter.
LONGEST_LINE = 32 * 1024 * 1024
# Lines of JSON are rarely compressed to less than a tenth.
MOST_UNPACKED_TIMES = 32
_ENCRYPTED = 0x1
# The errors that zipfile raises for invalid bytes.
_DAMAGED = (BadZipFile, LargeZipFile, EOFError, KeyError, OSError, OverflowError, RuntimeError,
            ValueError, struct.error, zlib.error)  # fmt: skip


class _BoundedFile:
    """A file for ``zipfile`` that refuses to read a directory too large for memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._read = file.read
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """Read ``size`` bytes, or all that is left up to the limit."""
        found = b"" if size > _MOST_READ else self._read(_MOST_READ + 1 if size < 0 else size)
        if max(size, len(found)) > _MOST_READ:
            raise InvalidInputError("the archive's directory is larger than any of memci's")
        return found


class OpenArchive:
    """An archive with a checked directory and manifest."""

    def __init__(self, archive: ZipFile, manifest: ArchiveManifest) -> None:
        """Use ``open_archive`` to get one."""
        self._zip = archive
        self.manifest = manifest

    def rows(self, table: Table) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Yield the rows of a table, each as its line and its values.

        Raises ``InvalidInputError`` with the place; at the end, too, if the number or the digest of
        the rows is not that of the manifest.
        """
        number, digest, name = 0, sha256(), file_of(table)
        expected = self.manifest.tables[table.name]
        with _refuse_damage(name), self._zip.open(name) as file:
            lines = io.BufferedReader(cast("io.RawIOBase", file), 64 * 1024)
            while line := lines.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE or number > expected.rows:
                    raise InvalidInputError(f"{name}, line {number}: too long, or too many")
                digest.update(line)
                try:
                    yield line, checked_row(table, line)
                except LineError as error:
                    raise InvalidInputError(f"{name}, line {number}: {error}") from None
        if (number, digest.hexdigest()) != (expected.rows, expected.sha256):
            raise InvalidInputError(f"{name} is not the file that the manifest names")


@contextmanager
def open_archive(file: IO[bytes], *, max_bytes: int) -> Iterator[OpenArchive]:
    """Open an archive of at most ``max_bytes``.

    Raises ``InvalidInputError`` for another kind of file or another version, and ``TooLargeError``
    for an archive that would unpack to too many bytes.
    """
    with _refuse_damage("the archive"):
        archive = ZipFile(cast("IO[bytes]", _BoundedFile(file)))
    with archive:
        entries = archive.infolist()
        _check_directory(entries, max_bytes * MOST_UNPACKED_TIMES)
        with _refuse_damage(MANIFEST), archive.open(MANIFEST) as opened:
            text = opened.read(MANIFEST_BYTES + 1)
        manifest = _read_manifest(text)
        sizes = {entry.filename: entry.file_size for entry in entries}
        files = {file_of(table) for table in EXPORTED_TABLES}
        tables = {table.name for table in EXPORTED_TABLES}
        if manifest.tables.keys() != tables or sizes.keys() - {MANIFEST} != files:
            raise InvalidInputError("the archive has not the files that one of its version has")
        for table in EXPORTED_TABLES:
            if sizes[file_of(table)] != manifest.tables[table.name].bytes:
                raise InvalidInputError(f"{file_of(table)} is not the file that the manifest names")
        yield OpenArchive(archive, manifest)


def _check_directory(entries: list[ZipInfo], most: int) -> None:
    names = [each.filename for each in entries]
    if MANIFEST not in names:
        raise InvalidInputError("this is no archive of an agent: it has no manifest.json")
    if len(names) != len(set(names)):
        raise InvalidInputError("the archive has two files of one name")
    for entry in entries:
        if entry.flag_bits & _ENCRYPTED or entry.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
            raise InvalidInputError("the archive has a file that is encrypted, or not deflated")
    if sum(each.file_size for each in entries) > most:
        raise TooLargeError(f"the archive would unpack to more than {most} bytes")


def _read_manifest(text: bytes) -> ArchiveManifest:
    if len(text) > MANIFEST_BYTES:
        raise InvalidInputError("manifest.json is longer than any of memci's")
    try:
        found = decode(text)
    except NotStrictError as error:
        raise InvalidInputError(f"manifest.json {error}") from None
    # The version first: the manifest of another version may differ.
    if not isinstance(found, dict) or found.get("format") != "memci-agent":
        raise InvalidInputError("this is no archive of an agent: its manifest says otherwise")
    version = found.get("version")
    if version != FORMAT_VERSION:
        is_older = type(version) is int and version < FORMAT_VERSION
        raise InvalidInputError(
            f"the archive has format {version if type(version) is int else '?'}, and this release "
            f"reads format {FORMAT_VERSION}: upgrade the server that "
            f"{'made the archive, and export again' if is_older else 'is to import it'}"
        )
    try:
        return ArchiveManifest.model_validate_json(text)
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
        raise InvalidInputError(f"manifest.json: {place} is not what it should be") from None


@contextmanager
def _refuse_damage(name: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGED:
        raise InvalidInputError(f"{name} is damaged, or no zip archive") from None
