"""``memci.session.summarise``: continues the rolling summary of a session (R8)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memci.domain.context.session_summary import messages_at_once, summarised
from memci.domain.job import Job, JobKind
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.token_counts import message_tokens
from memci.jobs.consolidate import utc_now
from memci.message import Message
from memci.queue.runner import Effect, Handler
from memci.queue.summary_requests import (
    begin_sessions,
    note_next_silence,
    request_summaries,
    request_where_long,
)
from memci.smallmodel.ports import Summarizer, TokenCounter
from memci.storage.agents import parameters_of
from memci.storage.messages import read_messages
from memci.storage.session import Connection, Database
from memci.storage.sessions import Conversation, LastMessage, conversation_at
from memci.storage.summaries import (
    StoredSummary,
    open_sessions,
    save_count,
    save_summary,
    summaries_of,
)

# The part of a session that one job reads or sums up, so that other jobs run in between.
MAX_MESSAGES = 500
MAX_TOKENS = 16_000
_SHRINK = 0.95  # the next target, where a summary came out too long


@dataclass(frozen=True, slots=True)
class _Continuation:
    """A summary and the messages that continue it."""

    before: StoredSummary
    messages: Sequence[Message]
    through: int  # the seq of the last message
    users: frozenset[str]
    final: bool  # the session has ended
    more: bool  # more messages follow


def _is_current(connection: Connection, agent_id: str, new: _Continuation) -> bool:
    """Return True if reads still show all that was summed up."""
    shown = read_messages(connection, agent_id, [each.seq for each in new.messages])
    stored = summaries_of(connection, agent_id, new.before.session_id)
    before = _before(new.before.session_id, stored, new.before.user_id)
    is_shown = [each.text for each in shown] == [each.text for each in new.messages]
    return is_shown and before.text == new.before.text


@dataclass(frozen=True, slots=True)
class _Plan:
    """The work of one job for a session."""

    counted: StoredSummary | None = None  # new counts of the summary of all users, if it stays
    continuations: Sequence[_Continuation] = ()
    more: bool = False  # another job has to follow


@dataclass(frozen=True, slots=True)
class SessionSummaries:
    """Sums up the messages of a session since its last summary, without the latest interactions.

    Once the session has ended, these too. Where several users speak in it, each also gets a summary
    of the messages that this user can see.
    """

    kind = JobKind.SUMMARISE
    triggers_compression = False

    database: Database
    summarizer: Summarizer
    counter: TokenCounter
    model: str  # which is stored with each summary
    defaults: MemoryParameters  # of agents that set none
    max_job_tokens: int = MAX_TOKENS  # that one job sums up
    clock: Callable[[], datetime] = utc_now

    def prepare(self, job: Job) -> Effect:
        """Read the new messages, and have them summed up, with no transaction open."""
        now = bool(job.payload.get("now"))
        with self.database.agent_snapshot(job.agent_id) as connection:
            parameters = parameters_of(connection, job.agent_id, self.defaults)
            conversation = conversation_at(connection, job.agent_id, job.payload.get("seqs", ()))
            last = None if conversation is None else conversation.last()
            if conversation is None or last is None or not parameters.summarization_enabled:
                return lambda _: {"summaries": 0}
            plan = self._plan(conversation, last, parameters, now=now)
        made = [self._summary(each, parameters.summary_max_tokens) for each in plan.continuations]

        def effect(connection: Connection) -> Mapping[str, Any]:
            saved: list[StoredSummary] = []
            current = [_is_current(connection, job.agent_id, each) for each in plan.continuations]
            for is_current, summary in zip(current, made, strict=True):
                if is_current:
                    save_summary(connection, job.agent_id, summary)
                    saved.append(summary)
            if plan.counted is not None:
                save_count(connection, job.agent_id, plan.counted)
            # Look again where messages were erased meanwhile, or parts of them withheld.
            if plan.more or len(saved) < len(made):
                session_id = conversation.session_id
                request_summaries(connection, job.agent_id, [session_id], now=now)
            return {
                "summaries": len(saved),
                "messages": sum(len(each.messages) for each in plan.continuations),
                "through_seq": max((each.through_seq for each in saved), default=None),
                "tokens": sum(each.tokens for each in saved),
            }

        return effect

    def _plan(
        self,
        conversation: Conversation,
        last: LastMessage,
        parameters: MemoryParameters,
        *,
        now: bool,
    ) -> _Plan:
        stored = summaries_of(conversation.connection, conversation.agent_id,
                              conversation.session_id)  # fmt: skip
        whole = stored.get(None, StoredSummary(conversation.session_id))
        silence = parameters.session_silence
        ended = conversation.session_id is not None and (
            last.ended or last.received_at + silence <= self.clock()
        )
        if not ended and not now:
            whole = self._counted(conversation, whole)
            if whole.counted_tokens <= parameters.summary_threshold:
                return _Plan(whole, more=whole.counted_seq < last.seq)
        preserved = None if ended else parameters.preserve_recent
        users = whole.users | conversation.users(after=whole.through_seq)
        each_user = sorted(users) if len(users) > 1 else ()
        summaries = [_before(conversation.session_id, stored, user) for user in (None, *each_user)]
        found = list(self._continuations(conversation, summaries, last, preserved))
        of_all = any(each.before.user_id is None for each in found)
        done = ended and not of_all
        counted = None if of_all else replace(whole, final=done)
        return _Plan(counted, found, more=any(each.more for each in found))

    def _counted(self, conversation: Conversation, whole: StoredSummary) -> StoredSummary:
        """Count the messages since the last count, or since the summary."""
        from_here = max(whole.counted_seq, whole.through_seq)
        said = conversation.messages(after=from_here, through=None, most=MAX_MESSAGES)
        tokens = message_tokens([each.message for each in said], self.counter.count)
        return replace(
            whole,
            counted_seq=said[-1].message.seq if said else from_here,
            counted_tokens=whole.counted_tokens + tokens,
        )

    def _continuations(
        self,
        conversation: Conversation,
        summaries: Sequence[StoredSummary],
        last: LastMessage,
        preserved: int | None,
    ) -> Iterator[_Continuation]:
        for before in summaries:
            end = last.seq
            if preserved:
                recent = conversation.before_recent(preserved, before.user_id)
                end = last.seq if recent is None else recent
            said = conversation.messages(
                after=before.through_seq, through=end, most=MAX_MESSAGES + 1, user=before.user_id
            )
            if end <= before.through_seq or not said:
                continue
            messages = [each.message for each in said[:MAX_MESSAGES]]
            cut = len(said) > MAX_MESSAGES
            count = self.counter.count
            taken = messages_at_once(messages, self.max_job_tokens, count, more=cut)
            whole = taken == len(messages) and not cut
            yield _Continuation(
                before,
                messages[:taken],
                end if whole else messages[taken - 1].seq,
                before.users | {each.user_id for each in said[:taken] if each.user_id is not None},
                final=whole and preserved is None and before.user_id is None,
                more=not whole,
            )

    def _summary(self, new: _Continuation, max_tokens: int) -> StoredSummary:
        before, messages = new.before, summarised(new.messages)
        text = self._text(messages, before.text, max_tokens) if messages else before.text
        return StoredSummary(
            session_id=before.session_id,
            user_id=before.user_id,
            users=new.users,
            from_seq=before.from_seq or new.messages[0].seq,
            through_seq=new.through,
            text=text,
            tokens=self.counter.count(text),
            model=self.model,
            final=new.final,
        )

    def _text(self, messages: Sequence[Message], previous: str, max_tokens: int) -> str:
        """Return a summary of at most ``max_tokens``; the summarizer gets a limit in characters."""
        count, summarizer = self.counter.count, self.summarizer
        source = "\n".join([previous, *(each.text for each in messages)])
        target = max(1, max_tokens * len(source) // max(1, count(source)))
        text = summarizer.summarize(messages, previous, target).strip()
        while (tokens := count(text)) > max_tokens:
            target = int(min(len(text) - 1, len(text) * max_tokens / tokens * _SHRINK))
            text = summarizer.summarize([], text, target).strip()[:target]
        return text


def _before(
    session_id: str | None, stored: Mapping[str | None, StoredSummary], user: str | None
) -> StoredSummary:
    """Return the summary to continue: the user's own, or that of all where there was one user."""
    whole = stored.get(None, StoredSummary(session_id))
    if user in stored or user is None:
        return stored.get(user, whole)
    if whole.text and whole.users <= {user}:
        return replace(whole, user_id=user, final=False)
    return StoredSummary(session_id, user)


