"""``memci.read.handover``: the document with which another agent continues a session (R8).

``memci.read.summarise``: a summary of messages and texts (R20).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile

from memci.domain.context.handover import Handover, exchanges
from memci.domain.context.session_summary import summarised
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.tree import Viewer
from memci.domain.session.plan import plan_text
from memci.domain.token_counts import Count
from memci.errors import NotFoundError
from memci.language.detection import language_of
from memci.language.sentences import sentence_spans
from memci.language.summary_lines import shorten_summary
from memci.message import Message, Role, note_metadata
from memci.queue.summary_requests import request_summary
from memci.reading.choose import today
from memci.reading.deferred_writes import use_of
from memci.reading.reader import Reader, wait_until_fresh
from memci.schemas.sessions import HandoverAnswer, HandoverRequest
from memci.schemas.tools.memory import Summary, SummaryRequest
from memci.smallmodel.ports import Summarizer
from memci.storage import agents, pins, plans
from memci.storage.messages import read_messages
from memci.storage.pages.page_queries import request_viewer
from memci.storage.reading.messages import message_ids, recent_messages
from memci.storage.reading.snapshot_state import Progress, progress
from memci.storage.session import Connection
from memci.storage.sessions import Conversation, SessionMessage, language_spoken
from memci.storage.summaries import StoredSummary, read_summary

# Messages that are read beside the summary: those after it, and the recent ones.
_MOST_BETWEEN = 2_000
_MOST_RECENT = 500


@dataclass(frozen=True, slots=True)
class _Read:
    now: Progress
    viewer: Viewer
    stored: StoredSummary | None
    between: Sequence[Message]  # after the summary, before the recent messages
    handover: Handover
    ids: dict[int, str]  # of the recent messages, by seq
    parameters: MemoryParameters


@dataclass(frozen=True)
class HandoverReader(Reader):
    """Writes the document; no language model is called.

    The extractor summarises messages after the stored summary, and a new summary is requested. The
    newest ``_MOST_RECENT`` recent messages are shown. Of the messages between them and the summary
    the first ``_MOST_BETWEEN`` are read; the document counts the others.
    """

    extractor: Summarizer

    def run(self, agent_id: str, request: HandoverRequest) -> HandoverAnswer:
        """Return the document, of at most ``budget_tokens`` if given.

        Raises ``NotFoundError`` for no agent or session, ``BudgetTooSmallError`` if pins and plan
        alone do not fit.
        """
        wait_until_fresh(self.database, agent_id, request)
        read = self._read(agent_id, request)
        count = self.models.tokenizers.count(self.defaults.tokenizer)
        handover = replace(read.handover, summary=self._summary(read, read.between, count))
        summarised_messages = read.between
        if request.budget_tokens is None:
            handover = handover.without_repeated_lines()
        else:
            handover, summarised_messages = self._within(
                request.budget_tokens, read, handover, count
            )
        if read.between and read.parameters.summarization_enabled:
            request_summary(self.database, agent_id, read.viewer.session_id)
        seqs = [each.seq for each in handover.messages]
        use = use_of(agent_id, "handover", read.now, (seqs, []), read.ids)
        self.activity.note(agent_id, use=use)
        text = handover.text()
        last = summarised_messages[-1].seq if summarised_messages else 0
        through = read.stored.through_seq if read.stored else 0
        return HandoverAnswer(
            text=text,
            tokens=count(text),
            tokenizer=self.defaults.tokenizer,
            session_id=read.viewer.session_id,
            user_id=read.viewer.user_id,
            through_seq=max(last, through) or None if handover.summary else None,
            message_ids=[read.ids[seq] for seq in seqs],
            left_out=len(read.handover.messages) - len(seqs),
            unread=read.handover.unread,
            seq=read.now.seq,
            pending=read.now.pending,
        )

    def _read(self, agent_id: str, request: HandoverRequest) -> _Read:
        with self.database.agent_snapshot(agent_id) as connection:
            agents.check_there(connection, agent_id)
            viewer = _viewer(connection, agent_id, request)
            sees = request_viewer(connection, agent_id, viewer.session_id, viewer.user_id)
            parameters = agents.parameters_of(connection, agent_id, self.defaults.memory)
            stored = read_summary(connection, agent_id, viewer.session_id, viewer)
            conversation = Conversation(connection, agent_id, viewer.session_id)
            if request.session_id is not None and conversation.last() is None:
                raise NotFoundError(
                    "there is no such session: one exists from its first message on"
                )
            user = viewer.user_id
            before = conversation.before_recent(max(1, parameters.preserve_recent), user)
            recent = conversation.messages(
                after=before, through=None, most=_MOST_RECENT, user=user, newest=True
            )
            if len(recent) == _MOST_RECENT:
                answers = _results_at_start(recent)
                before = recent[answers - 1].message.seq if answers else recent[0].message.seq - 1
                recent = recent[answers:]
            through = 0 if stored is None else stored.through_seq
            between = conversation.messages(
                after=through, through=before, most=_MOST_BETWEEN, user=user
            )
            last = between[-1].message.seq if len(between) == _MOST_BETWEEN else before
            unread = 0
            if last < before:
                unread = conversation.count(after=last, through=before, user=user)
            messages = [each.message for each in recent]
            language = language_spoken(connection, agent_id, viewer)
            return _Read(
                now=progress(connection, agent_id),
                viewer=viewer,
                stored=stored,
                between=summarised([each.message for each in between]),
                handover=Handover(
                    unread=unread,
                    session_id=viewer.session_id,
                    language=language or language_of(" ".join(each.text for each in messages)),
                    pins=list(filter(sees.sees, pins.read_pins(connection, agent_id).pins)),
                    plan=_plan(connection, agent_id, sees),
                    recent=exchanges(messages),
                    mark="=" if request.format == "text" else "#",
                    today=today(messages),
                    spans=sentence_spans,
                ),
                ids=message_ids(connection, agent_id, [each.seq for each in messages]),
                parameters=parameters,
            )

    def _within(
        self, budget: int, read: _Read, whole: Handover, count: Count
    ) -> tuple[Handover, Sequence[Message]]:
        """Return the document within its budget, and the messages added to the stored summary.

        Recent messages without room are also summarised.
        """
        handover = whole.within(budget, count, shorten_summary)
        shown = {each.seq for each in handover.messages}
        through = read.stored.through_seq if read.stored else 0
        left = [each for each in whole.messages if each.seq not in shown and each.seq > through]
        if not left or whole.unread:
            return handover, read.between
        added = [*read.between, *summarised(left)]
        summary = self._summary(read, added, count)
        return handover.with_summary(summary, budget, count, shorten_summary), added

    def _summary(self, read: _Read, since: Sequence[Message], count: Count) -> str:
        stored = read.stored.text if read.stored else ""
        if not since:
            return stored
        source = "\n".join([stored, *(each.text for each in since)])
        target = max(1, read.parameters.summary_max_tokens * len(source) // max(1, count(source)))
        return self.extractor.summarize(since, stored, target)


def _results_at_start(recent: Sequence[SessionMessage]) -> int:
    """Return the number of leading tool results: their call is not among the messages."""
    roles = (each.message.role for each in recent)
    return len(list(takewhile(lambda role: role is Role.TOOL, roles)))


def _viewer(connection: Connection, agent_id: str, request: HandoverRequest) -> Viewer:
    """Return the session (default: that of the last message) and the user of a request."""
    session = request.session_id
    if session is None:
        last = recent_messages(
            connection, agent_id, session_id=None, user_id=request.user_id, interactions=1
        )
        session = last[-1].session_id if last else None
    return Viewer(session, request.user_id)


def _plan(connection: Connection, agent_id: str, viewer: Viewer) -> str | None:
    """Return the session's plan as lines, in the language of its steps."""
    plan = plans.read_plan(connection, agent_id, viewer)
    steps = " ".join(each.text for each in plan.steps) if plan else ""
    return plan_text(plan, language_of(steps)) or None


