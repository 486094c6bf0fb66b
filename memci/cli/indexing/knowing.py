"""Which folder a name of documents stands for, so that two of one name leave each other alone.

Kept on this computer: a path says nothing on another one. Without it, whoever calls a folder by
``--as`` says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from memci.cli.indexing.finding import Found
from memci.errors import ConflictError


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
