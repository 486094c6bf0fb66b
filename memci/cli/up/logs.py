"""Where parts write to: a private file each."""

from __future__ import annotations

import os
from pathlib import Path

_LIMIT_BYTES = 10 * 1024 * 1024
_READ_BYTES = 64 * 1024


class PartLog:
    """A part's log, appended to from start to start; one that grew big is set aside."""

    def __init__(self, path: Path) -> None:
        """Take the file, which need not exist."""
        self.path = path
        self._start = 0

    def open(self) -> int:
        """Return a descriptor for a part that starts now."""
        if self.path.exists() and self.path.stat().st_size > _LIMIT_BYTES:
            self.path.replace(self.path.with_suffix(".old.log"))
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._start = os.lseek(descriptor, 0, os.SEEK_END)
        return descriptor

    def last_lines(self, count: int) -> list[str]:
        """Return the end of what was written since the last ``open``."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(self._start, end - _READ_BYTES))
            text = log.read().decode("utf-8", errors="replace")
        return [line for line in text.splitlines() if line.strip()][-count:]
