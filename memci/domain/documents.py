"""Documents, their chunks, their owners and their code symbols (R9)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from memci.domain.agent_id import check_agent_id, checked_id, no_agent
from memci.errors import InvalidInputError, NotFoundError

# Between the headings of a path: "Guide › Install".
PATH_SEPARATOR = " › "


class ChunkKind(StrEnum):
    """The source of a chunk: running text, rows of a table, or program code."""

    TEXT = "text"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of text and where in its document it stands.

    ``path``: the headings above it, or the symbols around it, outermost first. ``symbol``: the
    qualified name of the code that it is, parts joined by dots (``Parser.read``); a long symbol is
    several chunks. ``language``: that of the code (``python``), else that of the text (``en``).
    ``first_line``, ``last_line``: from 1, both included, where the file has lines. ``page``: from
    1, of what has pages or slides.
    """

    text: str
    path: tuple[str, ...] = ()
    kind: ChunkKind = ChunkKind.TEXT
    symbol: str | None = None
    language: str = "en"
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None

    @property
    def shown_path(self) -> str:
        """The path on one line."""
        return PATH_SEPARATOR.join(self.path)


def searched_text(name: str, path: str, text: str) -> str:
    """Return the embedded and indexed text of a chunk, which includes its path.

    ``name`` is the document's name; its folders are left out.
    """
    place = PATH_SEPARATOR.join(each for each in (name.rpartition("/")[2], path) if each)
    return f"{place}\n{text}"


MOST_NAME = 512
# Control characters, and lone surrogates, which have no UTF-8.
_UNFIT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class DocumentState(StrEnum):
    """The state of a document: waiting, partly indexed, wholly indexed, or refused."""

    QUEUED = "queued"
    INDEXING = "indexing"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A file as it was sent: ``digest`` is the SHA-256 of its bytes, as hexadecimal digits."""

    name: str
    body: bytes
    digest: str


def check_name(name: str) -> str:
    """Return a document's name with slashes between folders, or raise ``InvalidInputError``.

    Any script is allowed. The name is never opened as a path.
    """
    shown = name.replace("\\", "/").strip()
    shown = re.sub(r"^(?:\./+)+", "", shown)
    if not shown or len(shown) > MOST_NAME or _UNFIT.search(shown):
        raise InvalidInputError(
            f"name: expected 1 to {MOST_NAME} characters of one line in UTF-8, such as "
            "docs/guide.md",
            field="name",
        )
    return shown


_LONGEST_COLLECTION = 64
COLLECTION_PATTERN = rf"(?!\.+$)[A-Za-z0-9._:@-]{{1,{_LONGEST_COLLECTION}}}"
# No agent's id has a slash, so no agent is mistaken for a collection.
COLLECTION_PREFIX = "collection/"


def collection_owner(name: object) -> str:
    """Return the owner id of a collection, or raise ``InvalidInputError`` for an invalid name."""
    valid = checked_id(name, "collection", COLLECTION_PATTERN, _LONGEST_COLLECTION)
    return COLLECTION_PREFIX + valid


def collection_of(owner: str) -> str | None:
    """Return the name of the collection with this owner id; None for an agent."""
    return owner.removeprefix(COLLECTION_PREFIX) if is_collection(owner) else None


def is_collection(owner: str) -> bool:
    """Return True if an owner id is a collection's."""
    return owner.startswith(COLLECTION_PREFIX)


def check_owner(owner: object) -> str:
    """Return the id of an agent or a collection, or raise ``InvalidInputError``."""
    if isinstance(owner, str) and is_collection(owner):
        return collection_owner(owner.removeprefix(COLLECTION_PREFIX))
    return check_agent_id(owner)


def unknown_owner(owner: str) -> NotFoundError:
    """Return the error for an unknown owner."""
    if not is_collection(owner):
        return no_agent(owner)
    return NotFoundError(
        f"there is no collection {owner.removeprefix(COLLECTION_PREFIX)}: one exists from its first"
        " document on; GET /v1/collections and `memci documents collections` list those there are"
    )


# C++ and Rust write ::, PHP ->, Ruby and Java's documentation #.
_JOINTS = re.compile(r"::|->|#")
# What is written as names in programs are, and no word of a language: with an underscore, a great
# letter inside, a joint, a bracket behind it, or between back-ticks.
_IN_QUESTION = re.compile(
    r"`([^`\s]{1,200})`|(?<![\w.])((?:[A-Za-z_]\w*(?:\.|::|->|#))+[A-Za-z_]\w*(?:\(\))?"
    r"|[A-Za-z_]\w*\(\)|[A-Za-z]\w*_\w+|_\w+|[A-Za-z]+[a-z0-9][A-Z]\w*)"
)
_MOST_NAMES = 8
_CALL = re.compile(r"\(.*$", re.DOTALL)


def qualified(name: str) -> str:
    """Return a name with dots between its parts and without arguments: ``Foo.bar``."""
    return _JOINTS.sub(".", _CALL.sub("", name.strip())).strip(". ")


def last_part(name: str) -> str:
    """Return the last part of a qualified name in lower case: the key of the symbol index."""
    return name.rpartition(".")[2].lower()


def symbols_in(question: str) -> tuple[str, ...]:
    """Return at most 8 code names in a question, with dots between parts."""
    found = (qualified(match[1] or match[2]) for match in _IN_QUESTION.finditer(question))
    return tuple(dict.fromkeys(each for each in found if each))[:_MOST_NAMES]


def is_named(symbol: str, names: Iterable[str]) -> bool:
    """Return True if a qualified symbol equals or ends with one of the names; case is ignored."""
    whole = symbol.lower()
    return any(whole == name.lower() or whole.endswith(f".{name.lower()}") for name in names)
