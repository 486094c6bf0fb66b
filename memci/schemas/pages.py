"""Pages, windows, pins and plans in answers (P4, P11, R7)."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    Field,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from memci.domain.pages.page import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    Lifecycle,
    Page,
    PageKind,
    Permission,
    Segment,
    SegmentKind,
)
from memci.domain.pages.pins import PinKind
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import PageState, page_state
from memci.domain.pages.window_text import Format
from memci.domain.session.plan import LONGEST_STEP, MOST_STEPS, Plan, StepState
from memci.schemas.base import Answer, BudgetTokens, ForeignId, Request, Text, matching, with_words
from memci.schemas.reads import ContextMessage

# Of a window beside its tokens.
OVER = "Tokens over a limit that cannot be hidden; 0: it fits"
NEW_SESSION = "The session has no messages: it is new, or its id is misspelt"


class PageOut(Answer):
    """The current state of a page."""

    index: str
    kind: PageKind
    segment: str
    parent: str | None
    name: str
    description: str
    expanded: bool
    lifecycle: Lifecycle
    state: PageState = Field(description="Its place and visibility")
    pinned: bool
    children: int
    session_id: str | None
    first_seq: int | None
    last_seq: int | None
    recalls: int
    user_id: str | None = Field(None, description="Visible only in this user's sessions; null: all")


class WindowEffect(Answer):
    """The effect of an operation on the window: its tokens, and pages that were hidden to fit."""

    tokens_before: int
    tokens_after: int
    over: int = Field(description=OVER)
    collapsed: list[str]


class PageChange(WindowEffect):
    """The effects of an operation: its page, other changed pages, and the tokens of the window."""

    page: PageOut
    changed: list[str]
    new_agent: bool = Field(
        False, description="This request created the agent: it is new, or its id is misspelt"
    )
    new_session: bool = Field(False, description=NEW_SESSION)


class StepAnswer(WindowEffect):
    """The undone or redone operations, their pages, and the tokens of the window."""

    operations: list[str]
    changed: list[str]


class CollapseAnswer(WindowEffect):
    """The hidden pages, in that order, and the tokens of the window."""

    over: int = Field(
        description="Tokens above max_tokens of pages that cannot be hidden; 0: it fits"
    )


class PageText(Answer):
    """A page and its text; an agent gets at most 4,000 tokens of it, and 50 entries."""

    page: PageOut
    text: str
    entries: list[str]
    next_offset: int | None = Field(
        None, description="Offset of the rest of the text; null: there is no more"
    )


class PageList(Answer):
    """Pages, in order."""

    pages: list[PageOut]
    next_offset: int | None = Field(
        None, description="Offset of the pages that come next in a folder; null: there are no more"
    )


class SegmentOut(Answer):
    """A part of the context, and what agents may do in it."""

    id: str
    name: str
    kind: SegmentKind
    permission: Permission
    max_tokens: int = Field(description="0: only the window's own limit")
    root: str


class PageTree(Answer):
    """The segments and pages of a session, in order; removed pages, the latest first."""

    segments: list[SegmentOut]
    pages: list[PageOut]
    session_id: str | None
    archive: str | None = Field(description="The Contents Page, once there is one")
    tokens: int = Field(description="Tokens of the whole window")
    tokens_of: dict[str, int] = Field(description="Tokens of each visible page alone")
    next_cursor: str | None = Field(description="Only in lists of removed pages")
    new_session: bool = Field(False, description=NEW_SESSION)


SEGMENT_PATTERN = r"^[a-z][a-z0-9_]{0,31}$"
INDEX_PATTERN = r"^[a-z][a-z0-9_]{0,31}-[0-9]{1,15}$"


def _index(text: str) -> str:
    """Return an index without the brackets and blanks that headings have around it."""
    index = text.strip()
    if index.startswith("[") and index.endswith("]"):
        index = index[1:-1].strip()
    if not re.fullmatch(INDEX_PATTERN, index):
        raise ValueError("expected the index of a page as the window shows it, such as usr-12")
    return index


Index = Annotated[
    Text,
    AfterValidator(_index),
    WithJsonSchema({"type": "string", "pattern": INDEX_PATTERN}),
    Field(description="Such as usr-12"),
]
Folder = Annotated[Index, Field(description="Folder, such as usr-0")]
Name = Annotated[
    Text,
    StringConstraints(min_length=1, max_length=LONGEST_NAME),
    Field(description="Short title"),
]
Description = Annotated[
    Text,
    StringConstraints(max_length=LONGEST_DESCRIPTION),
    Field(description="A sentence: all that shows while it is hidden"),
]


SegmentId = Annotated[
    Text,
    matching(
        SEGMENT_PATTERN,
        "a short name of small letters a-z, digits and _, a letter first, such as plan",
    ),
    WithJsonSchema({"type": "string", "pattern": SEGMENT_PATTERN}),
    Field(description="Small letters, digits and _, such as plan: its pages are plan-1, plan-2"),
]


def page_out(rendering: Rendering, index: str) -> PageOut:
    """Return the current state of a page, as its session sees it, with its name in the window.

    Roots and the Contents Page have no name of their own.
    """
    tree = rendering.tree
    page = tree[index]
    if index in {tree.counters.archive, tree.segment_of(page).root}:
        page = replace(page, name=rendering.writer.name(tree, page))
    children = rendering.visible.count_children(tree[index])
    lifecycle, state = tree.lifecycle(index), page_state(tree, index)
    return _page_out(page, lifecycle=lifecycle, state=state, children=children)


def removed_out(page: Page, children: int) -> PageOut:
    """Return a removed page with its number of direct children."""
    gone, state = Lifecycle.COLD_ARCHIVED, PageState.REMOVED
    return _page_out(page, lifecycle=gone, state=state, children=children)


def _page_out(page: Page, **state: Any) -> PageOut:
    """Return a page: its own fields, those of its span, and its state."""
    known = {
        name: getattr(page, name, getattr(page.span, name, None)) for name in PageOut.model_fields
    }
    return PageOut(**known | {"recalls": page.recalls.count} | state)


def segment_out(segment: Segment) -> SegmentOut:
    """Return the current state of a segment."""
    return SegmentOut.model_validate(segment, from_attributes=True)


class WindowRequest(Request):
    """The session, budget and format of a window."""

    session_id: ForeignId | None = None
    budget_tokens: BudgetTokens | None = None
    format: Format = Format.MARKDOWN


class WindowAnswer(Answer):
    """The context window: its messages, and exactly how many tokens they take."""

    messages: list[ContextMessage]
    tokens: int
    by_segment: dict[str, int]
    collapsed: list[str] = Field(description="Pages that were hidden to fit, in that order")
    over: int = Field(description="Tokens over the budget that cannot be hidden; 0: it fits")
    session_id: str | None
    new_session: bool = Field(False, description=NEW_SESSION)
    tokenizer: str

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the messages as plain dicts, as chat APIs and their clients take them."""
        return [each.model_dump(mode="json") for each in self.messages]