class WithSummaryRequests:
    """A handler whose effect also requests summaries."""

    def __init__(self, handler: Handler, request: Callable[[Connection, Job], None]) -> None:
        """Call ``request`` at the end of the handler's effect."""
        self.kind = handler.kind
        self.triggers_compression = handler.triggers_compression
        self._handler = handler
        self._request = request

    def prepare(self, job: Job) -> Effect:
        """Prepare as the handler does."""
        effect = self._handler.prepare(job)

        def both(connection: Connection) -> Mapping[str, Any]:
            result = effect(connection)
            self._request(connection, job)
            return result

        return both


@dataclass(frozen=True, slots=True)
class SummaryRequests:
    """Requests summaries of sessions that have grown long, and of those that have ended."""

    defaults: MemoryParameters
    clock: Callable[[], datetime] = utc_now

    def of_messages(self, connection: Connection, job: Job) -> None:
        """Request summaries of the sessions of a job's messages, where they are long."""
        parameters = parameters_of(connection, job.agent_id, self.defaults)
        if not parameters.summarization_enabled or job.first_seq is None or job.last_seq is None:
            return
        agent_id, first, last = job.agent_id, job.first_seq, job.last_seq
        silence = parameters.session_silence
        begin_sessions(connection, agent_id, first, last, silence=silence)
        request_where_long(
            connection,
            agent_id,
            (first, last),
            threshold=parameters.summary_threshold,
            preserved=parameters.preserve_recent,
        )

    def of_sessions(self, connection: Connection, job: Job) -> None:
        """Request summaries of sessions that have ended; let upkeep look again when others end."""
        parameters = parameters_of(connection, job.agent_id, self.defaults)
        if not parameters.summarization_enabled:
            return
        silence = parameters.session_silence
        found, now = open_sessions(connection, job.agent_id, silence=silence), self.clock()
        over = [each for each in found if each.ended or each.ends_at <= now]
        request_summaries(connection, job.agent_id, [each.session_id for each in over])
        ends = [each.ends_at for each in found if each not in over]
        if ends:
            note_next_silence(connection, job.agent_id, min(ends))
