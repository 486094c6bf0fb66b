"""The fourth step of a context: choose its parts (R13, R15)."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import lru_cache

from memci.domain.context import choose as rules
from memci.domain.context.choose import Choice
from memci.domain.context.materials import Covered, Materials, ShownMessages
from memci.domain.context.message_list import Origin, Section
from memci.domain.context.page_listing import contents_listed, tree_listed
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Format
from memci.domain.session.interaction import Interaction, interactions
from memci.domain.session.plan import finished_message_seqs, plan_text
from memci.domain.token_counts import Count
from memci.language.detection import Language, language_of
from memci.language.sentences import sentence_spans
from memci.message import Message, Role
from memci.reading.find import Found, recent_interactions
from memci.reading.rank import Ranking
from memci.schemas.reads import ContextRequest
from memci.storage.reading.messages import MOST_RECENT


def choose(request: ContextRequest, found: Found, ranking: Ranking, count: Count) -> Choice:
    """Choose from the found entries; ``BudgetTooSmallError`` if the fixed parts do not fit."""
    window = interactions(found.messages)
    language = _language(request, window)
    contents = tree = None
    if found.pages is not None:
        visible, content = found.pages
        writer = BlockWriter(Format.MARKDOWN, labels_of(language))
        contents = contents_listed(visible, writer)
        tree = tree_listed(visible, writer, content)
    plan, summary = found.plan, found.summary
    materials = Materials(
        system=request.system,
        query=request.query,
        window=window,
        recent=recent_interactions(request),
        grows=request.recent is None,
        began=found.state.recent_begins,
        ranked=ranking.ranked,
        language=language,
        pins=found.pins,
        plan=plan_text(plan, language) or None,
        finished=_finished(found),
        summary=summary.text if summary else None,
        covered=Covered(summary.session_id, summary.from_seq, summary.through_seq)
        if summary
        else None,
        contents=contents,
        tree=tree,
        origins=_origins(found),
        preserve=found.parameters.preserve_recent,
        shown=ShownMessages((each.role, each.content) for each in request.shown),
        is_trivial=ranking.trivial.has,
        spans=lru_cache(maxsize=16)(sentence_spans),  # of the texts of this request
        best_first=not found.parameters.prompt_cache_enabled,
        reaches_back=len(found.messages) < MOST_RECENT,
        today=today(found.messages, request.now or request.as_of),
    )
    return rules.choose(materials, request.budget_tokens, count)


def today(messages: Sequence[Message], now: datetime | None = None) -> date:
    """Return the reader's day: that of ``now``, or today in the zone of the last message."""
    zone = messages[-1].said_at.tzinfo if messages else UTC
    return (now or datetime.now(zone)).date()


def _language(request: ContextRequest, window: Sequence[Interaction]) -> Language:
    """Return the language of the headings; it does not depend on the query (R12).

    It is that of the system text; without one, that of the user's messages in the window; without
    these, that of the query.
    """
    if request.system and request.system.strip():
        return language_of(request.system)
    messages = (message for each in window for message in each.messages)
    words = " ".join(each.content or "" for each in messages if each.role is Role.USER)
    return language_of(words if words.strip() else request.query or "")


def _finished(found: Found) -> set[int]:
    plan = found.plan
    if plan is None:
        return set()
    spans = finished_message_seqs(plan)
    return {
        each.seq
        for each in found.messages
        if each.session_id == plan.session_id and any(each.seq in span for span in spans)
    }


def _origins(found: Found) -> dict[Section, Origin]:
    origins: dict[Section, Origin] = {}
    if found.plan is not None:
        origins[Section.PLAN] = {"plan_seq": found.plan.made_seq}
    if found.summary is not None:
        origins[Section.SUMMARY] = {
            "session_id": found.summary.session_id,
            "from_seq": found.summary.from_seq,
            "through_seq": found.summary.through_seq,
        }
    return origins
