"""``memci.read.handover``: what another agent needs to go on with a session (R8).

``memci.read.summarise``: what was said, in short (R20).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile

from memci.domain.context.session_summary import summarised
from memci.domain.context.token_budget import Count
from memci.domain.pages.tree import Viewer
from memci.domain.session.handover import Handover, exchanges
from memci.domain.session.plan import plan_text
from memci.errors import NotFoundError
from memci.language.detection import language_of
from memci.language.sentences import sentence_spans
from memci.language.summary_lines import whole_lines
from memci.message import Message, Role, note_metadata
from memci.queue.summary_requests import request_summary
from memci.reading.choose import today
from memci.reading.deferred_writes import use_of
from memci.reading.reader import Reader, wait_until_fresh
from memci.schemas.memory_tools import Summary, SummaryRequest
from memci.schemas.sessions import HandoverAnswer, HandoverRequest
from memci.smallmodel.ports import Summarizer
from memci.storage.agents import check_there, parameters_of
from memci.storage.pages.visible_pages import request_viewer
from memci.storage.pins import read_pins
from memci.storage.plans import read_plan
from memci.storage.reading.messages import message_ids, messages_at, recent_messages
from memci.storage.reading.snapshot_state import Progress, progress
from memci.storage.session import Connection
from memci.storage.sessions import Conversation, Said, language_spoken
from memci.storage.summaries import StoredSummary, read_summary

# What is read of a session beside its summary: what is not summed up yet, and what was said last.
_MOST_BETWEEN = 2_000
_MOST_RECENT = 500


@dataclass(frozen=True, slots=True)
class _Read:
    """What one snapshot gave; ``between``: said after the summary, before what is recent.

    ``unread`` messages of these were not read, being too many.

    ``summarized``: whether the agent's sessions get summaries.
    """

    now: Progress
    viewer: Viewer
    stored: StoredSummary | None
    between: Sequence[Message]
    unread: int
    handover: Handover
    ids: dict[int, str]
    summarized: bool
    summary_max_tokens: int


@dataclass(frozen=True)
class HandingOver(Reader):
    """Writes the document; no language model is called.

    What no summary tells of yet is summed up by the extractor, and a summary is asked for. Of the
    recent interactions the newest ``_MOST_RECENT`` messages stand there; of what was said between
    these and the summary the first ``_MOST_BETWEEN`` are read, and it says how many were not.
    """

    extractor: Summarizer

    def run(self, agent_id: str, request: HandoverRequest) -> HandoverAnswer:
        """Return the document, of at most ``budget_tokens`` if given.

        Raises ``NotFoundError`` for no agent or session, ``BudgetTooSmallError`` where pins and
        plan alone do not fit.
        """
        wait_until_fresh(self.database, agent_id, request)
        read = self._read(agent_id, request)
        count = self.models.tokenizers.count(self.defaults.tokenizer)
        handover = replace(read.handover, summary=self._summary(read, read.between, count))
        told = read.between
        if request.budget_tokens is None:
            handover = handover.without_repeated_lines()
        else:
            handover, told = self._within(request.budget_tokens, read, handover, count)
        if read.between and read.summarized:
            request_summary(self.database, agent_id, read.viewer.session_id)
        seqs = [each.seq for each in handover.messages]
        use = use_of(agent_id, "handover", read.now, (seqs, []), read.ids)
        self.activity.note(agent_id, use=use)
        text = handover.text()
        last = told[-1].seq if told else 0
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
            unread=read.unread,
            seq=read.now.seq,
            pending=read.now.pending,
        )

    def _read(self, agent_id: str, request: HandoverRequest) -> _Read:
        with self.database.agent_snapshot(agent_id) as connection:
            check_there(connection, agent_id)
            viewer = _asked(connection, agent_id, request)
            whose = request_viewer(connection, agent_id, viewer.session_id, viewer.user_id)
            parameters = parameters_of(connection, agent_id, self.defaults.memory)
            stored = read_summary(connection, agent_id, viewer.session_id, viewer)
            conversation = Conversation(connection, agent_id, viewer.session_id)
            if request.session_id is not None and conversation.last() is None:
                raise NotFoundError(
                    "there is no such session: one exists from its first message on"
                )
            user = viewer.user_id
            before = conversation.before_recent(max(1, parameters.preserve_recent), user)
            recent = conversation.last_said(
                after=before, through=None, most=_MOST_RECENT, user=user
            )
            if len(recent) == _MOST_RECENT:
                answers = _answers(recent)
                before = recent[answers - 1].message.seq if answers else recent[0].message.seq - 1
                recent = recent[answers:]
            through = 0 if stored is None else stored.through_seq
            between = conversation.said(
                after=through, through=before, most=_MOST_BETWEEN, user=user
            )
            last = between[-1].message.seq if len(between) == _MOST_BETWEEN else before
            unread = 0
            if last < before:
                unread = conversation.how_many(after=last, through=before, user=user)
            said = [each.message for each in recent]
            language = language_spoken(connection, agent_id, viewer)
            return _Read(
                now=progress(connection, agent_id),
                viewer=viewer,
                stored=stored,
                between=summarised([each.message for each in between]),
                unread=unread,
                handover=Handover(
                    unread=unread,
                    session_id=viewer.session_id,
                    language=language or language_of(" ".join(each.text for each in said)),
                    pins=list(filter(whose.sees, read_pins(connection, agent_id).pins)),
                    plan=_plan(connection, agent_id, whose),
                    recent=exchanges(said),
                    mark="=" if request.format == "text" else "#",
                    today=today(said),
                    spans=sentence_spans,
                ),
                ids=message_ids(connection, agent_id, [each.seq for each in said]),
                summarized=parameters.summarization_enabled,
                summary_max_tokens=parameters.summary_max_tokens,
            )

    def _within(
        self, budget: int, read: _Read, whole: Handover, count: Count
    ) -> tuple[Handover, Sequence[Message]]:
        """Return it in its budget, and what it sums up beside what is stored.

        That is what has no room word for word, too.
        """
        held = whole.within(budget, count, whole_lines)
        kept = {each.seq for each in held.messages}
        told_of = read.stored.through_seq if read.stored else 0
        left = [each for each in whole.messages if each.seq not in kept and each.seq > told_of]
        if not left or read.unread:
            return held, read.between
        told = [*read.between, *summarised(left)]
        summary = self._summary(read, told, count)
        return held.with_summary(summary, budget, count, whole_lines), told

    def _summary(self, read: _Read, since: Sequence[Message], count: Count) -> str:
        """Return the stored summary, gone on with what was said since."""
        stored = read.stored.text if read.stored else ""
        if not since:
            return stored
        source = "\n".join([stored, *(each.text for each in since)])
        target = max(1, read.summary_max_tokens * len(source) // max(1, count(source)))
        return self.extractor.summarize(since, stored, target)


def _answers(recent: Sequence[Said]) -> int:
    """Return how many begin it that answer calls before it: a result is told of with its call."""
    roles = (each.message.role for each in recent)
    return len(list(takewhile(lambda role: role is Role.TOOL, roles)))


def _asked(connection: Connection, agent_id: str, request: HandoverRequest) -> Viewer:
    """Return whose words of which session are asked for: without one, of the last message's."""
    session = request.session_id
    if session is None:
        last = recent_messages(
            connection, agent_id, session_id=None, user_id=request.user_id, interactions=1
        )
        session = last[-1].session_id if last else None
    return Viewer(session, request.user_id)


