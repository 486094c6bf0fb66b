"""``memci.session.summarise``: continues the rolling summary of a session (R8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from memci.domain.context.session_summary import messages_at_once, summarised
from memci.domain.context.token_budget import message_tokens
from memci.domain.job import Job, JobKind
from memci.domain.memory.parameters import MemoryParameters
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
from memci.storage.pages.tree import messages_exist
from memci.storage.session import Connection, Database
from memci.storage.sessions import Conversation, LastMessage, conversation_at
from memci.storage.summaries import (
    StoredSummary,
    open_sessions,
    save_count,
    save_summary,
    summaries_of,
)

# What one job reads of a session, or sums up of it, so that others come between.
MOST_MESSAGES = 500
MOST_TOKENS = 16_000
_SHRINK = 0.95  # of a summary that came out too long, so that it ends soon


@dataclass(frozen=True, slots=True)
class _Roll:
    """A summary, and what it is to go on with: the messages after it, through a seq.

    ``more``: another piece follows.
    """

    before: StoredSummary
    said: Sequence[Message]
    through: int
    users: frozenset[str]
    final: bool
    more: bool


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be done for a session.

    ``counted``: what was counted, and whether the session is done with, when nothing is summed up
    of all that was said. ``more``: there is more than one job does.
    """

    counted: StoredSummary | None = None
    rolls: Sequence[_Roll] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class Summing:
    """What sums up, under the name that is kept beside its summaries, and what counts."""

    summarizer: Summarizer
    counter: TokenCounter
    model: str


