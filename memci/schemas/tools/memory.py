"""Arguments and answers of the memory tools (R20): models read their docstrings."""

from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from memci.message import Role
from memci.schemas import base
from memci.schemas.pages import Index

Words = Annotated[base.Text, StringConstraints(min_length=1, max_length=256)]
MemoryNumber = Annotated[StrictInt, Field(ge=1, le=2**62)]
MessageIds = Annotated[
    list[base.ForeignId],
    Field(min_length=1, max_length=100, description="Ids of messages, as found"),
]
# Any instant is taken; a model needs one way to write it.
When = Annotated[base.Instant, WithJsonSchema({"type": "string", "description": "ISO 8601"})]
Ended = Annotated[
    base.Until, WithJsonSchema({"type": "string", "description": "ISO 8601; a day: to its end"})
]
Values = Annotated[
    dict[Words, base.Text | bool | int | float],
    WithJsonSchema({"type": "object"}),
    Field(max_length=8, description="Values that messages carry"),
]
Most = Annotated[StrictInt, Field(ge=1, le=50)]


NoteText = Annotated[
    base.Text,
    StringConstraints(max_length=65_536),
    AfterValidator(base.with_words),
    Field(description="The facts, in sentences that can be understood alone"),
]


class Remember(base.Request):
    """Keep something in long memory: a fact, a decision, a preference, a lesson."""

    text: NoteText


class Update(base.Request):
    """Correct a memory that is wrong or no longer so. The old one stays in its history."""

    memory: Annotated[MemoryNumber, Field(description="Its number, as found")]
    text: NoteText


class Forget(base.Request):
    """Delete a memory that is wrong or not wanted. What it told is no longer found."""

    memory: Annotated[MemoryNumber, Field(description="Its number, as found")]


class Erase(base.Request):
    """Delete messages and all that was remembered of them, for good. There is no undo.

    Only when the user asks for it; to correct something use update.
    """

    messages: MessageIds


class Recall(base.Request):
    """Recall what is remembered around what is talked about now, by keywords."""

    keywords: Annotated[
        list[Words], Field(min_length=1, max_length=16, description="Names of things, topics")
    ]
    depth: Annotated[StrictInt, Field(ge=0, le=10, description="Links to follow outwards")] = 2
    limit: Most = 10


class Search(base.Request):
    """Search all that was ever said and remembered, by meaning and by words."""

    query: Annotated[base.Query, AfterValidator(base.with_words)]
    since: When | None = None
    until: Ended | None = None
    limit: Most = 10

    _is_a_span = model_validator(mode="after")(base.check_span)


class Summarise(base.Request):
    """Sum up a page, or some messages, or else the conversation so far. Nothing changes."""

    page: Index | None = None
    messages: MessageIds | None = None
    max_tokens: Annotated[StrictInt, Field(ge=16, le=4_000)] = 300

    @model_validator(mode="after")
    def _is_named_once(self) -> Self:
        if self.page is not None and self.messages is not None:
            raise ValueError("expected page or messages, not both")
        return self


class SummaryRequest(base.Request):
    """A request to a context worker: messages by seq, and texts of an agent's own notes."""

    previous: base.Text = ""  # a summary of earlier messages, to continue
    seqs: Annotated[tuple[base.Seq, ...], Field(max_length=2_000)] = ()
    texts: tuple[base.Text, ...] = ()
    max_tokens: Annotated[StrictInt, Field(ge=16, le=4_000)] = 300


class FilterMemory(base.Request):
    """List memories or messages that meet all given criteria, the newest first; no query."""

    what: Literal["memories", "messages"] = "memories"
    type: Annotated[
        Literal["episodic", "semantic", "procedural"] | None, Field(description="Of memories")
    ] = None
    role: Annotated[
        Role | None, Field(description="Of messages, or of one that the memory was made of")
    ] = None
    name: Annotated[Words | None, Field(description="Who said it")] = None
    session: base.ForeignId | None = None
    since: When | None = None
    until: Ended | None = None
    metadata: Values | None = None
    limit: Most = 20
    after: Annotated[StrictInt | None, Field(ge=1, description="`more` of the last answer")] = None

    _is_a_span = model_validator(mode="after")(base.check_span)

    @model_validator(mode="after")
    def _has_a_type(self) -> Self:
        if self.what == "messages" and self.type is not None:
            raise ValueError("messages have no type: leave it out, or ask for memories")
        return self


class Focus(base.Request):
    """Turn attention to a thing: recall starts from it."""

    entity: Annotated[Words, Field(description="Its name: no pronoun")]


class Noted(base.WithoutNulls):
    """A stored note; a memory is made of it in a moment."""

    message: str = Field(description="Id of the message that holds it")
    corrects: int | None = Field(None, description="The memory that it takes the place of")


class Forgot(base.WithoutNulls):
    """A deleted memory."""

    memory: int


class Erased(base.WithoutNulls):
    """What was erased, for good."""

    messages: int
    memories: int
    again: int = Field(description="Messages whose memories are made again: they were shared")
    receipt: str


class Found(base.WithoutNulls):
    """A memory or a message."""

    memory: int | None = None
    messages: list[str]
    by: str | None = Field(None, description="Who said it")
    said_at: str = Field(description="Day and time, UTC or with an offset")
    text: str
    replaced_by: int | None = Field(None, description="The memory that says otherwise now")
    page: str | None = Field(None, description="The page that it is on")


class FoundList(base.WithoutNulls):
    """Things found, best or newest first."""

    found: list[Found]
    more: int | None = Field(None, description="There are more: send it as `after`")
    note: str | None = None


class Summary(base.WithoutNulls):
    """A summary."""

    text: str
    tokens: int
    of_tokens: int = Field(description="Tokens of the summarised messages and texts")
    note: str | None = None


class InFocus(base.WithoutNulls):
    """The things in focus, the latest first."""

    focus: list[str]
