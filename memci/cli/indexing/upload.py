"""Uploads new and changed documents, and removes those whose files are gone.

The paths of indexed folders are stored on this computer.
"""

import hashlib
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from memci.cli.connection import every_page
from memci.cli.indexing.file_finder import Found
from memci.client import Agent
from memci.client import Collection as DocumentCollection
from memci.domain.documents import DocumentState, check_name
from memci.errors import ConflictError, InvalidInputError, NotFoundError
from memci.schemas.documents import DocumentOut


def names_without_file(names: Collection[str], found: Found) -> list[str]:
    """Return the names of documents in the found folders whose files no longer exist.

    Files in unreadable folders are noted in ``found`` instead. Raises ``InvalidInputError`` for a
    folder without any file: its disk may be missing at the moment.
    """
    gone = []
    for prefix, root in found.roots.items():
        missing = [each for each in names if each.startswith(prefix) and each not in found.files]
        if missing and not any(each.startswith(prefix) for each in (*found.files, *found.skipped)):
            raise InvalidInputError(
                f"{root} has no files, and {len(missing)} documents: to remove them, use "
                f"`memci documents remove {prefix}`"
            )
        for name in missing:
            if _is_unread(name, found):
                continue
            if _is_hidden(root, PurePosixPath(name.removeprefix(prefix))):
                found.leave_unread(name)
            else:
                gone.append(name)
    return gone


def _is_unread(name: str, found: Found) -> bool:
    return any(
        name.startswith(each) if each.endswith("/") else name == each for each in found.unread
    )


def _is_hidden(root: Path, inner: PurePosixPath) -> bool:
    """Return True if a folder above a file exists and cannot be listed."""
    for folder in reversed(inner.parents):
        try:
            with os.scandir(root / folder):
                pass
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
    return False


Where: TypeAlias = Agent | DocumentCollection
_LISTED = 500


@dataclass(slots=True)
class Sent:
    """Results of an upload, by names of documents."""

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    tried_again: list[str] = field(default_factory=list)  # failed before, unchanged since
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)  # with the reasons
    failed: dict[str, str] = field(default_factory=dict)  # with the reasons
    waiting: dict[int, str] = field(default_factory=dict)  # names, by document id


def documents_of(where: Where, prefix: str = "") -> Iterator[DocumentOut]:
    """Yield the documents whose names begin with ``prefix``; none for an unknown owner."""
    with suppress(NotFoundError):
        for page in every_page(lambda at: where.documents(prefix=prefix, cursor=at, limit=_LISTED)):
            yield from page.documents


def has_documents(where: Where, prefix: str) -> bool:
    """Return True if the name of a document begins with ``prefix``."""
    return next(documents_of(where, prefix), None) is not None


def send(where: Where, found: Found, on_progress: Callable[[str], None]) -> Sent:
    """Send new and changed files, then remove the documents whose files no longer exist.

    A refused file does not stop the others. Raises as ``names_without_file``.
    """
    sent = Sent()
    held = {each.name: each for each in documents_of(where)}
    gone = names_without_file(held, found)
    for name, path in found.files.items():
        on_progress(name)
        try:
            body = path.read_bytes()
            known = held.get(check_name(name))
            same = known is not None and known.digest == hashlib.sha256(body).hexdigest()
            if known is not None and same and known.state is not DocumentState.FAILED:
                sent.unchanged += 1
                if known.state is not DocumentState.READY:
                    sent.waiting[known.id] = name
                continue
            added = where.add_document(name, body)
        except (InvalidInputError, OSError) as error:
            sent.refused[name] = str(error)
            continue
        names = sent.new if known is None else sent.tried_again if same else sent.changed
        names.append(name)
        sent.waiting[added.id] = name
    for name in gone:
        with suppress(NotFoundError):  # somebody else has removed it
            where.remove_document(held[name].id)
        sent.removed.append(name)
    return sent


def wait(where: Where, sent: Sent, timeout_s: float, on_progress: Callable[[str], None]) -> None:
    """Wait until workers have read the sent documents; note those that failed."""
    for document_id, name in sent.waiting.items():
        on_progress(name)
        ended = where.wait_document(document_id, timeout_s=timeout_s)
        if ended.state is DocumentState.FAILED:
            sent.failed[name] = ended.error or "the workers' logs say why"


class KnownFolders:
    """Folders indexed from this computer for one owner on one server."""

    def __init__(self, folder: Path, owner: str) -> None:
        """Store them in ``folder``; ``owner`` identifies the server and the owner."""
        self._folder = folder
        self._owner = owner

    def check(self, found: Found, is_used: Callable[[str], bool], *, called: bool) -> None:
        """Note the names of the found folders.

        Raises ``ConflictError`` if documents of that name exist (``is_used``) and may belong to
        another folder; ``called``: the user has confirmed the name.
        """
        for prefix, root in found.roots.items():
            known = self._known(prefix)
            if known != str(root) and not called and is_used(prefix):
                name = prefix.removesuffix("/")
                raise ConflictError(
                    f"there are documents {prefix}… of "
                    f"{known or 'a folder that was not indexed from here'}: use --as {name} if "
                    "this is the same folder, or another name with --as NAME"
                )
            self._note(prefix, root)

    def _known(self, prefix: str) -> str | None:
        try:
            return self._place(prefix).read_text(errors="surrogateescape")
        except OSError:
            return None

    def _note(self, prefix: str, root: Path) -> None:
        with suppress(OSError):  # without it, --as is needed the next time
            for folder in (self._folder.parent, self._folder):  # the data folder, then this one
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._place(prefix).write_text(str(root), errors="surrogateescape")

    def _place(self, prefix: str) -> Path:
        key = f"{self._owner}\0{prefix}".encode(errors="surrogateescape")
        return self._folder / hashlib.sha256(key).hexdigest()[:32]
