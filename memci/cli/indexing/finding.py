"""The files below a folder, without those that git ignores."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from memci.cli.indexing.skipping import Skip, is_secret, why_skipped
from memci.errors import InvalidInputError

# Where there is no repository that says so: made by tools, and read by them.
_NEVER = frozenset({
    ".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", ".idea", ".vscode", "dist", "build", "target", ".next",
    ".cache",
})  # fmt: skip
_GIT_S = 60


@dataclass(frozen=True, slots=True)
class Found:
    """Files to send, by the names that their documents have, and those left out, with why.

    ``roots``: what names of documents begin with that are from here: such as have no file any more
    are removed.
    """

    files: dict[str, Path] = field(default_factory=dict)
    skipped: dict[str, Skip] = field(default_factory=dict)
    roots: list[str] = field(default_factory=list)


def find(path: Path, found: Found, *, called: str | None, max_bytes: int) -> None:
    """Add a file, or what is below a folder.

    A document is called after the folder that was named, whatever the working directory is:
    ``guide/install.md``; ``called`` names that folder otherwise. Raises ``InvalidInputError`` for
    what is not there.
    """
    if not path.exists():
        raise InvalidInputError(f"{path}: there is no such file or folder", field="path")
    root = path.resolve()
    name = called or root.name or "root"
    if not root.is_dir():
        _add(root, name, found, max_bytes)
        return
    found.roots.append(f"{name}/")
    listed = _inside(root)
    for inner in sorted(listed):
        file = root / inner
        document = f"{name}/{inner.as_posix()}"
        # What a link leads to must be one of the files itself: not outside, ignored or secret.
        if file.is_symlink() and not _is_listed(file.resolve(), root, listed):
            found.skipped[document] = Skip.LINK
        elif file.is_file():
            _add(file, document, found, max_bytes)


def _is_listed(target: Path, root: Path, listed: set[Path]) -> bool:
    return (
        target.is_relative_to(root)
        and target.relative_to(root) in listed
        and not is_secret(target.name)
    )


def _add(file: Path, document: str, found: Found, max_bytes: int) -> None:
    skip = why_skipped(file, max_bytes=max_bytes)
    if skip is not None:
        found.skipped[document] = skip
    else:
        found.files[document] = file


def _inside(root: Path) -> set[Path]:
    """Return the paths of files below a folder that are not ignored, relative to it."""
    listed = _of_git(root)
    return set(_walk(root)) if listed is None else listed


def _of_git(root: Path) -> set[Path] | None:
    """Return what git knows or would add; None where there is no repository, or no git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
             "--exclude-standard", "--deduplicate"],
            capture_output=True, timeout=_GIT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    return {Path(os.fsdecode(each)) for each in done.stdout.split(b"\0") if each}


def _walk(root: Path) -> Iterator[Path]:
    """Walk through a folder that no git knows, with the .gitignore files that there are."""
    specs: dict[Path, GitIgnoreSpec] = {}
    for here, folders, files in os.walk(root):
        folder = Path(here)
        if ".gitignore" in files:
            rules = (folder / ".gitignore").read_text(errors="replace").splitlines()
            specs[folder] = GitIgnoreSpec.from_lines(rules)
        folders[:] = sorted(
            each
            for each in folders
            if each not in _NEVER and not _is_ignored(folder / each, root, specs, "/")
        )
        for each in files:
            if not _is_ignored(folder / each, root, specs, ""):
                yield (folder / each).relative_to(root)


def _is_ignored(path: Path, root: Path, specs: dict[Path, GitIgnoreSpec], ending: str) -> bool:
    above = [path.parent, *path.parent.parents]
    inside = above[: above.index(root) + 1]
    return any(
        specs[folder].match_file(path.relative_to(folder).as_posix() + ending)
        for folder in inside
        if folder in specs
    )
