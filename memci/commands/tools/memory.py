"""Tools of memory that are used alone: those that look, and the one that erases (R20)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memci.broker.call import Reads
from memci.broker.names import ReadUse
from memci.broker.token import Tokens
from memci.commands import erase
from memci.commands.erase_which import Which
from memci.commands.pages.perform import Asked, PageCommands
from memci.commands.tools.filter import filtered
from memci.commands.tools.found import of_recall, of_search
from memci.commands.tools.place import Place, place_in
from memci.commands.tools.summarise import summary_request
from memci.shapes import memory_tools as shapes
from memci.shapes.base import Answer
from memci.shapes.read import RecallAnswer, SearchAnswer
from memci.storage.erasure.gone import snapshot_of
from memci.storage.reading.state import progress

# What an agent has just noted is to be found; memory may be behind by much more than is worth
# waiting for.
_WAIT_MS = 1_000
_IN_PART = "There is more on these pages than is read at once: this is of the newest"


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """Asks context workers, reads what needs none, and erases."""

    pages: PageCommands
    reads: Reads
    tokens: Tokens

    def run(self, agent_id: str, asked: Asked, *, session_id: str | None) -> Answer:
        """Use a tool; raises ``NotFoundError`` for no agent, and what the tool raises."""
        with snapshot_of(self.pages.database, agent_id) as connection:
            place = place_in(connection, agent_id, session_id)
            place.check_sight(connection)
            if isinstance(asked.request, shapes.FilterMemory):
                return filtered(connection, place, asked.request)
            seq = progress(connection, agent_id).message_seq
        match asked.request:
            case shapes.Recall() as request:
                return self._recall(place, request, seq)
            case shapes.Search() as request:
                return self._search(place, request, seq)
            case shapes.Summarise() as request:
                return self._summarise(place, request)
            case shapes.Erase() as request:
                return self._erase(place, request)
            case _:
                raise AssertionError(f"{asked.tool.name} is no tool of memory that is used alone")

    def _summarise(self, place: Place, asked: shapes.Summarise) -> shapes.Summary:
        wanted = summary_request(self.pages, place, asked)
        request = wanted.request.model_dump(mode="json")
        answer = self.reads.call("summarise", place.agent_id, request)
        note = _IN_PART if wanted.in_part else None
        return shapes.Summary.model_validate(answer).model_copy(update={"note": note})

    def _recall(self, place: Place, asked: shapes.Recall, seq: int) -> Answer:
        fields = {
            "keywords": asked.keywords,
            "depth": asked.depth,
            "limit": asked.limit,
            "format": "structured",
        }
        answer = self._ask("recall", place, fields, seq)
        return of_recall(RecallAnswer.model_validate(answer), asked.keywords)

    def _search(self, place: Place, asked: shapes.Search, seq: int) -> Answer:
        times = asked.model_dump(mode="json", include={"since", "until"}, exclude_none=True)
        fields = {"query": asked.query, "k": asked.limit, "filters": times}
        return of_search(SearchAnswer.model_validate(self._ask("search", place, fields, seq)))

    def _ask(
        self, use: ReadUse, place: Place, fields: Mapping[str, Any], seq: int
    ) -> dict[str, Any]:
        whose = {"session_id": place.session_id, "user_id": place.user_id}
        fresh = {"min_seq": seq, "wait_ms": _WAIT_MS}
        return self.reads.call(use, place.agent_id, {**fields, **whose, **fresh}, wait_ms=_WAIT_MS)

    def _erase(self, place: Place, asked: shapes.Erase) -> Answer:
        with snapshot_of(self.pages.database, place.agent_id) as connection:
            place.seqs(connection, asked.messages)
        which = Which(asked.messages)
        self.pages.settle_before_erasing(place.agent_id)
        receipt = erase.run(
            self.pages.database,
            self.pages.store,
            self.tokens,
            place.agent_id,
            which,
            settle=self.pages.settle_in,
        )
        told: dict[str, Any] = receipt.body
        return shapes.Erased(
            messages=len(told["message_ids"]),
            memories=told["memories"],
            again=told["again"],
            receipt=str(receipt.id),
        )
