"""``memci remember``: send the messages of a file in batches that fit the server's limits."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from memci.cli.connection import agent_of, why_still
from memci.cli.formats import FileFormat
from memci.cli.options import AgentOption, TimeoutOption, WaitOption, id_option
from memci.cli.output import counted, hint, listed, printed_json, progress_bar, say
from memci.domain.job import JobState
from memci.errors import InvalidInputError, MemciError
from memci.message import AppendLimits

if TYPE_CHECKING:
    from memci.cli.formats.parsed_file import Parsed
    from memci.client import Agent

_STDIN = "-"
_MOST_LISTED = 5
# Names that other programs give to the timestamp.
_TIMES = frozenset({"said_at", "sent_at", "time", "date", "datetime", "ts", "timestamp_ms"})


def remember(
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file, or - for standard input.")],
    agent: AgentOption,
    session: Annotated[str | None, id_option(help="The session of the messages.")] = None,
    user: Annotated[str | None, id_option(help="The user who talks with the agent.")] = None,
    file_format: Annotated[
        FileFormat | None,
        typer.Option("--format", help="Format of the file (default: detected)."),
    ] = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Store a conversation in an agent's memory.

    FILE is a JSON list of messages as OpenAI's API takes it (or an object with one under
    "messages"), JSON lines, or chat text: lines such as "Alice: …" or "[2026-03-02 09:15] 用户：…".
    Only text is kept: a picture becomes "[image_url]"; the command lists what it left out.

    Sending a file again stores nothing twice; of a longer file, only the new messages are stored.
    Messages that were erased for good are skipped and listed.
    """
    from memci.cli.formats.read import with_ids

    parsed = _read(file, file_format)
    messages = list(with_ids(parsed.messages, session))
    with agent_of(agent) as memory:
        sent = _send(memory, messages, parsed, session_id=session, user_id=user)
        still = why_still(memory) if wait and sent.job_ids else None
        awaited = sent.job_ids if wait and not still else []
        done = [memory.wait(job_id, timeout_s=timeout) for job_id in awaited]
    failed = [job.error or job.state for job in done if job.state is not JobState.DONE]
    _print_result(sent, parsed, messages, waited=wait and not (failed or still))
    if still:
        raise MemciError(f"not waiting for memories: {still}")
    if failed:
        raise MemciError(
            f"{len(failed)} of {len(sent.job_ids)} jobs failed: {failed[0]} "
            f"(`memci jobs list --agent {agent} --state dead` lists them, "
            "`memci jobs retry` runs them again)"
        )


def _read(file: str, file_format: FileFormat | None) -> Parsed:
    from memci.cli.formats.read import decode, parse
    from memci.client.archive_files import unreadable

    try:
        content = sys.stdin.buffer.read() if file == _STDIN else Path(file).read_bytes()
    except OSError as error:
        raise InvalidInputError(unreadable(file, error)) from None
    name = "standard input" if file == _STDIN else file
    try:
        return parse(decode(content), file_format)
    except InvalidInputError as error:
        raise InvalidInputError(f"{name}: {error}") from None


def _send(memory: Agent, messages: list[dict[str, Any]], parsed: Parsed, **to: Any) -> Sent:
    """Send all messages but erased ones."""
    from memci.config.settings import load_settings

    limits = load_settings().append_limits
    check_sizes(parsed, limits)
    sent = Sent()
    with progress_bar() as progress:
        bar = progress.add_task("sending", total=len(messages))
        for batch in batches(messages, limits):
            answer = memory.remember(batch, **to, skip_erased=True)
            sent.accepted += answer.accepted
            sent.duplicates += answer.duplicates
            sent.erased += answer.erased
            sent.redacted += Counter(answer.redacted)
            sent.seq = max(sent.seq, answer.seq)
            if answer.job_id is not None and answer.accepted:
                sent.job_ids.append(answer.job_id)
            progress.advance(bar, len(batch))
    return sent


def _print_result(
    sent: Sent, parsed: Parsed, messages: list[dict[str, Any]], *, waited: bool
) -> None:
    if printed_json(sent):
        return
    were = "was" if sent.duplicates == 1 else "were"
    known = f", {sent.duplicates} {were} stored before" if sent.duplicates else ""
    say(f"{counted(sent.accepted, 'message')} stored ({parsed.format}){known}")
    if sent.redacted:
        say(f"redacted: {', '.join(f'{count} {kind}' for kind, count in sent.redacted.items())}")
    if waited and sent.job_ids:
        say("processed")
    for job_id in () if waited else sent.job_ids:
        say(f"job {job_id}", style="dim")
    if parsed.ignored:
        named = ", ".join(f"{name} ({count})" for name, count in parsed.ignored.most_common(5))
        hint(f"left out, not used by memci: {named}")
    for warning in (hint_times(parsed), hint_future(parsed, datetime.now(UTC))):
        if warning:
            hint(warning)
    erased = set(sent.erased)
    places = [
        place
        for message, place in zip(messages, parsed.places, strict=True)
        if message["id"] in erased
    ]
    if places:
        hint(f"left out, erased for good: {listed(places, _MOST_LISTED)}")


def hint_times(parsed: Parsed) -> str | None:
    """Return a hint if times stand under another name than ``timestamp``, else None."""
    others = sorted(parsed.ignored.keys() & _TIMES)
    if not others or all("timestamp" in message for message in parsed.messages):
        return None
    return (
        f"the time of a message is read from `timestamp` (ISO 8601 or an epoch number), not from "
        f"{', '.join(others)}; without it, memci takes the time of storing"
    )


def hint_future(parsed: Parsed, now: datetime) -> str | None:
    """Return a hint about messages with times more than a day after ``now``, else None."""
    late = [
        f"{place} ({message['timestamp']})"
        for message, place in zip(parsed.messages, parsed.places, strict=True)
        if "timestamp" in message
        and datetime.fromisoformat(message["timestamp"]) > now + timedelta(days=1)
    ]
    if not late:
        return None
    have = "has" if len(late) == 1 else "have"
    return (
        f"{counted(len(late), 'message')} {have} a time in the future: {listed(late, _MOST_LISTED)}"
    )


# The rest of a request: brackets, session, user.
_ENVELOPE_BYTES = 2048


@dataclass(slots=True)
class Sent:
    """Totals of all append requests."""

    accepted: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    duplicates: int = 0
    erased: list[str] = field(default_factory=list)
    seq: int = 0
    job_ids: list[UUID] = field(default_factory=list)


def check_sizes(parsed: Parsed, limits: AppendLimits) -> None:
    """Raise ``BadFileError`` for a message that is too large for the server."""
    from memci.cli.formats.parsed_file import BadFileError
    from memci.schemas.messages import MessageIn

    for message, place in zip(parsed.messages, parsed.places, strict=True):
        size = MessageIn.model_validate(message).size_bytes
        if size > limits.message_bytes:
            raise BadFileError(
                f"{place}: a message of {size:,} bytes; the limit is "
                f"{limits.message_bytes:,}: split it"
            )


def batches(
    messages: Iterable[dict[str, Any]], limits: AppendLimits
) -> Iterator[list[dict[str, Any]]]:
    """Split the messages, in order, into as few requests as the limits allow."""
    batch: list[dict[str, Any]] = []
    room = limits.request_bytes - _ENVELOPE_BYTES
    left = room
    for message in messages:
        size = len(json.dumps(message).encode()) + 2
        if batch and (size > left or len(batch) == limits.messages):
            yield batch
            batch, left = [], room
        batch.append(message)
        left -= size
    if batch:
        yield batch
