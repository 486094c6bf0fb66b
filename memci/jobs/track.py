"""``memci.message.track``: key messages are pinned, and plans are followed (R7).

Each message is examined once, in order, after the lane's other work.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from memci.domain.job import Job, JobKind
from memci.domain.pages.automatic_pins import bound_to, pinned
from memci.domain.pages.key_messages import KeySentence, key_sentences, may_have_keys
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.pins import Maker, Pin
from memci.domain.pages.tree import Viewer
from memci.domain.session.plan import Plan
from memci.domain.session.plan_tracker import PlanSigns, follow, plan_signs
from memci.message import Message
from memci.queue import mailbox
from memci.queue.runner import Effect
from memci.smallmodel.ports import SentenceReader, TokenCounter
from memci.storage import plans as stored_plans
from memci.storage.agents import parameters_of
from memci.storage.messages import stored_seqs
from memci.storage.network.edits import withheld_places
from memci.storage.pages.tree import lock_tree
from memci.storage.pins import read_pins, refused_pins, save_pins
from memci.storage.session import Connection, Database

# Messages of one job, so that other jobs run in between.
MOST_SEARCHED = 200


@dataclass(frozen=True, slots=True)
class _Finding:
    """A message with key sentences, or with signs of a plan."""

    message: Message
    keys: Sequence[KeySentence]
    plan: PlanSigns


_Viewed: TypeAlias = tuple[Viewer, _Finding]


def is_to_track(messages: Sequence[Message], reader: SentenceReader) -> bool:
    """Return True if any of these messages has key sentences or signs of a plan."""
    return any(_find(messages, reader))


@dataclass(frozen=True, slots=True)
class MessageTracking:
    """Pins key sentences of new messages, and follows plans in them."""

    kind = JobKind.TRACK_MESSAGES
    triggers_compression = False

    database: Database
    reader: SentenceReader
    counter: TokenCounter
    rules: PageRules  # of agents that set none
    most: int = MOST_SEARCHED  # messages that one job examines

    def prepare(self, job: Job) -> Effect:
        """Read the next messages, and find key sentences and signs of plans."""
        with self.database.agent_snapshot(job.agent_id) as connection:
            waiting = stored_plans.untracked_messages(connection, job.agent_id, self.most)
            rules = parameters_of(connection, job.agent_id, self.rules)
        findings = list(_find(waiting.messages, self.reader))
        return partial(
            self._write, agent_id=job.agent_id, waiting=waiting, findings=findings, rules=rules
        )

    def _write(
        self,
        connection: Connection,
        *,
        agent_id: str,
        waiting: stored_plans.Untracked,
        findings: Sequence[_Finding],
        rules: PageRules,
    ) -> Mapping[str, Any]:
        if stored_plans.tracked_seq(connection, agent_id) != waiting.seq:
            mailbox.submit_once(connection, agent_id, JobKind.TRACK_MESSAGES)
            return {"looked_at": 0, "pinned": 0, "plans": 0}
        seqs = [each.message.seq for each in findings]
        shown = set(stored_seqs(connection, agent_id, seqs))
        shown -= withheld_places(connection, agent_id, seqs).keys()
        viewed = _with_viewers(
            connection, agent_id, [each for each in findings if each.message.seq in shown]
        )
        count = self._pin(connection, agent_id, viewed, rules) if rules.key_messages_enabled else 0
        plans = _follow(connection, agent_id, viewed) if rules.plan_tracking_enabled else 0
        stored_plans.note_tracked(connection, agent_id, waiting.until)
        if waiting.more:
            mailbox.submit_once(connection, agent_id, JobKind.TRACK_MESSAGES)
        return {"looked_at": len(waiting.messages), "pinned": count, "plans": plans}

    def _pin(
        self, connection: Connection, agent_id: str, findings: Sequence[_Viewed], rules: PageRules
    ) -> int:
        if not any(each.keys for _, each in findings):
            return 0
        lock_tree(connection, agent_id)
        current = read_pins(connection, agent_id)
        refused = refused_pins(connection, agent_id)
        found = list(_pins(findings, current.last))
        done = pinned(found, current.pins, refused, rules, self.counter.count)
        save_pins(connection, agent_id, done.added, (), done.taken_down)
        return len(done.added)


def _follow(connection: Connection, agent_id: str, findings: Sequence[_Viewed]) -> int:
    """Update the plans by the messages; return the number of changes."""
    plans: dict[Viewer, Plan | None] = {}
    changed = 0
    for viewer, each in findings:
        if not each.plan:
            continue
        if viewer not in plans:
            plans[viewer] = stored_plans.read_plan(connection, agent_id, viewer)
        before = plans[viewer]
        plan = plans[viewer] = follow(before, each.message, each.plan, viewer.user_id)
        if plan is not None and plan is not before:
            stored_plans.save_plan(connection, agent_id, plan)
            changed += 1
    return changed


def _find(messages: Sequence[Message], reader: SentenceReader) -> Iterator[_Finding]:
    users = [message for message in messages if may_have_keys(message)]
    read = dict(zip((message.seq for message in users), reader.read(users), strict=True))
    for message in messages:
        sentences = read.get(message.seq, ())
        keys = key_sentences(message, ((each.start, each.stop, each.key) for each in sentences))
        plan = plan_signs(message)
        if keys or plan:
            yield _Finding(message, keys, plan)


def _with_viewers(
    connection: Connection, agent_id: str, findings: Sequence[_Finding]
) -> list[_Viewed]:
    """Return each finding with its viewer; the user may come from the session."""
    users = stored_plans.users_then(connection, agent_id, [each.message.seq for each in findings])
    return [
        (Viewer(each.message.session_id, each.message.user_id or users.get(each.message.seq)), each)
        for each in findings
    ]


def _pins(findings: Iterable[_Viewed], last: int) -> Iterator[Pin]:
    number = last
    for viewer, each in findings:
        for key in each.keys:
            number += 1
            yield Pin(
                number=number,
                kind=key.kind,
                text=key.text,
                by=Maker.DETECTOR,
                created_at=each.message.said_at,
                message_seq=each.message.seq,
                user_id=viewer.user_id,
                span=(key.start, key.end),
                session_id=bound_to(key.kind, viewer.session_id),
                speaker=each.message.name,
                message_session=each.message.session_id,
            )
