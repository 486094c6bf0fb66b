"""Which documents have no file any more, as far as anybody can tell."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from memci.cli.indexing.finding import Found
from memci.errors import InvalidInputError


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
                f"`memci unindex {prefix}`"
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
