"""Arguments of the Celery messages that anyone may send (queue.md, "Messages")."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from memci.domain.message import AppendLimits
from memci.errors import TooLargeError
from memci.shapes.agent import CompressRequest
from memci.shapes.base import ForeignId, Request
from memci.shapes.message import AppendRequest


class CreateArguments(AppendRequest):
    """``memci.memory.create``."""

    agent_id: str
    v: Literal[1] = 1


class StoredArguments(Request):
    """``memci.memory.create`` of messages that are stored already, named by their ids."""

    agent_id: str
    message_ids: Annotated[tuple[ForeignId, ...], Field(min_length=1)]
    v: Literal[1] = 1

    @model_validator(mode="before")
    @classmethod
    def _says_what_once(cls, given: Any) -> Any:
        if "messages" in given:
            raise ValueError("give either messages or message_ids")
        return given

    def check_limits(self, limits: AppendLimits) -> None:
        """Raise ``TooLargeError`` when it names too many messages."""
        if len(self.message_ids) > limits.messages:
            raise TooLargeError(
                f"expected at most {limits.messages} messages at once; name them in several",
                field="message_ids",
            )


class CompressArguments(CompressRequest):
    """``memci.memory.compress``."""

    agent_id: str
    v: Literal[1] = 1
