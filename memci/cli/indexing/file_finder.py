"""Finds the files of a folder to index: no secrets, no binary files, none that git ignores."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from pathspec import GitIgnoreSpec

from memci.domain.documents import check_name
from memci.errors import InvalidInputError


class Skip(StrEnum):
    """Why a file is left out, in words for people."""

    SECRET = "looks like a secret"  # noqa: S105 - words for people
    GENERATED = "written by a tool"
    OF_GIT = "file for git, such as .gitignore"
    BINARY = "neither text nor a document"
    LARGE = "larger than MEMCI_HTTP_MAX_DOCUMENT_BYTES"
    EMPTY = "empty"
    LINK = "a link to another place"
    SAME = "same name as another file"
    UNREADABLE = "cannot be read; its indexed text stays"


_SECRETS = (
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
    "*.ppk", "*.gpg", "*.asc", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc",
    ".npmrc", ".pypirc", ".htpasswd", ".pgpass", ".git-credentials", "credentials",
    "credentials.json", "secrets.json", "secrets.y*ml", "secrets.toml", "*.tfstate", "*.tfvars",
    "service-account*.json", "kubeconfig",
)  # fmt: skip
# Examples hold no values.
_EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", "*.pub")
# The first bytes of formats other than text that are read.
_PDF, _ZIP = b"%PDF-", b"PK\x03\x04"
_ZIPPED = frozenset({".docx", ".pptx", ".xlsx", ".docm", ".pptm", ".xlsm", ".epub"})
_GENERATED = ("package-lock.json", "*.lock", "pnpm-lock.yaml", "go.sum", "*.min.js", "*.min.css")
_OF_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules", ".gitkeep"})
_LOOKED_AT = 8 * 1024


def is_secret(name: str) -> bool:
    """Return True if a file of this name may hold keys or passwords."""
    small = name.lower()
    if any(fnmatchcase(small, each) for each in _EXAMPLES):
        return False
    return any(fnmatchcase(small, each) for each in _SECRETS)


def why_skipped(path: Path, *, max_bytes: int) -> Skip | None:
    """Return why a file is left out; None if it is sent."""
    if is_secret(path.name) or path.name in _OF_GIT:
        return Skip.OF_GIT if path.name in _OF_GIT else Skip.SECRET
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            begin = file.read(_LOOKED_AT)
    except OSError:
        return Skip.UNREADABLE
    if not begin.strip():
        return Skip.EMPTY
    if size > max_bytes:
        return Skip.LARGE
    if any(fnmatchcase(path.name.lower(), each) for each in _GENERATED):
        return Skip.GENERATED
    return None if _may_be_read(path, begin) else Skip.BINARY


def _may_be_read(path: Path, begin: bytes) -> bool:
    if begin.startswith((_PDF, _ZIP)):
        return begin.startswith(_PDF) or path.suffix.lower() in _ZIPPED
    from memci.extraction.decoding import may_be_text

    return may_be_text(begin)


# Folders that are skipped outside repositories: written by tools.
_NEVER = frozenset({
    ".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", ".idea", ".vscode", "dist", "build", "target", ".next",
    ".cache",
})  # fmt: skip
_GIT_S = 60
# These folders are not reported as ignored.
_VCS_FOLDERS = frozenset({".git", ".hg", ".svn"})
_KNOWN = ("--cached", "--deduplicate")
_IGNORED = ("--ignored", "--directory")  # an ignored folder is one line


@dataclass(frozen=True, slots=True)
class Found:
    """Files to send, and files that are left out."""

    # By the name of the document.
    files: dict[str, Path] = field(default_factory=dict)
    skipped: dict[str, Skip] = field(default_factory=dict)
    # Indexed folders, by the prefix of their documents' names.
    roots: dict[str, Path] = field(default_factory=dict)
    # Unreadable files by name, and folders by prefix, which ends with a slash; may still exist.
    unread: set[str] = field(default_factory=set)
    # Files and whole folders that git ignores.
    ignored: set[Path] = field(default_factory=set)

    def leave_unread(self, name: str) -> None:
        """Note an unreadable file or folder; its documents are kept."""
        self.skipped[name] = Skip.UNREADABLE
        self.unread.add(_document_name(name))


def find(path: Path, found: Found, *, called: str | None, max_bytes: int) -> None:
    """Add a file, or the files below a folder.

    Names of documents begin with the folder's name, such as ``guide/install.md``; ``called``
    replaces it. Raises ``InvalidInputError`` for a path that is missing or no file or folder, such
    as a named pipe, and for two folders of one name.
    """
    try:
        root = path.resolve(strict=True)
        is_folder, is_file = root.is_dir(), root.is_file()
    except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself
        raise InvalidInputError(
            f"{path}: there is no such file or folder, or it cannot be read", field="path"
        ) from error
    if not (is_folder or is_file):
        raise InvalidInputError(
            f"{path}: only folders and regular files are indexed, no pipes and devices",
            field="path",
        )
    name = check_name((called or root.name).strip("/") or "root")
    if is_file:
        _add(root, name, found, max_bytes)
        return
    _add_root(f"{name}/", root, found)
    listed = _files_below(root, f"{name}/", found)
    for inner in sorted(listed):
        file, document = root / inner, f"{name}/{inner.as_posix()}"
        try:
            # A link must lead to a listed file: not outside, ignored or secret.
            if file.is_symlink() and not _is_listed(file.resolve(), root, listed):
                found.skipped[document] = Skip.LINK
            elif file.is_file():
                _add(file, document, found, max_bytes)
        except (OSError, RuntimeError):
            found.leave_unread(document)


def _add_root(prefix: str, root: Path, found: Found) -> None:
    if found.roots.setdefault(prefix, root) != root:
        raise InvalidInputError(
            f"{found.roots[prefix]} and {root} are both called {prefix[:-1]}: index them one by "
            "one, and give one of them another name with --as NAME"
        )


def _document_name(name: str) -> str:
    """Return the name of a file's document; the file's name if that is invalid."""
    try:
        return check_name(name)
    except InvalidInputError:
        return name


def _is_listed(target: Path, root: Path, listed: set[Path]) -> bool:
    return (
        target.is_relative_to(root)
        and target.relative_to(root) in listed
        and not is_secret(target.name)
    )


def _add(file: Path, name: str, found: Found, max_bytes: int) -> None:
    skip, document = why_skipped(file, max_bytes=max_bytes), _document_name(name)
    if skip is Skip.UNREADABLE:
        found.leave_unread(name)
    elif skip is not None:
        found.skipped[name] = skip
    elif found.files.setdefault(document, file) != file:
        found.skipped[name] = Skip.SAME


def _files_below(root: Path, prefix: str, found: Found) -> set[Path]:
    """Return the relative paths of the files below a folder that are not ignored."""
    listed = _git_files(root)
    if listed is not None:
        found.ignored.update(root / each for each in _git_files(root, *_IGNORED) or ())
        return listed
    unread: list[Path] = []
    walked = set(_walk(root, unread, found.ignored))
    for each in unread:
        found.leave_unread(f"{prefix}{each.as_posix()}/" if each.parts else prefix)
    return walked


def _git_files(root: Path, *which: str) -> set[Path] | None:
    """Return the files that git tracks or would add; None without a repository or git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--others", "--exclude-standard",
             *(which or _KNOWN)],
            capture_output=True, timeout=_GIT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    return {Path(os.fsdecode(each)) for each in done.stdout.split(b"\0") if each}


