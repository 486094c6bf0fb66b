"""A file of somebody else's, looked into without ever holding much of it in memory."""

from __future__ import annotations

import os
from typing import IO

from memci.errors import InvalidInputError

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
