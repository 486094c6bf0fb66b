"""Texts of notes as files: one folder an agent, one file a version."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

from memci.errors import NotFoundError, PageStoreError
from memci.storage.page_store.port import BodyKey

_FILE = re.compile(r"(?P<page>[a-z][a-z0-9_]{0,31}-\d{1,15})\.(?P<version>\d{1,18})\.txt")


class FilePageStore:
    """Writes beside and renames, so that a reader sees all of a text or nothing.

    Agents' ids are untrusted and may differ by case alone, so that folders are named by a digest.
    """

    def __init__(self, folder: Path) -> None:
        """Keep them below ``folder``, which is made if need be."""
        self._folder = folder

    def save(self, key: BodyKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        place = self._place(key)
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with NamedTemporaryFile(dir=place.parent, delete=False) as file:
                beside = Path(file.name)
                try:
                    file.write(text.encode())
                    file.flush()
                    os.fsync(file.fileno())
                    beside.replace(place)
                except BaseException:
                    beside.unlink(missing_ok=True)
                    raise
        except OSError as error:
            raise PageStoreError from error

    def load(self, key: BodyKey) -> str:
        """Do as ``PageStore.load``."""
        try:
            return self._place(key).read_bytes().decode()
        except FileNotFoundError:
            raise NotFoundError(f"page {key.page} has no text of version {key.version}") from None
        except OSError as error:
            raise PageStoreError from error

    def delete(self, key: BodyKey) -> None:
        """Do as ``PageStore.delete``."""
        try:
            self._place(key).unlink(missing_ok=True)
        except OSError as error:
            raise PageStoreError from error

    def exists(self, key: BodyKey) -> bool:
        """Do as ``PageStore.exists``."""
        return self._place(key).exists()

    def list(self, agent_id: str) -> Iterator[BodyKey]:
        """Do as ``PageStore.list``."""
        try:
            found = list(self._home(agent_id).iterdir())
        except FileNotFoundError:
            return
        except OSError as error:
            raise PageStoreError from error
        for file in found:
            match = _FILE.fullmatch(file.name)
            if match:
                yield BodyKey(agent_id, match["page"], int(match["version"]))

    def _home(self, agent_id: str) -> Path:
        return self._folder / sha256(agent_id.encode()).hexdigest()

    def _place(self, key: BodyKey) -> Path:
        name = f"{key.page}.{key.version}.txt"
        if not _FILE.fullmatch(name):
            raise NotFoundError(f"there is no page {key.page[:40]!r}")
        return self._home(key.agent_id) / name
