"""Arguments of the page tools, which models read, and the short answers for models (P4, P15)."""

from collections.abc import Mapping
from itertools import chain
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StrictInt

from memci.domain.pages.page import PageKind, Permission, SegmentKind
from memci.domain.pages.tree import PageState
from memci.schemas import pages as schemas
from memci.schemas.base import Answer, BudgetTokens, Query, Request, Text
from memci.schemas.json_schema import Schema, schema_answered

_Offset = Annotated[
    StrictInt, Field(ge=0, le=2**31, description="The next_offset of the part before")
]


class _OnPage(Request):
    """A request about one page."""

    index: schemas.Index


class CreateDetailPage(Request):
    """Write a note: something learned, decided or to be kept. It starts hidden (in sys: open)."""

    name: schemas.Name
    description: schemas.Description = ""
    detail: Annotated[Text, Field(min_length=1, description="Its text")]
    parent: schemas.Folder


class CreateContentsPage(Request):
    """Make a folder and move pages into it. It starts hidden, and hides them."""

    name: schemas.Name
    description: schemas.Description = ""
    parent: schemas.Folder
    children: Annotated[
        list[schemas.Index], Field(max_length=500, description="Pages to move, in order")
    ] = []  # noqa: RUF012 - pydantic copies it


class MovePage(Request):
    """Move a page, with all below it, to the end of a folder of the same prefix."""

    source: Annotated[schemas.Index, Field(description="Page, such as usr-12")]
    target: Annotated[schemas.Index, Field(description="Folder, such as usr-0")]


class UpdatePage(_OnPage):
    """Give a page another name or description."""

    name: schemas.Name | None = None
    description: schemas.Description | None = None


class ExpandDetails(_OnPage):
    """Open a page in the window: its text or messages, or what a folder holds. Costs tokens."""


class HideDetails(_OnPage):
    """Close a page to free tokens: name and description stay in sight, nothing is lost."""


class RemovePage(_OnPage):
    """Take a page, with all below it, out of the window. restore_page brings it back."""


class RecallPage(_OnPage):
    """Bring a page that the Contents Page lists back into the conversation, open."""


class RestorePage(_OnPage):
    """Put a removed page, with all below it, back into a folder. find_pages finds it."""

    parent: schemas.Folder


class PinPage(_OnPage):
    """Keep a page where it is, and open, when others are hidden or archived to make room."""


class UnpinPage(_OnPage):
    """Let a pinned page be hidden and archived again when room is needed."""


class AutoCollapse(Request):
    """Hide old pages until the window takes at most so many tokens."""

    max_tokens: BudgetTokens


class Undo(Request):
    """Take back your last change to pages; again: the one before."""


class Redo(Request):
    """Do again what you undid last."""


class GetPage(_OnPage):
    """Read a page's state and what it holds, a long text in parts, without opening it."""

    offset: _Offset = 0


class GetChildren(_OnPage):
    """List the pages in a folder, those of a large one in parts."""

    limit: Annotated[StrictInt, Field(ge=1, le=100)] = 50
    offset: _Offset = 0


class GetParent(_OnPage):
    """Return the folder of a page."""


class GetAncestors(_OnPage):
    """List the folders above a page, nearest first."""


class FindPages(Request):
    """Find pages, removed ones too, by words in names, descriptions, summaries and notes."""

    query: Annotated[Query, Field(min_length=1)]
    limit: Annotated[StrictInt, Field(ge=1, le=100)] = 20


class CreateSegment(Request):
    """Make a segment: a part of the context with a root and a permission of its own."""

    id: schemas.SegmentId
    name: schemas.Name
    kind: SegmentKind = SegmentKind.CUSTOM
    permission: Permission = Permission.READ_WRITE
    max_tokens: Annotated[StrictInt, Field(ge=0, le=2_000_000)] = 0


class _Brief(Answer):
    """A short form of an answer: null instead of anything empty."""

    @classmethod
    def of(cls, *answers: Answer, **values: Any) -> Self:
        """Return the short form with the fields of answers, but for these values."""
        known = dict(chain.from_iterable(answers))
        known = {name: known.get(name) for name in cls.model_fields} | values
        return cls(**{name: None if each in ("", []) else each for name, each in known.items()})


class PageBrief(_Brief):
    """A page; only folders have ``children``, their number."""

    index: str
    name: str
    description: str | None = None
    state: PageState
    parent: str | None = None
    children: int | None = None
    pinned: Literal[True] | None = None


class ChangeBrief(_Brief):
    """A changed page, other changed and collapsed ones, and the tokens of the window."""

    index: str
    state: PageState
    parent: str | None = None
    pinned: Literal[True] | None = None
    changed: list[str] | None = None
    collapsed: list[str] | None = None
    tokens_before: int
    tokens_after: int
    over: int | None = None


class TextBrief(_Brief):
    """A page and its text, which goes on at ``next_offset``."""

    page: PageBrief
    text: str | None = None
    entries: list[str] | None = None
    next_offset: int | None = None


class ListBrief(_Brief):
    """Pages, in order; more follow at ``next_offset``."""

    pages: list[PageBrief]
    next_offset: int | None = None


_BRIEFS: Mapping[type[Answer], type[Answer]] = {
    schemas.PageChange: ChangeBrief,
    schemas.PageText: TextBrief,
    schemas.PageList: ListBrief,
}


def answer_for_model(answer: Answer) -> dict[str, Any]:
    """Return what a model gets of an answer, as JSON values without nulls."""
    match answer:
        case schemas.PageChange(page=page):
            brief: Answer = ChangeBrief.of(
                page,
                answer,
                pinned=page.pinned or None,
                changed=[each for each in answer.changed if each != page.index],
                over=answer.over or None,
            )
        case schemas.PageText(page=page):
            brief = TextBrief.of(answer, page=_page(page))
        case schemas.PageList(pages=pages):
            brief = ListBrief(pages=[_page(each) for each in pages], next_offset=answer.next_offset)
        case _:
            brief = answer
    written: dict[str, Any] = brief.model_dump(mode="json", exclude_none=True)
    return written


def schema_for_model(answer: type[Answer]) -> Schema:
    """Return the JSON schema of ``answer_for_model`` for such answers."""
    return schema_answered(_BRIEFS.get(answer, answer))


def _page(page: schemas.PageOut) -> PageBrief:
    children = page.children if page.kind is PageKind.CONTENTS else None
    return PageBrief.of(page, children=children, pinned=page.pinned or None)
