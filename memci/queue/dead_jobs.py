"""Dead jobs: how they are buried, replayed, discarded and erased (M25).

Whatever becomes of a job that makes memories, search finds its messages: a job that indexes them
takes its place.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from uuid import UUID, uuid4

from sqlalchemy import Connection

from memci.broker.incoming_messages import IncomingMessage, decode, encode
from memci.domain.agent import no_agent
from memci.domain.job import Job, JobSource, JobState
from memci.errors import ConflictError, ErasedError, InvalidInputError, NotFoundError
from memci.queue import submit
from memci.queue.intake import CREATE_KIND, INDEX_KIND, message_id_at
from memci.storage import messages as unreadable_messages
from memci.storage.agents import IS_THERE

WORKER_LOST = "worker_lost: the process that ran it died each time; its log may say why"

_BURY = """
UPDATE job SET state = 'dead', finished_at = clock_timestamp(), last_error = %s
WHERE agent_id = %s AND id = %s AND ordinal = %s AND state = 'queued'
"""
_HALT = "UPDATE lane SET halted_by = %s WHERE agent_id = %s"
_IS_HALTED = "SELECT halted_by IS NOT NULL FROM lane WHERE agent_id = %s"
_STATE = "SELECT state FROM job WHERE agent_id = %s AND id = %s FOR UPDATE"
_LOCK_LANE = f"SELECT 1 FROM lane WHERE agent_id = %s AND {IS_THERE} FOR UPDATE"  # noqa: S608
_REQUEUE = """
UPDATE job SET state = 'queued', attempts = 0, started = 0, not_before = NULL,
               finished_at = NULL
WHERE agent_id = %s AND id = %s
"""
_COPY_TO_TAIL = """
INSERT INTO job (agent_id, id, kind, payload, source, first_seq, last_seq, traceparent)
SELECT agent_id, %s, kind, payload, %s, first_seq, last_seq, traceparent
FROM job WHERE agent_id = %s AND id = %s
"""
_CANCEL = """
UPDATE job SET state = 'cancelled', finished_at = clock_timestamp() WHERE agent_id = %s AND id = %s
"""
# Which of the messages in its range a job that makes memories is for.
_TAKES = """
seq BETWEEN {job}.first_seq AND {job}.last_seq
AND remember = coalesce({job}.payload->>'remember', remember)
AND coalesce({job}.payload->'seqs' @> to_jsonb(seq), true)
"""
_OVERLAPPING = """
SELECT job.* FROM job JOIN gone ON job.id <> gone.id AND job.kind = gone.kind
                 AND job.first_seq <= gone.last_seq AND job.last_seq >= gone.first_seq
WHERE job.agent_id = %(agent)s AND job.state = '{state}'
"""
# Nobody is to remember them any more, so the window of R19 does not hand them over again either.
# Messages that another job is still to remember stay with it. Those jobs are looked for once, each
# state by its own index: the jobs that are done are far more.
_RELEASE = f"""
WITH gone AS MATERIALIZED (
    SELECT * FROM job WHERE agent_id = %(agent)s AND id = %(job)s AND kind = %(create)s),
other AS MATERIALIZED (
    {_OVERLAPPING.format(state="queued")}
    UNION ALL
    {_OVERLAPPING.format(state="dead")})
UPDATE message SET memory_state = 'none', remember = 'never'
FROM gone
WHERE message.agent_id = %(agent)s AND memory_state = 'pending' AND {_TAKES.format(job="gone")}
  AND NOT EXISTS (SELECT FROM other WHERE {_TAKES.format(job="other")})
