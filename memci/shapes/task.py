"""Arguments of the Celery messages that anyone may send (queue.md, "Messages")."""

from __future__ import annotations

from typing import Literal

from memci.shapes.agent import CompressRequest
from memci.shapes.message import AppendRequest


class CreateArguments(AppendRequest):
    """``memci.memory.create``."""

    agent_id: str
    v: Literal[1] = 1


class CompressArguments(CompressRequest):
    """``memci.memory.compress``."""

    agent_id: str
    v: Literal[1] = 1
