"""Collects what a context is assembled from, out of one snapshot (R13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from memci.domain.context.materials import Covered, Materials, Shown
from memci.domain.context.message_list import Origin, Section
from memci.domain.context.page_listing import Listed, contents_listed, tree_listed
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.block import BlockWriter, ContentReader, Format
from memci.domain.pages.labels import labels_of
from memci.domain.pages.pins import Pin
from memci.domain.pages.tree import VisibleTree
from memci.domain.search.ranking import Ranked
from memci.domain.search.selection import Filler
from memci.domain.session.interaction import Interaction, interactions
from memci.domain.session.plan import Plan, finished_message_seqs, plan_text
from memci.language.detection import Language, language_of
from memci.language.sentences import sentence_spans
from memci.message import Message, Role
from memci.schemas.reads import ContextRequest
from memci.storage.reading.messages import MOST_RECENT
from memci.storage.reading.snapshot_state import SnapshotState
from memci.storage.summaries import StoredSummary


def today(said: Sequence[Message], now: datetime | None = None) -> date:
    """Return the reader's day: where no time is given, by the clock of who spoke last."""
    zone = said[-1].said_at.tzinfo if said else UTC
    return (now or datetime.now(zone)).date()


@dataclass(frozen=True, slots=True)
class Read:
    """What one snapshot of the database gave."""

    outset: SnapshotState
    parameters: MemoryParameters
    said: list[Message]
    ranked: list[Ranked]
    filler: Filler
    pins: list[Pin]
    plan: Plan | None
    summary: StoredSummary | None
    pages: tuple[VisibleTree, ContentReader] | None


def materials_of(request: ContextRequest, read: Read, recent: int) -> Materials:
    """Return what there is to choose from; of interactions ``recent`` may go in (R13)."""
    window = interactions(read.said)
    language = _language(request, window)
    contents, tree = _listed(read.pages, language)
    return Materials(
        system=request.system,
        query=request.query,
        window=window,
        recent=recent,
        grows=request.recent is None,
        began=read.outset.recent_begins,
        ranked=read.ranked,
        language=language,
        pins=read.pins,
        plan=plan_text(read.plan, language) or None,
        finished=_finished(read.plan, read.said),
        summary=None if read.summary is None else read.summary.text,
        covered=_covered(read.summary),
        contents=contents,
        tree=tree,
        origins=_origins(read),
        preserve=read.parameters.preserve_recent,
        shown=Shown((each.role, each.content) for each in request.shown),
        is_trivial=read.filler.has,
        spans=sentence_spans,
        best_first=not read.parameters.prompt_cache_enabled,
        reaches_back=len(read.said) < MOST_RECENT,
        today=today(read.said, request.now or request.as_of),
    )


def _listed(
    pages: tuple[VisibleTree, ContentReader] | None, language: Language
) -> tuple[Listed | None, Listed | None]:
    """Return the Contents Page and the other pages, as the list's language names them."""
    if pages is None:
        return None, None
    sight, reads = pages
    writer = BlockWriter(Format.MARKDOWN, labels_of(language))
    return contents_listed(sight, writer), tree_listed(sight, writer, reads)


def _origins(read: Read) -> dict[Section, Origin]:
    """Return what a receipt says of plan and summary: which they are."""
    origins: dict[Section, Origin] = {}
    if read.plan is not None:
        origins[Section.PLAN] = {"plan_seq": read.plan.made_seq}
    if read.summary is not None:
        origins[Section.SUMMARY] = {
            "session_id": read.summary.session_id,
            "from_seq": read.summary.from_seq,
            "through_seq": read.summary.through_seq,
        }
    return origins


def _covered(summary: StoredSummary | None) -> Covered | None:
    if summary is None:
        return None
    return Covered(summary.session_id, summary.from_seq, summary.through_seq)


def _finished(plan: Plan | None, said: Sequence[Message]) -> set[int]:
    """Return the messages that belong to steps of the plan that are over (R15)."""
    spans = () if plan is None else finished_message_seqs(plan)
    return {
        each.seq
        for each in said
        if plan is not None
        and each.session_id == plan.session_id
        and any(each.seq in span for span in spans)
    }


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
