"""How all verbs about an agent ask (see flow.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from memci.client.exchange import Flow, LatestSeqs, Retries, ask, exchange
from memci.domain.agent import check_agent_id

AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Habits:
    """How one client behaves; its seqs are shared by all its agents, sync and async."""

    # How long a read waits for what this client has written; then it answers anyway.
    wait_ms: int = 2_000
    retries: Retries = field(default_factory=Retries)
    latest: LatestSeqs = field(default_factory=LatestSeqs)


class Asking:
    """Sends what is asked about one agent."""

    def __init__(self, agent_id: str, habits: Habits) -> None:
        """Take the agent's id, or raise ``InvalidInputError``."""
        self.id = check_agent_id(agent_id)
        self._path = f"/v1/agents/{quote(agent_id, safe='')}"
        self._habits = habits

    def _get(
        self, path: str, answer: type[AnswerT], params: Mapping[str, Any] | None = None
    ) -> Flow[AnswerT]:
        return ask(exchange("GET", self._path + path, params=params), answer, self._habits.retries)

    def _post(
        self,
        path: str,
        answer: type[AnswerT],
        body: Mapping[str, Any] | None = None,
        *,
        repeatable: bool = True,
    ) -> Flow[AnswerT]:
        request = exchange("POST", self._path + path, body=body, repeatable=repeatable)
        return ask(request, answer, self._habits.retries)
