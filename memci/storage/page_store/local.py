"""Page stores of this machine: a dictionary in the process, or files (P14).

A page store in a folder: one folder an agent, one file a version (P14).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from time import monotonic

from memci.errors import PageStoreError
from memci.storage.page_store.port import (
    TextKey,
    damaged_text_error,
    encode_text,
    no_text_error,
    parse_file_name,
    text_file_name,
)
from memci.storage.pages.texts import has_notes
from memci.storage.session import Database


class MemoryPageStore:
    """Loses its texts with the process; thread-safe."""

    def __init__(self) -> None:
        """Start empty."""
        self._texts: dict[TextKey, tuple[str, float]] = {}
        self._lock = Lock()

    def save(self, key: TextKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        text_file_name(key)
        encode_text(text)
        with self._lock:
            self._texts[key] = (text, monotonic())

    def load(self, key: TextKey) -> str:
        """Do as ``PageStore.load``."""
        text_file_name(key)
        with self._lock:
            if key not in self._texts:
                raise no_text_error(key)
            return self._texts[key][0]

    def delete(self, key: TextKey) -> None:
        """Do as ``PageStore.delete``."""
        text_file_name(key)
        with self._lock:
            self._texts.pop(key, None)

    def exists(self, key: TextKey) -> bool:
        """Do as ``PageStore.exists``."""
        text_file_name(key)
        with self._lock:
            return key in self._texts

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Do as ``PageStore.list``."""
        latest = monotonic() - older_s
        with self._lock:
            kept = list(self._texts.items())
        return iter([key for key, (_, at) in kept if key.agent_id == agent_id and at <= latest])


@dataclass(frozen=True, slots=True)
class FolderPresence:
    """Distinguishes a vanished folder from one that never existed.

    Otherwise an unmounted disk would look like an empty store, and new texts would be written to
    the mount point.
    """

    folder: Path
    database: Database

    def check(self, *, held: bool = False) -> None:
        """Create the folder before its first text; raises ``PageStoreError`` if it has vanished.

        ``held``: it has had texts. Otherwise all agents are searched for notes if it is missing.
        """
        if self.folder.is_dir():
            return
        if held or has_notes(self.database):
            raise PageStoreError(
                "the folder of pages' texts is not there, though pages have texts in it: mount the"
                " disk that it is on, bring it back from a back-up, or correct MEMCI_PAGE_STORE;"
                " to go on without these texts, make it anew, empty"
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise PageStoreError(
                f"the folder of pages' texts cannot be made ({error.strerror}): see that"
                " it can be written"
            ) from error


# Suffix of files that are not renamed yet; a crash leaves them behind.
_UNFINISHED = ".unfinished"
_BEGUN = re.compile(rf"\.[^.]*\{_UNFINISHED}$")


class FilePageStore:
    """Writes a temporary file, syncs and renames it, so that readers see all of a text or nothing.

    Folders are named by a digest: ids of agents are untrusted and may differ only by case.
    """

    def __init__(self, folder: Path, presence: FolderPresence | None = None) -> None:
        """Keep texts below ``folder``, created on demand.

        With ``presence`` a missing folder raises an error instead of looking like an empty store.
        """
        self.folder = folder
        self._presence = presence

    def save(self, key: TextKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        place, content = self._place(key), encode_text(text)
        try:
            self._write(place, content)
        except OSError as error:
            raise _failed(error) from error

    def load(self, key: TextKey) -> str:
        """Do as ``PageStore.load``."""
        try:
            return self._place(key).read_bytes().decode()
        except FileNotFoundError:
            raise no_text_error(key) from None
        except OSError as error:
            raise _failed(error) from error
        except UnicodeDecodeError:
            raise damaged_text_error(key) from None

    def delete(self, key: TextKey) -> None:
        """Do as ``PageStore.delete``."""
        place = self._place(key)
        if self._presence is not None:
            self._presence.check(held=True)
        try:
            for file in (place, *place.parent.glob(f"{place.name}.*{_UNFINISHED}")):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise _failed(error) from error

    def exists(self, key: TextKey) -> bool:
        """Do as ``PageStore.exists``."""
        try:
            self._place(key).stat()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _failed(error) from error
        return True

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Do as ``PageStore.list``.

        Old keys include files that a crashed writer left: they hold no text, but can be deleted.
        """
        if self._presence is not None:
            self._presence.check()
        latest = time.time() - older_s
        try:
            found = list(os.scandir(self._home(agent_id)))
        except FileNotFoundError:
            return iter(())
        except OSError as error:
            raise _failed(error) from error
        names = {file.name for file in found}
        if older_s:
            old = (file for file in found if _changed_at(file) <= latest)
            names = {_BEGUN.sub("", file.name) for file in old}
        keys = (parse_file_name(agent_id, name) for name in names)
        return iter([key for key in keys if key is not None])

    def _write(self, place: Path, content: bytes) -> None:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with NamedTemporaryFile(
            dir=place.parent, prefix=f"{place.name}.", suffix=_UNFINISHED, delete=False
        ) as file:
            beside = Path(file.name)
            try:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                beside.replace(place)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
        _keep_names(place.parent)

    def _home(self, agent_id: str) -> Path:
        return self.folder / sha256(agent_id.encode()).hexdigest()

    def _place(self, key: TextKey) -> Path:
        return self._home(key.agent_id) / text_file_name(key)


def _keep_names(folder: Path) -> None:
    """Sync the folder, so that its new names survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _changed_at(file: os.DirEntry[str]) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return float("inf")  # deleted meanwhile: not old


def _failed(error: OSError) -> PageStoreError:
    return PageStoreError(
        f"the folder of pages' texts cannot be used ({error.strerror}); nothing was changed: see"
        " that it can be written and has room, then try again"
    )