def _walk(root: Path, unread: list[Path], ignored: set[Path]) -> Iterator[Path]:
    """Yield the files below a folder outside git, by its .gitignore files.

    Adds folders whose list or .gitignore is unreadable to ``unread``, and ignored files and whole
    folders to ``ignored``.
    """

    def leave(error: OSError) -> None:
        unread.append(Path(str(error.filename)).relative_to(root))

    specs: dict[Path, GitIgnoreSpec] = {}
    for here, folders, files in os.walk(root, onerror=leave):
        folder = Path(here)
        if ".gitignore" in files:
            rules = _rules(folder / ".gitignore")
            if rules is None:
                unread.append(folder.relative_to(root))
                folders.clear()
                continue
            specs[folder] = GitIgnoreSpec.from_lines(rules)
        kept = [
            each
            for each in folders
            if each not in _NEVER and not _is_ignored(folder / each, root, specs, "/")
        ]
        ignored.update(folder / each for each in folders if each not in {*kept, *_VCS_FOLDERS})
        folders[:] = sorted(kept)
        for each in files:
            if _is_ignored(folder / each, root, specs, ""):
                ignored.add(folder / each)
            else:
                yield (folder / each).relative_to(root)


def _rules(path: Path) -> list[str] | None:
    """Return the lines of a .gitignore; None if it cannot be read or is no regular file."""
    try:
        return path.read_text(errors="replace").splitlines() if path.is_file() else None
    except OSError:
        return None


def _is_ignored(path: Path, root: Path, specs: dict[Path, GitIgnoreSpec], ending: str) -> bool:
    above = [path.parent, *path.parent.parents]
    inside = above[: above.index(root) + 1]
    return any(
        specs[folder].match_file(path.relative_to(folder).as_posix() + ending)
        for folder in inside
        if folder in specs
    )