"""  # noqa: S608 - a constant of this module
_UNINDEXED = """
SELECT min(seq), max(seq) FROM job
JOIN message ON message.agent_id = job.agent_id AND seq BETWEEN job.first_seq AND job.last_seq
WHERE job.agent_id = %(agent)s AND job.id = %(job)s AND job.kind = %(create)s AND NOT indexed
"""
# What it waited for may have been this job: let a worker look at the mailbox anew.
_UNBLOCK = """
UPDATE lane SET halted_by = nullif(halted_by, %s), not_before = NULL WHERE agent_id = %s
"""


def bury(connection: Connection, job: Job, error: str, *, halt: bool) -> None:
    """Make a queued job dead; with ``halt`` its agent stops until somebody decides."""
    connection.exec_driver_sql(_BURY, (error, job.agent_id, job.id, job.ordinal))
    if error != WORKER_LOST:  # what has killed its process may kill the next one too
        _index(connection, job.agent_id, job.id)
    if halt:
        halt_lane(connection, job.agent_id, job.id)


def halt_lane(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Stop an agent at its dead job until somebody decides."""
    connection.exec_driver_sql(_HALT, (job_id, agent_id))


def is_halted(connection: Connection, agent_id: str) -> bool:
    """Tell whether a dead job has stopped the agent."""
    return bool(connection.exec_driver_sql(_IS_HALTED, (agent_id,)).scalar())


def replay(connection: Connection, agent_id: str, job_id: UUID, *, at_tail: bool) -> UUID:
    """Queue a dead job again: in its own place, or anew at the tail. Returns the id to watch.

    The caller publishes a token after COMMIT.
    """
    _lock(connection, agent_id, job_id, {JobState.DEAD}, "replayed")
    _unblock(connection, agent_id, job_id)
    if not at_tail:
        connection.exec_driver_sql(_REQUEUE, (agent_id, job_id))
        return job_id
    new_id = uuid4()
    connection.exec_driver_sql(_COPY_TO_TAIL, (new_id, JobSource.REPLAY, agent_id, job_id))
    connection.exec_driver_sql(_CANCEL, (agent_id, job_id))
    return new_id


