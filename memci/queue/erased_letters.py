"""Letters and erasures: what a dead job keeps of a message goes with the message (M25)."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from uuid import UUID

from sqlalchemy import Connection

from memci.broker.letters import Letter, decode, encode
from memci.domain.lane.job import JobSource
from memci.errors import ErasedError, InvalidInputError
from memci.queue import dead_letter, submit
from memci.queue.intake import message_id_at
from memci.storage import letters

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
    for job_id in letters.kept(connection, agent_id):
        raw = letters.read(connection, agent_id, job_id)
        if raw is not None and _holds(raw, agent_id, erased):
            dead_letter.discard(connection, agent_id, job_id)
            letters.drop(connection, agent_id, job_id)
            dropped += 1
    return dropped


def bury_erased(
    connection: Connection, agent_id: str, letter: Letter, error: ErasedError
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
    letters.keep(connection, agent_id, job.id, body, str(error))
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
