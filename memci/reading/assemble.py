"""``memci.read.assemble``: a message list that fits a token budget (R13 to R16)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from memci.domain.context.assembly import Materials, assemble
from memci.domain.context.candidate import Source
from memci.domain.context.depth import depth
from memci.domain.context.filler import filler_among
from memci.domain.context.fusion import Ranked, at_most
from memci.domain.context.interaction import Interaction, interactions
from memci.domain.context.prefix import Piece, stable_prefix
from memci.domain.language import Language, language_of
from memci.domain.memory.recall import Walk
from memci.domain.message import Message, Role
from memci.domain.pages.pin import Pin
from memci.domain.pages.viewer import Viewer
from memci.reading.context_receipt import Account, answer, given_by, prefix_of, receipt_body
from memci.reading.freshness import wait_until_fresh
from memci.reading.reader import Reader
from memci.reading.retrieval import restriction_of
from memci.reading.stopwatch import Stopwatch
from memci.reading.succession import with_newer_beside
from memci.reading.uses import Use
from memci.shapes.read import ContextAnswer, ContextRequest
from memci.smallmodel.ports import Vectors
from memci.storage.erasure.barrier import stand_beside
from memci.storage.parameters import parameters_of
from memci.storage.pins import read_pins
from memci.storage.reading import recall as network
from memci.storage.reading.important import important_memories
from memci.storage.reading.messages import message_ids, recent_messages
from memci.storage.reading.receipts import NewReceipt, last_prefix, write_receipt
from memci.storage.reading.state import Progress, progress
from memci.storage.search import Question, find
from memci.storage.session import Connection

# Without a question, so many of the memories nearest to the focus are looked at, and so many of
# those, the most important, are considered.
_NEAREST = 500
_IMPORTANT = 100


@dataclass(frozen=True, slots=True)
class _Read:
    """What one snapshot of the database gave."""

    now: Progress
    said: list[Message]
    ranked: list[Ranked]
    filler: list[Ranked]
    before: list[Piece]
    pins: list[Pin]


class Assemble(Reader):
    """Assembles. For an agent that nobody has written to yet there is system text and query."""

    def run(
        self, agent_id: str, request: ContextRequest, *, vector: Vectors | None = None
    ) -> ContextAnswer:
        """Answer with the best list of at most ``budget_tokens`` tokens, and keep its receipt.

        ``vector`` is the query's own, if the caller has it. Raises ``BudgetTooSmallError`` when
        system text, pins and query alone do not fit.
        """
        watch = Stopwatch()
        wait_until_fresh(self._database, agent_id, request)
        watch.lap("wait")
        question = None
        if request.query and request.query.strip():
            question = self._retrieval.question(
                request.query, request, vector, best=depth(None, request.budget_tokens)
            )
        watch.lap("embed")
        read = self._read(agent_id, request, question)
        watch.lap("find")
        tokenizer = self._defaults.tokenizer_for(request.model)
        window = interactions(read.said)
        assembly = assemble(
            self._materials(request, window, read),
            request.budget_tokens,
            self._models.tokenizers.count(tokenizer),
        )
        watch.lap("assemble")
        account = Account(
            request=request,
            assembly=assembly,
            tokenizer=tokenizer,
            now=read.now,
            stable_prefix=stable_prefix(read.before, prefix_of(assembly)),
            timings_ms=watch.laps_ms,
            said=read.said,
        )
        return self._keep(agent_id, account)

    def _read(self, agent_id: str, request: ContextRequest, question: Question | None) -> _Read:
        with self._database.agent_snapshot(agent_id) as connection:
            said = recent_messages(
                connection,
                agent_id,
                session_id=request.session_id,
                user_id=request.user_id,
                as_of=request.as_of,
                # The query may be stored already, as an interaction of its own.
                interactions=self._recent(request) + 1,
            )
            filler: list[Ranked] = []
            if question is None:
                ranked = self._around_focus(connection, agent_id, request)
            else:
                found = find(connection, agent_id, question)
                ranked = self._retrieval.rank(request.query or "", question, found, request).ranked
                filler = self._filler(connection, agent_id, ranked)
            offered = at_most(_without(ranked, filler), request.k)
            ranked = with_newer_beside(connection, agent_id, said, offered, request)
            before = last_prefix(connection, agent_id, request.session_id)
            viewer = Viewer(request.session_id, request.user_id)
            return _Read(
                now=progress(connection, agent_id),
                said=said,
                ranked=ranked,
                filler=filler,
                before=[Piece(*each) for each in before],
                pins=list(filter(viewer.sees, read_pins(connection, agent_id).pins)),
            )

    def _filler(self, connection: Connection, agent_id: str, ranked: list[Ranked]) -> list[Ranked]:
        parameters = parameters_of(connection, agent_id, self._defaults.memory)
        if not (parameters.simplemem_enabled and parameters.skip_trivial):
            return []
        return filler_among(ranked, parameters.min_content_length)

    def _around_focus(
        self, connection: Connection, agent_id: str, request: ContextRequest
    ) -> list[Ranked]:
        """Rank the memories nearest to the focus by importance (M11)."""
        if Source.MEMORY not in request.sources:
            return []
        depth = parameters_of(connection, agent_id, self._defaults.memory).default_search_depth
        walk = Walk(network.focus_points(connection, agent_id))
        while walk.layer < depth and walk.frontier and len(walk.memories(None)) < _NEAREST:
            walk.advance(network.steps_from(connection, agent_id, walk.frontier, ()))
        nearest = [each.node_id for each in walk.memories(None)[:_NEAREST]]
        best = important_memories(
            connection, agent_id, nearest, restriction_of(request), limit=_IMPORTANT
        )
        return [Ranked(each, 1 / rank, {}) for rank, each in enumerate(best, start=1)]

    def _materials(
        self, request: ContextRequest, window: list[Interaction], read: _Read
    ) -> Materials:
        return Materials(
            system=request.system,
            query=request.query,
            window=window,
            recent=self._recent(request),
            ranked=read.ranked,
            language=_language(request, window),
            filler=read.filler,
            pins=read.pins,
        )

    def _recent(self, request: ContextRequest) -> int:
        return self._defaults.recent_interactions if request.recent is None else request.recent

    def _keep(self, agent_id: str, account: Account) -> ContextAnswer:
        """Write the receipt; a crash of the database may lose it, and that harms nobody."""
        receipt_id = uuid4()
        given = given_by(account)
        with self._database.agent_transaction(agent_id, durable=False) as connection:
            stand_beside(connection, agent_id)
            ids = message_ids(connection, agent_id, given.seqs)
            body, session_id = receipt_body(account, ids), account.request.session_id
            receipt = NewReceipt(receipt_id, "context", body, session_id, given)
            # Of what was erased since it was read, nothing is kept (M25).
            if len(ids) == len(given.seqs):
                write_receipt(connection, agent_id, receipt)
        self._activity.note(agent_id, use=Use(agent_id, receipt, kept=True))
        return answer(account, ids, receipt_id)


def _without(ranked: list[Ranked], filler: list[Ranked]) -> list[Ranked]:
    keys = {each.key for each in filler}
    return [each for each in ranked if each.key not in keys] if keys else ranked


def _language(request: ContextRequest, window: list[Interaction]) -> Language:
    """Return the language that notes are headed in; it does not change with the question (R12).

    That of the system text; without one, of what the user said in the recent interactions, all of
    it together; without any, of the query.
    """
    if request.system and request.system.strip():
        return language_of(request.system)
    messages = (message for each in window for message in each.messages)
    said = " ".join(each.content or "" for each in messages if each.role is Role.USER)
    return language_of(said if said.strip() else request.query or "")