def _plan(connection: Connection, agent_id: str, viewer: Viewer) -> str | None:
    """Return the session's plan as lines, in the language of its steps."""
    plan = read_plan(connection, agent_id, viewer)
    said = " ".join(each.text for each in plan.steps) if plan else ""
    return plan_text(plan, language_of(said)) or None


_LONGEST = 16_000  # characters; no text of so few tokens has more


class Summarise(Reader):
    """Sums up by the summarizer; its call is made outside of any transaction."""

    def run(self, agent_id: str, request: SummaryRequest) -> Summary:
        """Return a summary of at most ``max_tokens`` tokens; raises ``NotFoundError``: no agent.

        It is never longer than what it sums up.
        """
        with self.database.agent_snapshot(agent_id) as connection:
            check_there(connection, agent_id)
            now = progress(connection, agent_id)
            said = messages_at(connection, agent_id, request.seqs)
        count = self.models.tokenizers.count(self.defaults.tokenizer)
        messages = [each for each in (*said, *map(_note, request.texts)) if each.text.strip()]
        previous = request.previous.strip()
        source = "\n".join([*([previous] if previous else []), *map(_line, messages)])
        of_tokens = count(source)
        text = self._summary(messages, previous, request.max_tokens, (of_tokens, count))
        if not text or count(text) >= of_tokens:
            text = _cut(source, request.max_tokens, count)
        ids = {each.seq: each.id for each in said}
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
        """Ask for as many characters as so many tokens of these texts are; then drop last lines."""
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
    """Return so much of a text, from its beginning, as has at most so many tokens."""
    while (tokens := count(text)) > max_tokens:
        text = text[: min(len(text) - 1, len(text) * max_tokens // tokens)].rstrip()
    return text


def _line(message: Message) -> str:
    """Return what was said, and who said it: of what an agent noted, nobody did."""
    speaker = message.name or message.role
    return message.text if message.is_note else f"{speaker}: {message.text}"


def _note(text: str) -> Message:
    """Return a text of the agent's own, which it said to nobody."""
    return Message(0, "", Role.ASSISTANT, text, datetime.now(UTC), metadata=note_metadata())
