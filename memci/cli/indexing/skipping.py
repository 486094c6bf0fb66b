"""Files that are not sent: secrets, what is no text, what is too large."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path


class Skip(StrEnum):
    """Why a file is left out, in words for people."""

    SECRET = "looks like a secret"  # noqa: S105 - words for people
    GENERATED = "written by a tool"
    OF_GIT = "what git is told"
    BINARY = "no text and no document"
    LARGE = "larger than MEMCI_MAX_DOCUMENT_BYTES"
    EMPTY = "empty"
    LINK = "a link that leads elsewhere"
    SAME = "called as another file is"
    UNREADABLE = "cannot be read; what was indexed of it stays"


_SECRETS = (
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
    "*.ppk", "*.gpg", "*.asc", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc",
    ".npmrc", ".pypirc", ".htpasswd", ".pgpass", ".git-credentials", "credentials",
    "credentials.json", "secrets.json", "secrets.y*ml", "secrets.toml", "*.tfstate", "*.tfvars",
    "service-account*.json", "kubeconfig",
)  # fmt: skip
# They show which names there are, and no values.
_EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", "*.pub")
# What begins so is read although it is no text.
_DOCUMENTS: Mapping[bytes, str] = {b"%PDF-": "pdf", b"PK\x03\x04": "zip"}
_ZIPPED = frozenset({".docx", ".pptx", ".xlsx", ".docm", ".pptm", ".xlsm", ".epub"})
_GENERATED = ("package-lock.json", "*.lock", "pnpm-lock.yaml", "go.sum", "*.min.js", "*.min.css")
_OF_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules", ".gitkeep"})
_LOOKED_AT = 8 * 1024


def is_secret(name: str) -> bool:
    """Tell by a file's name whether it may hold keys or passwords."""
    small = name.lower()
    if any(fnmatchcase(small, each) for each in _EXAMPLES):
        return False
    return any(fnmatchcase(small, each) for each in _SECRETS)


def why_skipped(path: Path, *, max_bytes: int) -> Skip | None:
    """Return why a file is left out; None if it is to be sent."""
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
    kind = next((kind for mark, kind in _DOCUMENTS.items() if begin.startswith(mark)), None)
    if kind is not None:
        return kind == "pdf" or path.suffix.lower() in _ZIPPED
    from memci.extraction.decoding import may_be_text

    return may_be_text(begin)
