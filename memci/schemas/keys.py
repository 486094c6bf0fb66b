"""Requests and answers about API keys."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StrictInt

from memci.config.groups import KEY_AGENTS, KEY_NAME, KeyLimits, KeyScope
from memci.schemas.base import Answer, Instant, Request, Text, matching

KeyName = Annotated[
    Text,
    matching(KEY_NAME, "1 to 64 of the characters A-Z a-z 0-9 . _ : @ -"),
    Field(json_schema_extra={"pattern": rf"^{KEY_NAME}$"}),
]
AgentPatterns = Annotated[
    Text,
    matching(KEY_AGENTS, "patterns such as team-* or collection/docs, with commas between"),
    Field(max_length=2_048, json_schema_extra={"pattern": rf"^{KEY_AGENTS}$"}),
]
DEFAULT_GRACE_S = 86_400


class KeyRequest(Request):
    """A key to make."""

    name: KeyName
    agents: AgentPatterns = Field(
        "*", description="Patterns of agents and of collection/NAME, with commas between"
    )
    scope: KeyScope = "read"
    expires_at: Instant | None = None
    limits: KeyLimits = Field(KeyLimits(), description="What is not set holds as the server has it")


class KeyChanges(Request):
    """What changes of a key; what is left out stays."""

    agents: AgentPatterns | None = None
    scope: KeyScope | None = None
    expires_at: Instant | None = Field(None, description="Null: never")
    limits: KeyLimits | None = Field(None, description="All limits of its own")


class RotateRequest(Request):
    """How a key is replaced."""

    grace_s: Annotated[StrictInt, Field(ge=0, le=366 * 86_400)] = Field(
        DEFAULT_GRACE_S, description="Seconds that the former key is still accepted"
    )


class KeyAnswer(Answer):
    """A key, without itself."""

    name: str
    agents: str
    scope: KeyScope
    source: Literal["database", "environment"]
    state: Literal["active", "expired", "revoked"]
    expires_at: datetime | None = None
    limits: KeyLimits
    created_at: datetime | None = None
    last_used_at: datetime | None = Field(None, description="Within about a minute")
    messages_today: int | None = Field(None, description="Counted for keys with a quota")
    former_until: datetime | None = Field(
        None, description="Until then the key before the rotation is accepted too"
    )


class NewKeyAnswer(KeyAnswer):
    """A key that was made or rotated; nobody can read it again."""

    key: str


class KeyList(Answer):
    """Keys by name."""

    keys: list[KeyAnswer]