_LONGEST = 16_000  # characters; no text of so few tokens has more


class Summarise(Reader):
    """Summarises with the summarizer, outside of any transaction."""

    def run(self, agent_id: str, request: SummaryRequest) -> Summary:
        """Return a summary of at most ``max_tokens`` tokens, never longer than its source.

        Raises ``NotFoundError`` for no agent.
        """
        with self.database.agent_snapshot(agent_id) as connection:
            agents.check_there(connection, agent_id)
            now = progress(connection, agent_id)
            stored = read_messages(connection, agent_id, request.seqs)
        count = self.models.tokenizers.count(self.defaults.tokenizer)
        messages = [each for each in (*stored, *map(_note, request.texts)) if each.text.strip()]
        previous = request.previous.strip()
        source = "\n".join([*([previous] if previous else []), *map(_line, messages)])
        of_tokens = count(source)
        text = self._summary(messages, previous, request.max_tokens, (of_tokens, count))
        if not text or count(text) >= of_tokens:
            text = _cut(source, request.max_tokens, count)
        ids = {each.seq: each.id for each in stored}
        use = use_of(agent_id, "summarise", now, (ids.keys(), []), ids)
        self.activity.note(agent_id, use=use)
        return Summary(text=text, tokens=count(text), of_tokens=of_tokens)

    def _summary(
        self,
        messages: Sequence[Message],
        previous: str,
        max_tokens: int,
        counted: tuple[int, Count],
    ) -> str:
        """Request a summary by characters, then drop last lines over ``max_tokens``."""
        of_tokens, count = counted
        if not of_tokens:
            return ""
        characters = len(previous) + sum(len(each.text) for each in messages)
        target = min(_LONGEST, max(1, max_tokens * characters // of_tokens))
        text = self.models.summarizer.summarize(messages, previous, target).strip()
        lines = text.splitlines()
        while len(lines) > 1 and count("\n".join(lines)) > max_tokens:
            lines.pop()
        return _cut("\n".join(lines), max_tokens, count)


def _cut(text: str, max_tokens: int, count: Count) -> str:
    while (tokens := count(text)) > max_tokens:
        text = text[: min(len(text) - 1, len(text) * max_tokens // tokens)].rstrip()
    return text


def _line(message: Message) -> str:
    speaker = message.name or message.role
    return message.text if message.is_note else f"{speaker}: {message.text}"


def _note(text: str) -> Message:
    return Message(0, "", Role.ASSISTANT, text, datetime.now(UTC), metadata=note_metadata())
