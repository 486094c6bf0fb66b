"""Uploads new and changed documents, and removes those whose files are gone.

Kept on this computer: a path says nothing on another one. Without it, whoever calls a folder by
``--as`` says so.
"""

import hashlib
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from memci.cli.indexing.file_search import Found
from memci.client import Agent
from memci.client import Collection as DocumentCollection
from memci.domain.documents import DocumentState, check_name
from memci.errors import ConflictError, InvalidInputError, NotFoundError
from memci.schemas.documents import DocumentOut


def gone_of(held: Collection[str], found: Found) -> list[str]:
    """Return those of these names that are of the folders found, and whose files are gone.

    What cannot be looked at is noted in ``found`` and is not among them. Raises
    ``InvalidInputError`` where nothing is left of a folder: a disk may not be there right now.
    """
    gone = []
    for prefix, root in found.roots.items():
        missing = [each for each in held if each.startswith(prefix) and each not in found.files]
        if missing and not any(each.startswith(prefix) for each in (*found.files, *found.skipped)):
            raise InvalidInputError(
                f"{root} has no files, and {len(missing)} documents: if they are to go, say "
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
    """Tell whether a folder on the way to a file is there and cannot be looked into."""
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
    """What was done, by names; ``refused`` and ``failed`` say why, ``waiting`` are document ids.

    ``tried_again``: what workers have refused before, and has not changed.
    """

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    tried_again: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    waiting: dict[int, str] = field(default_factory=dict)


def documents_of(where: Where, prefix: str = "") -> Iterator[DocumentOut]:
    """Yield all documents whose names begin so; none, where there is nobody yet."""
    cursor: str | None = None
    try:
        while True:
            page = where.documents(prefix=prefix, cursor=cursor, limit=_LISTED)
            yield from page.documents
            cursor = page.next_cursor
            if cursor is None:
                return
    except NotFoundError:
        return


def has_documents(where: Where, prefix: str) -> bool:
    """Tell whether there is a document whose name begins so."""
    return next(documents_of(where, prefix), None) is not None


def send(where: Where, found: Found, on_progress: Callable[[str], None]) -> Sent:
    """Send files whose content is not there yet; one that is refused stops no other.

    Documents below the named folders that have no file any more are removed; of a file that cannot
    be read now the document stays. Raises ``InvalidInputError`` where all of a folder's would go.
    """
    sent = Sent()
    held = {each.name: each for each in documents_of(where)}
    gone = gone_of(held, found)
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
            kept = where.add_document(name, body)
        except (InvalidInputError, OSError) as error:
            sent.refused[name] = str(error)
            continue
        told = sent.new if known is None else sent.tried_again if same else sent.changed
        told.append(name)
        sent.waiting[kept.id] = name
    for name in gone:
        with suppress(NotFoundError):  # somebody else has removed it
            where.remove_document(held[name].id)
        sent.removed.append(name)
    return sent


def wait(
    where: Where, sent: Sent, timeout_s: float, on_progress: Callable[[str], None]
) -> list[DocumentOut]:
    """Wait until workers are done with what was sent; note what they have refused."""
    done = []
    for document_id, name in sent.waiting.items():
        on_progress(name)
        ended = where.wait_document(document_id, timeout_s=timeout_s)
        done.append(ended)
        if ended.state is DocumentState.FAILED:
            sent.failed[name] = ended.error or "the workers' logs say why"
    return done


class KnownFolders:
    """Folders that were indexed from here, of one owner on one server."""

    def __init__(self, folder: Path, owner: str) -> None:
        """Keep them in ``folder``; ``owner`` says whose documents, and on which server."""
        self._folder = folder
        self._owner = owner

    def check(self, found: Found, is_used: Callable[[str], bool], *, called: bool) -> None:
        """Note what the folders found are called.

        Raises ``ConflictError`` where there are documents of that name (``is_used``) that may be
        another folder's; ``called``: somebody says that they are this one's.
        """
        for prefix, root in found.roots.items():
            known = self._known(prefix)
            if known != str(root) and not called and is_used(prefix):
                name = prefix.removesuffix("/")
                raise ConflictError(
                    f"there are documents {prefix}… of "
                    f"{known or 'a folder that was not indexed from here'}: say --as {name} if "
                    "this is the same one, or another name with --as NAME"
                )
            self._note(prefix, root)

    def _known(self, prefix: str) -> str | None:
        try:
            return self._place(prefix).read_text(errors="surrogateescape")
        except OSError:
            return None

    def _note(self, prefix: str, root: Path) -> None:
        with suppress(OSError):  # who may not write here says --as the next time
            for folder in (self._folder.parent, self._folder):  # servers may come to live beside it
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._place(prefix).write_text(str(root), errors="surrogateescape")

    def _place(self, prefix: str) -> Path:
        key = f"{self._owner}\0{prefix}".encode(errors="surrogateescape")
        return self._folder / hashlib.sha256(key).hexdigest()[:32]
