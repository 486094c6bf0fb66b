"""One chat request: what it says, whose it is, and the conversation that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memci.config import Settings
from memci.domain.message import NewMessage, Role
from memci.domain.resent import session_of
from memci.errors import InvalidInputError
from memci.http.proxy.said import INSTRUCTING, said_in
from memci.shapes.base import ForeignId

SESSION = "x-memci-session"
USER = "x-memci-user"
BUDGET = "x-memci-budget-tokens"
_MOST_TOKENS = 2_000_000
_ID: TypeAdapter[str] = TypeAdapter(ForeignId)


@dataclass(frozen=True, slots=True)
class Asked:
    """A chat request that memci understands; ``said`` is without system messages.

    ``is_named``: the client has said which session it is of; else that is a guess. ``left_out``:
    what is not in ``said``, and why.
    """

    agent_id: str
    body: Mapping[str, Any]
    said: Sequence[NewMessage]
    session_id: str
    user_id: str | None
    budget_tokens: int
    is_named: bool = True
    left_out: str | None = None

    @property
    def query(self) -> str | None:
        """What the user has said last."""
        asked = (each.content for each in reversed(self.said) if each.role is Role.USER)
        return next(asked, None)

    @property
    def is_alone(self) -> bool:
        """Whether the client sends one message, and leaves the conversation to memory."""
        return len(self.said) == 1

    @property
    def streamed(self) -> bool:
        """Whether the answer is to come in events."""
        return bool(self.body.get("stream"))

    def with_notes(self, notes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the body with messages put in behind the client's own system text."""
        messages = list(self.body["messages"])
        own = 0
        while own < len(messages) and _is_instruction(messages[own]):
            own += 1
        role = messages[own - 1]["role"] if own else "system"
        told = [{**each, "role": role} if each["role"] == "system" else each for each in notes]
        return {**self.body, "messages": [*messages[:own], *told, *messages[own:]]}


def asked_in(
    agent_id: str, body: object, headers: Mapping[str, str], settings: Settings
) -> Asked | None:
    """Return what is asked; None for a body that only the upstream may understand.

    Raises ``InvalidInputError`` for a header that cannot be followed.
    """
    budget = _budget(headers, settings)
    session, user = _named(headers, SESSION), _named(headers, USER)
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        return None
    if not body["messages"]:
        return None  # of what memory would put in, the upstream would make a request
    found = said_in(body["messages"], max_bytes=settings.max_message_bytes)
    if session is None and isinstance(body.get("user"), str):
        session = body["user"][:256] or None
    return Asked(
        agent_id,
        body,
        found.kept,
        session or session_of(found.begins, user),
        user,
        budget,
        is_named=session is not None,
        left_out=found.left_out,
    )


def _is_instruction(message: object) -> bool:
    return isinstance(message, dict) and message.get("role") in tuple(INSTRUCTING)


def _named(headers: Mapping[str, str], name: str) -> str | None:
    """Return the value of a header that holds an id; clients write UTF-8 there."""
    value = headers.get(name)
    if value is None:
        return None
    try:
        return _ID.validate_python(value.encode("latin-1").decode())
    except (UnicodeError, ValidationError):
        raise InvalidInputError("expected 1 to 256 characters, as UTF-8", field=name) from None


def _budget(headers: Mapping[str, str], settings: Settings) -> int:
    value = headers.get(BUDGET)
    if value is None:
        return settings.proxy_budget_tokens
    if not value.isdecimal() or int(value) > _MOST_TOKENS:
        raise InvalidInputError(
            f"expected a number of tokens from 0 (nothing is recalled) to {_MOST_TOKENS}",
            field=BUDGET,
        )
    return int(value)
