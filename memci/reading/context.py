"""``memci.read.assemble``: answers a request for a context (R13 to R16)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias
from uuid import uuid4

from memci.domain.context.choose import Assembly, assemble
from memci.domain.context.message_list import Piece, stable_prefix
from memci.domain.context.recent_messages import GROWTH
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.recall import Walk
from memci.domain.pages.pins import Pin
from memci.domain.pages.tree import Viewer
from memci.domain.search.candidate import KEPT, Candidate, Source, depth
from memci.domain.search.ranking import Ranked, at_most
from memci.domain.search.selection import Filler
from memci.domain.session.interaction import interactions
from memci.domain.session.plan import Plan
from memci.language.times.ranges import TimeSpan
from memci.message import Message
from memci.reading.choose import Read, materials_of
from memci.reading.deferred_writes import ReadActivity, Use
from memci.reading.models import ReadingDefaults, ReadingModels
from memci.reading.reader import Reader, wait_until_fresh
from memci.reading.receipt import Account, answer, given_by, prefix_of, receipt_body
from memci.reading.retrieval import Asked, Stopwatch, restriction_of
from memci.reading.supersession import with_newer_beside
from memci.schemas.reads import ContextAnswer, ContextRequest
from memci.smallmodel.ports import Vectors
from memci.storage.agents import own_of
from memci.storage.erasure.erase import stand_beside
from memci.storage.pages.visible_pages import listed_pages, request_viewer
from memci.storage.pins import read_pins
from memci.storage.plans import read_plan
from memci.storage.reading import recall as network
from memci.storage.reading.messages import message_ids, recent_messages
from memci.storage.reading.nodes import important_memories, newest_memories
from memci.storage.reading.snapshot_state import SnapshotState, outset_behind
from memci.storage.receipts import NewReceipt, keeping_receipt
from memci.storage.session import Connection, Database
from memci.storage.summaries import StoredSummary, read_summary

# Without a question, so many of the memories nearest to the focus are looked at, and so many of
# those, the most important, are considered.
_NEAREST = 500
_IMPORTANT = 100


# What was said before so long a silence has nothing to do with a question out of the blue.
_SILENCE = timedelta(hours=24)

# Asks for a summary of an agent's session, or of all that it said: in the background (R8, R15).
AskSummary: TypeAlias = Callable[[str, str | None], object]


def _nobody_is_asked(_agent_id: str, _session_id: str | None) -> None:
    pass


class ContextReader(Reader):
    """Assembles. For an agent that nobody has written to yet there is system text and query."""

    def __init__(
        self,
        database: Database,
        models: ReadingModels,
        defaults: ReadingDefaults,
        activity: ReadActivity,
        ask_summary: AskSummary = _nobody_is_asked,
    ) -> None:
        """Load nothing before the first read."""
        super().__init__(database, models, defaults, activity)
        self._ask_summary = ask_summary

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
        asked = None
        if request.query is not None:
            best = depth(None, request.budget_tokens)
            asked = self._ask(agent_id, request.query, _retrieved(request), vector, best=best)
        watch.lap("embed")
        read = self._read(agent_id, request, asked)
        watch.lap("find")
        tokenizer = self._defaults.tokenizer_for(request.model)
        assembly = assemble(
            materials_of(request, read, self._recent(request)),
            request.budget_tokens,
            self._models.tokenizers.count(tokenizer),
        )
        watch.lap("assemble")
        account = Account(
            request=request,
            assembly=assembly,
            tokenizer=tokenizer,
            now=read.outset.progress,
            stable_prefix=_stable(read.outset, assembly),
            timings_ms=watch.laps_ms,
            said=read.said,
        )
        kept = self._keep(agent_id, account)
        enough = len(interactions(read.said)) > read.parameters.preserve_recent
        # One that is stored was not read where it is no source: it is not missing.
        told = Source.SUMMARY in request.sources and request.as_of is None
        wanted = assembly.wants_summary and told and enough
        if wanted and read.parameters.summarization_enabled:
            self._ask_summary(agent_id, request.session_id)
        return kept

    def _read(self, agent_id: str, request: ContextRequest, asked: Asked | None) -> Read:
        planned = asked is not None
        with self._database.agent_snapshot(agent_id, planned=planned) as connection:
            outset = outset_behind(connection, agent_id, request.session_id)
            parameters = own_of(self._defaults.memory, outset.parameters)
            said = self._said(connection, agent_id, request)
            times: Sequence[TimeSpan] = ()
            if asked is None:
                ranked = self._around_focus(connection, agent_id, request, parameters)
                filler = Filler((), 0)
            else:
                # An agent goes on, whatever became of the collections that it reads.
                found = self._retrieval.find(
                    connection, agent_id, asked, request, outset=outset, strict=False
                )
                ranking = self._retrieval.rank(asked, found, request, parameters)
                times = ranking.as_of
                ranked = [each for each in ranking.ranked if _tells_alone(each.candidate)]
                filler = _filler(ranked, parameters)
            offered = _offered(ranked, filler, request.k)
            viewer = Viewer(request.session_id, request.user_id)
            if outset.has_pages or outset.holds - {Source.MEMORY}:
                viewer = request_viewer(connection, agent_id, request.session_id, request.user_id)
            plan, summary = _kept(connection, agent_id, request, viewer, outset.holds)
            pins: list[Pin] = []
            if Source.PIN in outset.holds:
                there = read_pins(connection, agent_id, request.as_of).pins
                pins = list(filter(viewer.sees, there))
            if outset.has_ended:
                offered = with_newer_beside(connection, agent_id, said, offered, request, times)
            pages = None
            if outset.has_pages and Source.PAGE in request.sources and request.as_of is None:
                pages = listed_pages(connection, agent_id, viewer)
            return Read(
                outset=outset,
                parameters=parameters,
                said=said,
                ranked=offered,
                filler=filler,
                pins=pins,
                plan=plan,
                summary=summary,
                pages=pages,
            )

    def _said(
        self, connection: Connection, agent_id: str, request: ContextRequest
    ) -> list[Message]:
        """Return the latest messages: what may go in, what is told of before it, and the query.

        After a silence, where no session is named, they are none of what is asked about; only the
        query may be there already.
        """
        said = recent_messages(
            connection,
            agent_id,
            session_id=request.session_id,
            user_id=request.user_id,
            as_of=request.as_of,
            interactions=self._most_recent(request) + self._recent(request) + 2,
        )
        if _goes_on(request, said):
            return said
        return [each for each in said[-1:] if each.content == request.query]

    def _around_focus(
        self,
        connection: Connection,
        agent_id: str,
        request: ContextRequest,
        parameters: MemoryParameters,
    ) -> list[Ranked]:
        """Rank the memories nearest to the focus by importance (M11).

        Where links lead to few, the newest are among them: what is talked of now may be new.
        """
        if Source.MEMORY not in request.sources:
            return []
        deepest = parameters.default_search_depth
        walk = Walk(network.focus_points(connection, agent_id))
        while walk.layer < deepest and walk.frontier and len(walk.memories(None)) < _NEAREST:
            walk.advance(network.steps_from(connection, agent_id, walk.frontier, ()))
        nearest = [each.node_id for each in walk.memories(None)[:_NEAREST]]
        if len(nearest) < _NEAREST:
            newest = newest_memories(
                connection, agent_id, restriction_of(request), limit=_NEAREST - len(nearest)
            )
            nearest = list(dict.fromkeys((*nearest, *newest)))
        best = important_memories(
            connection, agent_id, nearest, restriction_of(request), limit=_IMPORTANT
        )
        return [Ranked(each, 1 / rank, {}) for rank, each in enumerate(best, start=1)]

    def _recent(self, request: ContextRequest) -> int:
        return self._defaults.recent_interactions if request.recent is None else request.recent

    def _most_recent(self, request: ContextRequest) -> int:
        """Return how many the list may grow to before it is cut back."""
        recent = self._recent(request)
        return max(GROWTH * recent - 1, 0) if request.recent is None else recent

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
            is_all_there = len(ids) == len(given.seqs)
            with keeping_receipt(connection, agent_id, receipt if is_all_there else None):
                answered = answer(account, ids, receipt_id, body)
        self._activity.note(agent_id, use=Use(agent_id, receipt, kept=True))
        return answered


def _retrieved(request: ContextRequest) -> ContextRequest:
    """Return what is looked for: what is kept has places of its own in a list (R13).

    Notes are looked for as well: there is only room for what most of them are called.
    """
    sources = tuple(each for each in request.sources if each not in KEPT or each is Source.PAGE)
    return request.model_copy(update={"sources": sources})


def _tells_alone(candidate: Candidate) -> bool:
    """Tell whether it says what nothing else does: of filed interactions the messages are found."""
    return candidate.kept is None or candidate.kept.about is None


def _kept(
    connection: Connection,
    agent_id: str,
    request: ContextRequest,
    viewer: Viewer,
    holds: Collection[Source],
) -> tuple[Plan | None, StoredSummary | None]:
    """Return the session's plan and summary, of an agent that ``holds`` any.

    Neither tells what was so at another time (R7, R8).
    """
    if request.as_of is not None:
        return None, None
    plan = read_plan(connection, agent_id, viewer) if Source.PLAN in holds else None
    summary = None
    if Source.SUMMARY in request.sources and Source.SUMMARY in holds:
        summary = read_summary(connection, agent_id, request.session_id, viewer)
    return plan, summary


def _offered(ranked: list[Ranked], filler: Filler, k: int | None) -> list[Ranked]:
    """Return the best ``k`` of each source that tell something, and what tells nothing last."""
    if k is None:
        return ranked
    telling: list[Ranked] = []
    trivial: list[Ranked] = []
    for each in ranked:
        (trivial if filler.has(each) else telling).append(each)
    return [*at_most(telling, k), *trivial]


def _filler(ranked: list[Ranked], parameters: MemoryParameters) -> Filler:
    """Return what tells nothing among the messages of a ranking; none if all of it is wanted."""
    skips = parameters.simplemem_enabled and parameters.skip_trivial
    return Filler(ranked if skips else (), parameters.min_content_length)


def _goes_on(request: ContextRequest, said: list[Message]) -> bool:
    """Tell whether the conversation goes on: it is named or asked for, or was not silent long."""
    if request.session_id is not None or request.recent is not None or request.query is None:
        return True
    now = request.as_of or datetime.now(UTC)
    return bool(said) and said[-1].said_at > now - _SILENCE


def _stable(outset: SnapshotState, assembly: Assembly) -> int:
    return stable_prefix([Piece(*each) for each in outset.prefix], prefix_of(assembly))
