"""Dead letters: broker messages that could not be taken in, kept as dead jobs with their bytes."""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from uuid import UUID

from sqlalchemy import Connection

from memci.broker.message_decoding import IncomingMessage, decode, encode, job_id_of
from memci.broker.names import COMPRESS_TASK, CREATE_TASK
from memci.domain.job import JobKind, JobSource
from memci.errors import ErasedError, InvalidInputError
from memci.queue import lane_control, mailbox
from memci.queue.intake import message_id_at
from memci.storage import messages as stored


def bury(
    connection: Connection,
    agent_id: str,
    raw: bytes,
    message: IncomingMessage | None,
    error: str,
    *,
    keeps_bytes: bool = True,
) -> UUID | None:
    """Make a dead job of a message, which is None if it could not be decoded.

    Returns the dead job's id; None if the message came before and is buried already.
    """
    job_id = message.id if message and keeps_bytes else job_id_of(None, raw)
    kind = message.task if message else None
    if kind not in (CREATE_TASK, COMPRESS_TASK):
        kind = JobKind.UNREADABLE
    if stored.read_dead_letter(connection, agent_id, job_id) == raw:
        return None
    if keeps_bytes and mailbox.payload_of(connection, agent_id, job_id) is not None:
        job_id = job_id_of(None, raw)  # another message has the same task id
    job = mailbox.NewJob(agent_id, kind, JobSource.CELERY, job_id)
    if not mailbox.insert_job(connection, job):
        return None
    stored.bury_dead_letter(connection, agent_id, job.id, raw if keeps_bytes else None, error)
    return job.id


def bury_erased(
    connection: Connection, agent_id: str, message: IncomingMessage, error: ErasedError
) -> UUID | None:
    """Make a dead job of a broker message with erased messages; keep only the others (M25).

    Returns the dead job's id; None if the mailbox has a job of this id already.
    """
    job = mailbox.NewJob(agent_id, message.task, JobSource.CELERY, message.id)
    if not mailbox.insert_job(connection, job):
        return None
    messages = list(message.arguments.get("messages") or ())
    others = [each for index, each in enumerate(messages) if index not in error.places]
    body = None
    if others:
        arguments = {**message.arguments, "messages": others}
        body = encode(message.task, str(message.id), arguments, message.traceparent)
    stored.bury_dead_letter(connection, agent_id, job.id, body, str(error))
    return job.id


# Characters: a broker message that was cut may hold only a part of a text.
BEGINNING_LENGTH = 60
_BASE64 = re.compile("[A-Za-z0-9+/]{24,}={0,2}")
_ESCAPED = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))')
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# JSON strings may hold JSON, such as the arguments of tool calls; one more than was ever seen.
_MAX_NESTED = 5


@dataclass(frozen=True, slots=True)
class ErasedMessages:
    """Messages that are about to be erased."""

    ids: frozenset[str]
    beginnings: Callable[[], Iterable[str]]  # reads their first ``BEGINNING_LENGTH`` characters
    session_id: str | None  # when the whole session goes


def drop_erased(connection: Connection, agent_id: str, erased: ErasedMessages) -> int:
    """Discard the dead letters that hold an erased message; return how many (M25).

    One that cannot be decoded holds it if it contains its id or the beginning of its text.
    """
    dropped = 0
    for job_id in stored.jobs_with_dead_letters(connection, agent_id):
        raw = stored.read_dead_letter(connection, agent_id, job_id)
        if raw is not None and _holds_erased(raw, agent_id, erased):
            lane_control.discard(connection, agent_id, job_id)
            stored.delete_dead_letter(connection, agent_id, job_id)
            dropped += 1
    return dropped


def _holds_erased(raw: bytes, agent_id: str, erased: ErasedMessages) -> bool:
    try:
        message = decode(raw, limit_bytes=len(raw))
    except InvalidInputError:
        return _contains_erased_text(raw, erased)
    arguments = message.arguments
    if erased.session_id is not None and arguments.get("session_id") == erased.session_id:
        return True
    messages = arguments.get("messages")
    if not isinstance(messages, list):
        return _contains_erased_text(
            json.dumps(dict(arguments), ensure_ascii=False).encode(), erased
        )
    ids = [each.get("id") if isinstance(each, Mapping) else None for each in messages]
    return not erased.ids.isdisjoint(
        message_id_at(agent_id, str(message.id), index) if own is None else str(own)
        for index, own in enumerate(ids)
    )


def _contains_erased_text(raw: bytes, erased: ErasedMessages) -> bool:
    readable = "\n".join(_readings(raw))
    return any(each and each in readable for each in chain(erased.ids, erased.beginnings()))


def _readings(raw: bytes) -> Iterator[str]:
    """Yield the possible texts of the bytes: as they are, unescaped, and decoded from Base64.

    Producers escape different characters.
    """
    for text in _unescaped(raw.decode(errors="replace")):
        yield text
        for packed in _BASE64.findall(text):
            for start in range(4):  # a message that was cut may begin anywhere
                part = packed[start:]
                decoded = base64.b64decode(part[: len(part) // 4 * 4]).decode(errors="replace")
                yield from _unescaped(decoded)


def _unescaped(text: str) -> Iterator[str]:
    """Yield a text, then without its JSON escapes, repeatedly, since JSON may nest."""
    for _ in range(_MAX_NESTED):
        yield text
        plain = _ESCAPED.sub(_unescape, text)
        if plain == text:
            return
        # Characters beyond U+FFFF are written as two surrogates.
        text = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescape(escaped: re.Match[str]) -> str:
    digits, letter = escaped.groups()
    return chr(int(digits, 16)) if digits else _LETTERS.get(letter, letter)
