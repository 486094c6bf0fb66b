"""Page stores of this machine: a dictionary in the process, or files (P14)."""

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from time import monotonic

from memci.errors import PageStoreError
from memci.storage.page_store.named_texts import has_notes
from memci.storage.page_store.port import PageStore, TextKey, encode_text, parse_file_name
from memci.storage.session import Database


class MemoryPageStore(PageStore):
    """Loses its texts with the process; thread-safe."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], tuple[str, float]] = {}  # by agent and file name
        self._lock = Lock()

    def save(self, key: TextKey, text: str) -> None:
        encode_text(text)
        with self._lock:
            self._texts[key.agent_id, key.file_name] = text, monotonic()

    def load(self, key: TextKey) -> str:
        with self._lock:
            stored = self._texts.get((key.agent_id, key.file_name))
        if stored is None:
            raise key.not_found()
        return stored[0]

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        with self._lock:
            for key in keys:
                self._texts.pop((key.agent_id, key.file_name), None)

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        latest = monotonic() - older_s
        with self._lock:
            stored = list(self._texts.items())
        keys = [parse_file_name(*place) for place, (_, at) in stored if at <= latest]
        return iter([key for key in keys if key is not None and key.agent_id == agent_id])


# Suffix of files that are not renamed yet; a crash leaves them behind.
_UNFINISHED = ".unfinished"
_BEGUN = re.compile(rf"\.[^.]*\{_UNFINISHED}$")


class FilePageStore(PageStore):
    """Writes a temporary file, syncs and renames it, so that readers see all of a text or nothing.

    One folder an agent, one file a version. Folders are named by a digest: ids of agents are
    untrusted and may differ only by case.
    """

    is_remote = True

    def __init__(self, folder: Path, database: Database | None = None) -> None:
        """Keep texts below ``folder``; with ``database`` a vanished folder is an error.

        Otherwise an unmounted disk would look like an empty store, and new texts would be written
        to the mount point.
        """
        self._folder = folder
        self._database = database

    def save(self, key: TextKey, text: str) -> None:
        place, content = self._path(key), encode_text(text)
        with _os_errors():
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._write(place, content)
            # Sync the folder, so that its new names survive a power cut.
            handle = os.open(place.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def load(self, key: TextKey) -> str:
        with _os_errors():
            try:
                content = self._path(key).read_bytes()
            except FileNotFoundError:
                raise key.not_found() from None
        return key.decoded(content)

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        for place in map(self._path, keys):
            self._check_folder(has_texts=True)
            with _os_errors():
                for file in (place, *place.parent.glob(f"{place.name}.*{_UNFINISHED}")):
                    file.unlink(missing_ok=True)

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Do as ``PageStore.list``.

        Old keys include files that a crashed writer left: they hold no text, but can be deleted.
        """
        self.check()
        with _os_errors():
            try:
                files = list(os.scandir(self._home(agent_id)))
            except FileNotFoundError:
                return iter(())
        if older_s:
            latest = time.time() - older_s
            names = {_BEGUN.sub("", file.name) for file in files if _changed_at(file) <= latest}
        else:
            names = {file.name for file in files}
        keys = (parse_file_name(agent_id, name) for name in names)
        return iter([key for key in keys if key is not None])

    def check(self) -> None:
        self._check_folder()

    def _check_folder(self, *, has_texts: bool = False) -> None:
        """Create the folder before its first text, or raise ``PageStoreError`` if it vanished.

        It has vanished if it is missing and ``has_texts``, or if any agent has notes.
        """
        if self._database is None or self._folder.is_dir():
            return
        if has_texts or has_notes(self._database):
            raise PageStoreError(
                "the folder of pages' texts is not there, though pages have texts in it: mount the"
                " disk that it is on, bring it back from a back-up, or correct MEMCI_PAGE_STORE;"
                " to go on without these texts, make it anew, empty"
            )
        with _os_errors():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @staticmethod
    def _write(place: Path, content: bytes) -> None:
        with NamedTemporaryFile(
            dir=place.parent, prefix=f"{place.name}.", suffix=_UNFINISHED, delete=False
        ) as file:
            unfinished = Path(file.name)
            try:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                unfinished.replace(place)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise

    def _home(self, agent_id: str) -> Path:
        return self._folder / sha256(agent_id.encode()).hexdigest()

    def _path(self, key: TextKey) -> Path:
        return self._home(key.agent_id) / key.file_name


def _changed_at(file: os.DirEntry[str]) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return float("inf")  # deleted meanwhile: not old


@contextmanager
def _os_errors() -> Iterator[None]:
    """Turn errors of the file system into ``PageStoreError``."""
    try:
        yield
    except OSError as error:
        raise PageStoreError(
            f"the folder of pages' texts cannot be used ({error.strerror}); nothing was changed:"
            " see that it can be written and has room, then try again"
        ) from error