class SessionSummaries:
    """Sums up what was said in a session since its last summary, without the latest interactions.

    Once the session has ended these too. Where several users speak in it, each gets a summary of
    what is in that user's sight beside the one of all that was said.
    """

    kind = JobKind.SUMMARISE
    triggers_compression = False

    def __init__(
        self,
        database: Database,
        summing: Summing,
        defaults: MemoryParameters,
        *,
        most_tokens: int = MOST_TOKENS,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Take the parameters of agents that set none; one job sums up ``most_tokens`` tokens."""
        self._database = database
        self._summing = summing
        self._defaults = defaults
        self._most_tokens = most_tokens
        self._clock = clock

    def prepare(self, job: Job) -> Effect:
        """Read what was said since, and have it summed up, with no transaction open."""
        now = bool(job.payload.get("now"))
        with self._database.agent_snapshot(job.agent_id) as connection:
            parameters = parameters_of(connection, job.agent_id, self._defaults)
            conversation = conversation_at(connection, job.agent_id, job.payload.get("seqs", ()))
            last = None if conversation is None else conversation.last()
            if conversation is None or last is None or not parameters.summarization_enabled:
                return _nothing
            plan = self._plan(conversation, last, parameters, now=now)
        made = [self._made(each, parameters.summary_max_tokens) for each in plan.rolls]
        return _Effect(job.agent_id, conversation.session_id, plan, made, now)

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
            last.ended or last.received_at + silence <= self._clock()
        )
        if not ended and not now:
            whole = self._counted(conversation, whole)
            if whole.counted_tokens <= parameters.summary_threshold:
                return _Plan(whole, more=whole.counted_seq < last.seq)
        kept = None if ended else parameters.preserve_recent
        users = whole.users | conversation.users(after=whole.through_seq)
        each_alone = sorted(users) if len(users) > 1 else ()
        wanted = [_before(conversation.session_id, stored, user) for user in (None, *each_alone)]
        rolls = list(self._rolls(conversation, wanted, last, kept))
        of_all = any(roll.before.user_id is None for roll in rolls)
        done = ended and not of_all
        counted = None if of_all else replace(whole, final=done)
        return _Plan(counted, rolls, more=any(roll.more for roll in rolls))

    def _counted(self, conversation: Conversation, whole: StoredSummary) -> StoredSummary:
        """Count what was said since it was last counted, or since the summary."""
        from_here = max(whole.counted_seq, whole.through_seq)
        said = conversation.first_messages(after=from_here, through=None, most=MOST_MESSAGES)
        tokens = message_tokens([each.message for each in said], self._summing.counter.count)
        return replace(
            whole,
            counted_seq=said[-1].message.seq if said else from_here,
            counted_tokens=whole.counted_tokens + tokens,
        )

    def _rolls(
        self,
        conversation: Conversation,
        wanted: Sequence[StoredSummary],
        last: LastMessage,
        kept: int | None,
    ) -> Iterator[_Roll]:
        for before in wanted:
            end = _end(conversation, before, last, kept)
            said = conversation.first_messages(
                after=before.through_seq, through=end, most=MOST_MESSAGES + 1, user=before.user_id
            )
            if end <= before.through_seq or not said:
                continue
            messages = [each.message for each in said[:MOST_MESSAGES]]
            cut = len(said) > MOST_MESSAGES
            count = self._summing.counter.count
            taken = messages_at_once(messages, self._most_tokens, count, more=cut)
            whole = taken == len(messages) and not cut
            yield _Roll(
                before,
                messages[:taken],
                end if whole else messages[taken - 1].seq,
                before.users | {each.user_id for each in said[:taken] if each.user_id is not None},
                final=whole and kept is None and before.user_id is None,
                more=not whole,
            )

    def _made(self, roll: _Roll, max_tokens: int) -> StoredSummary:
        before, messages = roll.before, summarised(roll.said)
        text = self._text(messages, before.text, max_tokens) if messages else before.text
        return StoredSummary(
            session_id=before.session_id,
            user_id=before.user_id,
            users=roll.users,
            from_seq=before.from_seq or roll.said[0].seq,
            through_seq=roll.through,
            text=text,
            tokens=self._summing.counter.count(text),
            model=self._summing.model,
            final=roll.final,
        )

    def _text(self, messages: Sequence[Message], previous: str, max_tokens: int) -> str:
        """Ask for as many characters as so many tokens of these texts are, and hold it to them."""
        count, summarizer = self._summing.counter.count, self._summing.summarizer
        source = "\n".join([previous, *(each.text for each in messages)])
        target = max(1, max_tokens * len(source) // max(1, count(source)))
        text = summarizer.summarize(messages, previous, target).strip()
        while (tokens := count(text)) > max_tokens:
            target = int(min(len(text) - 1, len(text) * max_tokens / tokens * _SHRINK))
            text = summarizer.summarize([], text, target).strip()[:target]
        return text


@dataclass(frozen=True, slots=True)
class _Effect:
    agent_id: str
    session_id: str | None
    plan: _Plan
    made: Sequence[StoredSummary] = field(default_factory=list)
    now: bool = False

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        saved: list[StoredSummary] = []
        for roll, summary in zip(self.plan.rolls, self.made, strict=True):
            if messages_exist(connection, self.agent_id, [each.seq for each in roll.said]):
                save_summary(connection, self.agent_id, summary)
                saved.append(summary)
        if self.plan.counted is not None:
            save_count(connection, self.agent_id, self.plan.counted)
        # What has changed meanwhile is looked at anew.
        if self.plan.more or len(saved) < len(self.made):
            request_summaries(connection, self.agent_id, [self.session_id], now=self.now)
        return {
            "summaries": len(saved),
            "messages": sum(len(roll.said) for roll in self.plan.rolls),
            "through_seq": max((each.through_seq for each in saved), default=None),
            "tokens": sum(each.tokens for each in saved),
        }


def _nothing(_: Connection) -> Mapping[str, Any]:
    return {"summaries": 0}


def _before(
    session_id: str | None, stored: Mapping[str | None, StoredSummary], user: str | None
) -> StoredSummary:
    """Return what a summary goes on from: its own, or what was one user's alone until now."""
    whole = stored.get(None, StoredSummary(session_id))
    if user in stored or user is None:
        return stored.get(user, whole)
    if whole.text and whole.users <= {user}:
        return replace(whole, user_id=user, final=False)
    return StoredSummary(session_id, user)


def _end(
    conversation: Conversation, before: StoredSummary, last: LastMessage, kept: int | None
) -> int:
    """Return the seq through which a summary is to go; without ``kept``, all of the session."""
    end = conversation.before_recent(kept, before.user_id) if kept else None
    return last.seq if end is None else end


Ask: TypeAlias = Callable[[Connection, Job], None]


@dataclass(frozen=True, slots=True)
class AskingAfter:
    """A kind of job whose effect asks for more, once all of its own is written."""

    handler: Handler
    ask: Ask

    @property
    def kind(self) -> str:
        """That of the handler."""
        return self.handler.kind

    @property
    def triggers_compression(self) -> bool:
        """As the handler has it."""
        return self.handler.triggers_compression

    def prepare(self, job: Job) -> Effect:
        """Think as the handler does; the effect writes what it writes, then asks."""
        effect = self.handler.prepare(job)

        def both(connection: Connection) -> Mapping[str, Any]:
            result = effect(connection)
            self.ask(connection, job)
            return result

        return both


@dataclass(frozen=True, slots=True)
class SummaryAsks:
    """Asks for summaries of sessions that have grown long, and of those that have ended."""

    defaults: MemoryParameters
    clock: Callable[[], datetime] = utc_now

    def of_messages(self, connection: Connection, job: Job) -> None:
        """Ask for the sessions of a job's messages."""
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
        """Ask for sessions that have ended, and have upkeep look again when others will."""
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
