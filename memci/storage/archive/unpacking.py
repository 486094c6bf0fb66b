"""Reads an archive from outside; nothing in it is trusted before it is checked.

Names in it are looked up, never used as paths. Sizes are bounded before anything is unpacked, and
``zipfile`` unpacks no more of a file than its directory says.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import IO, Any, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, LargeZipFile, ZipFile, ZipInfo

from pydantic import ValidationError

from memci.domain.strict_json import NotStrictError, decode
from memci.errors import InvalidInputError, TooLargeError
from memci.schemas.archive import FORMAT_VERSION, MANIFEST, MANIFEST_BYTES, ArchiveManifest
from memci.storage.archive.row_checks import LineError, checked_row
from memci.storage.archive.tables import CARRIED, Carried

# The directory of an archive of ours is two kilobytes; compressed data is read in smaller pieces.
_MOST = 1024 * 1024


class BoundedReader:
    """What ``zipfile`` reads from: a directory that would fill the memory is not read at all."""

    def __init__(self, file: IO[bytes]) -> None:
        """Take a file that can seek."""
        self._file = file

    def read(self, size: int = -1) -> bytes:
        """Read ``size`` bytes, or all that is left; no more than a directory of ours could be."""
        if size > _MOST:
            raise InvalidInputError("the archive's directory is larger than any of memci's")
        found = self._file.read(_MOST + 1 if size < 0 else size)
        if len(found) > _MOST:
            raise InvalidInputError("the archive's directory is larger than any of memci's")
        return found

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the place."""
        return self._file.tell()

    def seekable(self) -> bool:
        """Tell that it can seek."""
        return True

    def close(self) -> None:
        """Leave the file open: it is its owner's."""


# A row with a message of the largest size, or a snapshot of the largest network, is well below.
_LONGEST_LINE = 32 * 1024 * 1024
# Lines of JSON are seldom packed to less than a tenth.
_TIMES = 32
_ENCRYPTED = 0x1
# All that zipfile raises for bytes that somebody has made up.
_DAMAGED = (BadZipFile, LargeZipFile, EOFError, KeyError, OSError, OverflowError, RuntimeError,
            ValueError, struct.error, zlib.error)  # fmt: skip


class Unpacking:
    """An archive whose directory and manifest are those of one of ours."""

    def __init__(self, archive: ZipFile, manifest: ArchiveManifest) -> None:
        """Use ``unpacked`` to get one."""
        self._zip = archive
        self.manifest = manifest

    def rows(self, entry: Carried) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Yield the rows of a table, each as its line and as what that says.

        Raises ``InvalidInputError`` that says where, at the end too: when there were more or
        fewer rows than the manifest says, or others.
        """
        number, digest = 0, sha256()
        told = self.manifest.tables[entry.name]
        with _damage_told(entry.file), self._zip.open(entry.file) as file:
            lines = io.BufferedReader(cast("io.RawIOBase", file), 64 * 1024)
            while line := lines.readline(_LONGEST_LINE + 1):
                number += 1
                if len(line) > _LONGEST_LINE or number > told.rows:
                    raise InvalidInputError(f"{entry.file}, line {number}: too long, or too many")
                digest.update(line)
                try:
                    yield line, checked_row(entry, line)
                except LineError as error:
                    raise InvalidInputError(f"{entry.file}, line {number}: {error}") from None
        if (number, digest.hexdigest()) != (told.rows, told.sha256):
            raise InvalidInputError(f"{entry.file} is not the file that the manifest tells of")


@contextmanager
def unpacked(file: IO[bytes], *, max_bytes: int) -> Iterator[Unpacking]:
    """Lend what is in an archive of at most ``max_bytes``.

    Raises ``InvalidInputError`` for what is none, or one of another version, and
    ``TooLargeError`` for one that would unpack to too much.
    """
    with _damage_told("the archive"):
        archive = ZipFile(cast("IO[bytes]", BoundedReader(file)))
    with archive:
        entries = archive.infolist()
        _check_directory(entries, max_bytes * _TIMES)
        with _damage_told(MANIFEST), archive.open(MANIFEST) as manifest:
            told = manifest.read(MANIFEST_BYTES + 1)
        yield Unpacking(archive, _manifest(told, {each.filename: each for each in entries}))


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


def _manifest(text: bytes, entries: dict[str, ZipInfo]) -> ArchiveManifest:
    if len(text) > MANIFEST_BYTES:
        raise InvalidInputError("manifest.json is longer than any of memci's")
    try:
        told = decode(text)
    except NotStrictError as error:
        raise InvalidInputError(f"manifest.json {error}") from None
    _check_version(told)
    try:
        manifest = ArchiveManifest.model_validate_json(text)
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
        raise InvalidInputError(f"manifest.json: {place} is not what it should be") from None
    tables = {each.name for each in CARRIED}
    files = {each.file for each in CARRIED}
    if manifest.tables.keys() != tables or entries.keys() - {MANIFEST} != files:
        raise InvalidInputError("the archive has not the files that one of its version has")
    for each in CARRIED:
        if entries[each.file].file_size != manifest.tables[each.name].bytes:
            raise InvalidInputError(f"{each.file} is not the file that the manifest tells of")
    return manifest


def _check_version(told: Any) -> None:
    """Look at the version first: nobody knows what a manifest of another one has."""
    if not isinstance(told, dict) or told.get("format") != "memci-agent":
        raise InvalidInputError("this is no archive of an agent: its manifest says otherwise")
    version = told.get("version")
    if version != FORMAT_VERSION:
        older = type(version) is int and version < FORMAT_VERSION
        raise InvalidInputError(
            f"the archive has format {version if type(version) is int else '?'}, and this release "
            f"reads format {FORMAT_VERSION}: upgrade the server that "
            f"{'made the archive, and export again' if older else 'is to import it'}"
        )


@contextmanager
def _damage_told(what: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGED:
        raise InvalidInputError(f"{what} is damaged, or no zip archive") from None
