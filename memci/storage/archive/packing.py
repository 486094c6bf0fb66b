"""Writing an archive: a zip of JSON lines, one file a table, and a manifest."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from memci.shapes.archive import MANIFEST, ArchiveFile, ArchiveManifest

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