def discard(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Give a dead job up for good; its messages stay stored and searchable."""
    _lock(connection, agent_id, job_id, {JobState.DEAD}, "discarded")
    _take_out(connection, agent_id, job_id)


def cancel(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Take a queued job out of the mailbox; one that runs right now writes nothing.

    Its messages stay stored and searchable.
    """
    _lock(connection, agent_id, job_id, {JobState.QUEUED}, "cancelled")
    _take_out(connection, agent_id, job_id)


def _take_out(connection: Connection, agent_id: str, job_id: UUID) -> None:
    _unblock(connection, agent_id, job_id)
    connection.exec_driver_sql(_CANCEL, (agent_id, job_id))
    values = {"agent": agent_id, "job": job_id, "create": CREATE_KIND}
    connection.exec_driver_sql(_RELEASE, values)
    _index(connection, agent_id, job_id)


def _index(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Let search find the messages of a job that will not run, or not soon (R10b)."""
    values = {"agent": agent_id, "job": job_id, "create": CREATE_KIND}
    first_seq, last_seq = connection.exec_driver_sql(_UNINDEXED, values).one()
    if first_seq is not None:
        submit.submit_follow_up(connection, agent_id, INDEX_KIND, {}, first_seq, last_seq)


def _lock(
    connection: Connection, agent_id: str, job_id: UUID, wanted: set[JobState], verb: str
) -> None:
    # The lane first, as everybody does: its row is the lock of all that the lane owns.
    if connection.exec_driver_sql(_LOCK_LANE, (agent_id,)).first() is None:
        raise no_agent(agent_id)
    row = connection.exec_driver_sql(_STATE, (agent_id, job_id)).first()
    if row is None:
        raise NotFoundError(f"agent {agent_id} has no job {job_id}")
    if JobState(row.state) not in wanted:
        allowed = " or ".join(sorted(wanted))
        raise ConflictError(f"only a job that is {allowed} can be {verb}; this one is {row.state}")


def _unblock(connection: Connection, agent_id: str, job_id: UUID) -> None:
    connection.exec_driver_sql(_UNBLOCK, (job_id, agent_id))
    submit.lock_lane(connection, agent_id)


_PACKED = re.compile("[A-Za-z0-9+/]{24,}={0,2}")
_ESCAPED = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))')
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# A letter in a letter, of a call whose arguments are JSON, and one more.
_NESTED = 5
# Characters: of a letter that was cut only a part of a text may be left.
BEGINNING = 60


@dataclass(frozen=True, slots=True)
class Erased:
    """Messages that are about to be erased: their ids, and the session when all of it goes.

    ``beginnings`` reads how each begins, ``BEGINNING`` characters of it; for few it is needed.
    """

    ids: frozenset[str]
    beginnings: Callable[[], Iterable[str]]
    session_id: str | None


def drop_letters(connection: Connection, agent_id: str, erased: Erased) -> int:
    """Discard dead jobs whose letters hold an erased message; return how many.

    One that cannot be read holds it if an id of theirs or the beginning of a text stands in it.
    """
    dropped = 0
    for job_id in unreadable_messages.kept(connection, agent_id):
        raw = unreadable_messages.read(connection, agent_id, job_id)
        if raw is not None and _holds(raw, agent_id, erased):
            discard(connection, agent_id, job_id)
            unreadable_messages.drop(connection, agent_id, job_id)
            dropped += 1
    return dropped


def bury_erased(
    connection: Connection, agent_id: str, letter: IncomingMessage, error: ErasedError
) -> UUID | None:
    """Make a dead job of a letter that brings erased messages; keep of it only the others.

    Returns the dead job's id; None if the mailbox knows the letter already.
    """
    job = submit.NewJob(agent_id, letter.id, letter.task, JobSource.CELERY)
    if not submit.insert_job(connection, job):
        return None
    messages = list(letter.arguments.get("messages") or ())
    others = [each for place, each in enumerate(messages) if place not in error.places]
    body = None
    if others:
        arguments = {**letter.arguments, "messages": others}
        body = encode(letter.task, str(letter.id), arguments, letter.traceparent)
    unreadable_messages.keep(connection, agent_id, job.id, body, str(error))
    return job.id


def _holds(raw: bytes, agent_id: str, erased: Erased) -> bool:
    try:
        letter = decode(raw, limit_bytes=len(raw))
    except InvalidInputError:
        return _mentions(raw, erased)
    arguments = letter.arguments
    if erased.session_id is not None and arguments.get("session_id") == erased.session_id:
        return True
    messages = arguments.get("messages")
    if not isinstance(messages, list):
        return _mentions(json.dumps(dict(arguments), ensure_ascii=False).encode(), erased)
    return not erased.ids.isdisjoint(_ids(messages, agent_id, letter.id))


def _ids(messages: Iterable[object], agent_id: str, job_id: UUID) -> set[str]:
    given = [each.get("id") if isinstance(each, Mapping) else None for each in messages]
    return {
        str(own) if own is not None else message_id_at(agent_id, str(job_id), place)
        for place, own in enumerate(given)
    }


def _mentions(raw: bytes, erased: Erased) -> bool:
    """Tell whether an id, or the beginning of a text, stands in what can be made out of it."""
    readable = "\n".join(_readings(raw))
    return any(each and each in readable for each in chain(erased.ids, erased.beginnings()))


def _readings(raw: bytes) -> Iterator[str]:
    """Yield what a letter may say: as it is, unpacked, and as JSON once or more often means it.

    Whoever made it decided which characters to escape, and how: none is asked for as it was
    written, but all as they were meant.
    """
    for said in _meant(raw.decode(errors="replace")):
        yield said
        for packed in _unpacked(said):
            yield from _meant(packed)


def _meant(written: str) -> Iterator[str]:
    """Yield a text as it stands, then without its escapes, and so on: JSON may be within JSON."""
    for _ in range(_NESTED):
        yield written
        plain = _ESCAPED.sub(_character, written)
        if plain == written:
            return
        # Characters beyond U+FFFF are written as two.
        written = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(escaped: re.Match[str]) -> str:
    digits, letter = escaped.groups()
    return chr(int(digits, 16)) if digits else _LETTERS.get(letter, letter)


def _unpacked(said: str) -> Iterator[str]:
    """Yield what is packed as Base64; what was cut may begin anywhere."""
    for packed in _PACKED.findall(said):
        for start in range(4):
            part = packed[start:]
            yield base64.b64decode(part[: len(part) // 4 * 4]).decode(errors="replace")