PinNumber = Annotated[StrictInt, Field(ge=1, le=2**62)]


class Pin(Request):
    """Keep a short text or a message always in sight, until unpin. It costs tokens each time."""

    text: Annotated[
        Annotated[Text, StringConstraints(max_length=65_536), AfterValidator(with_words)] | None,
        Field(description="Text to keep in sight"),
    ] = None
    message: Annotated[ForeignId | None, Field(description="Id of a message, as found")] = None
    kind: PinKind = PinKind.NOTE

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.text is None) == (self.message is None):
            raise ValueError("expected either text or message")
        return self


class Unpin(Request):
    """Remove a pinned text."""

    pin: Annotated[PinNumber, Field(description="Its number in brackets in the window")]


class PinOut(Answer):
    """A pinned text."""

    pin: int = Field(description="Its number")
    kind: PinKind
    text: str
    by: str = Field(description="Who pinned it: agent, developer or detector")
    message: str | None = Field(None, description="Id of the message whose text it is")
    created_at: datetime
    user_id: str | None = Field(None, description="Visible only in this user's sessions; null: all")


class PinChange(WindowEffect):
    """The number of the pin, and the tokens of the window."""

    pin: int


class PinList(Answer):
    """Pinned texts, the oldest first, and pinned pages, which the system does not hide."""

    pins: list[PinOut]
    pages: list[str]
    tokens: int = Field(description="Tokens of the texts in every window")


def _one_line(text: str) -> str:
    if not (line := " ".join(text.split())):
        raise ValueError("must say something")
    return line


# As the domain reads it: "[x] Read the code".
PlanStepText = Annotated[
    Text, StringConstraints(max_length=LONGEST_STEP), AfterValidator(_one_line)
]


class UpdatePlan(Request):
    """Set all steps of this conversation's plan, or the state of one step (from 1)."""

    steps: Annotated[
        Annotated[list[PlanStepText], Field(min_length=1, max_length=MOST_STEPS)] | None,
        Field(description="In order; [x] before done steps"),
    ] = None
    step: Annotated[StrictInt, Field(ge=1, le=2**31 - 1)] | None = None
    state: StepState | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        by_step = self.step is not None and self.state is not None
        if by_step is not (self.steps is None) or (self.step is None) is not (self.state is None):
            raise ValueError("expected either steps, or step and state")
        return self


class PlanStepOut(Answer):
    """A step; one of a plan is active as long as any waits."""

    step: int = Field(description="Its place, from 1")
    text: str
    state: StepState


class PlanAnswer(Answer):
    """The plan of a session; without a plan there are no steps."""

    session_id: str | None = Field(None, description="Null: messages without a session")
    steps: list[PlanStepOut]

    @classmethod
    def of(cls, plan: Plan | None, session_id: str | None) -> Self:
        """Return the answer for a plan."""
        steps = enumerate(plan.steps if plan else (), 1)
        out = [PlanStepOut(step=at, text=each.text, state=each.state) for at, each in steps]
        return cls(session_id=session_id, steps=out)
