"""Adds, corrects, pins and deletes single memories, as a person or an agent asks.

A new text is a note among the agent's messages, of which a job makes one memory: it is rebuilt,
exported and erased like all messages. A correction removes the memory at once. The text of a
corrected or deleted memory stays in its messages, but reads do not show it.
"""

from collections.abc import Collection, Sequence
from uuid import uuid4

from memci.broker.wakeup import Wakeups
from memci.commands.audit import changing
from memci.domain.job import JobKind, JobSource
from memci.domain.memory.network_edition import ReplayEvent
from memci.domain.memory.node import NodeEvent, NodeKind, NodeTier, RemovalReason
from memci.domain.memory.passage import details_of
from memci.errors import ConflictError, NotFoundError
from memci.message import CorrectedMemory, NewMessage, Role, note_metadata
from memci.queue.intake import Append, Intake, append_in, message_id_at
from memci.queue.mailbox import lock_agent, submit_once
from memci.queue.summary_requests import request_summaries
from memci.schemas.memories import AddAnswer, AddRequest, DeleteAnswer, EditAnswer, NumberedEdit
from memci.storage.erasure.pages import hide_words
from memci.storage.key_usage import Charge, charge
from memci.storage.network import edits
from memci.storage.network import node_history as history
from memci.storage.network.network_editions import log_event
from memci.storage.network.node_history import Origin
from memci.storage.pages.tree import lock_tree
from memci.storage.pins import unpin_places
from memci.storage.plans import drop_unshown_steps
from memci.storage.reading.nodes import read_node
from memci.storage.session import Connection, Database
from memci.storage.summaries import drop_summaries, losing_summaries


def add(
    intake: Intake,
    agent_id: str,
    request: AddRequest,
    key: str | None,
    *,
    redact: str,
    paying: Charge | None,
) -> AddAnswer:
    """Store facts as notes, and queue the job that makes a memory of each.

    ``key``: the same key is the same request. ``redact`` and ``paying`` are those of ``Append``.
    Raises as ``Intake.append``.
    """
    key = key or uuid4().hex
    notes = [
        NewMessage(
            Role.ASSISTANT,
            each.text,
            said_at=each.said_at,
            metadata=note_metadata(memory=each.stated()),
        )
        for each in request.memories
    ]
    append = Append(
        agent_id,
        notes,
        session_id=request.session_id,
        user_id=request.user_id,
        key=key,
        paying=paying,
        redact=redact,
    )
    answer = intake.append(append)
    ids = [message_id_at(agent_id, key, index) for index in range(len(notes))]
    return AddAnswer(**answer.model_dump(), message_ids=ids)


def edit(
    database: Database,
    wakeups: Wakeups,
    agent_id: str,
    changes: Sequence[NumberedEdit],
    *,
    redact: str,
    paying: Charge | None,
) -> EditAnswer:
    """Correct or pin memories, or set their type or worth: all of them or none.

    ``redact`` and ``paying`` are those of ``Append``. Raises ``NotFoundError`` for a node that
    never was, ``ConflictError`` for one that is not a living memory, and ``QuotaError``.
    """
    edited, corrected, jobs, seq = [], [], [], None
    less: set[int] = set()  # messages of which reads show less
    texts = [each.text.encode() for each in changes if each.text is not None]
    nodes = [each.node_id for each in changes]
    with (
        changing(database, "edit_nodes", agent_id, *nodes),
        database.agent_transaction(agent_id) as connection,
    ):
        if texts:
            size = sum(map(len, texts))
            charge(connection, paying, agent_id, messages=len(texts), size=size)
        lock_agent(connection, agent_id)
        lock_tree(connection, agent_id)
        for each in changes:
            origin = living_origin(connection, agent_id, each.node_id)
            if each.text is None:
                edits.set_fields(connection, agent_id, [each.node_id], each.fields)
                details = {**details_of(origin.passages), "set": each.fields}
                log_event(connection, agent_id, ReplayEvent.EDITED, uuid4(), origin.seqs, details)
                edited.append(each.node_id)
            else:
                append = _correction(connection, agent_id, each, origin, redact)
                answer, _ = append_in(connection, append)
                seq = answer.seq
                remove(connection, agent_id, each.node_id, origin, corrected_by=seq)
                less.update(origin.seqs)
                corrected.append(each.node_id)
                jobs += [answer.job_id] if answer.job_id else []
        _hide_words(connection, agent_id, less)
    wakeups.wake_lane(agent_id)  # a worker that found the lane locked has given up
    return EditAnswer(edited=edited, corrected=corrected, job_ids=jobs, seq=seq)


def delete(
    database: Database, wakeups: Wakeups, agent_id: str, node_ids: Sequence[int]
) -> DeleteAnswer:
    """Delete memories, living or forgotten: all of them or none; those deleted before are named.

    Raises ``NotFoundError`` for a node that never was, and ``ConflictError`` for an entity and for
    a memory that became another one.
    """
    asked = dict.fromkeys(node_ids)
    with (
        changing(database, "delete_nodes", agent_id, *asked),
        database.agent_transaction(agent_id) as connection,
    ):
        lock_agent(connection, agent_id)
        lock_tree(connection, agent_id)
        seqs = {each: _delete_in(connection, agent_id, each) for each in asked}
        _hide_words(connection, agent_id, {seq for some in seqs.values() for seq in some})
    wakeups.wake_lane(agent_id)
    deleted = [each for each in asked if seqs[each]]
    return DeleteAnswer(deleted=deleted, already=[each for each in asked if not seqs[each]])


def _delete_in(connection: Connection, agent_id: str, node_id: int) -> Sequence[int]:
    """Delete a memory, in a transaction with lane and pages locked; raises as ``delete``.

    Return its messages, none if it was deleted before.
    """
    origin = _origin(connection, agent_id, node_id)
    if not origin.lives:
        reasons = history.removal_reasons(connection, agent_id, [node_id])
        if reasons[node_id] is RemovalReason.DELETED:
            return ()
        if reasons[node_id] is not RemovalReason.FORGOTTEN:
            raise _gone(connection, agent_id, node_id)
    remove(connection, agent_id, node_id, origin)
    return origin.seqs


def living_origin(connection: Connection, agent_id: str, node_id: int) -> Origin:
    """Return the origin of a living memory; raises as ``edit``."""
    origin = _origin(connection, agent_id, node_id)
    if not origin.lives:
        raise _gone(connection, agent_id, node_id)
    return origin


def remove(
    connection: Connection,
    agent_id: str,
    node_id: int,
    origin: Origin,
    corrected_by: int | None = None,
) -> None:
    """Remove a memory and withhold what it told from reads; the lane must be locked.

    The pages of its messages show it until ``_hide_words``, which a request calls once.
    ``corrected_by``: the seq of the note with the text that replaces it; None: it is deleted.
    """
    places = edits.places_in_messages(connection, agent_id, origin.passages)
    losing = losing_summaries(connection, agent_id, origin.seqs)
    edits.withhold(connection, agent_id, places)
    unpin_places(connection, agent_id, places)
    drop_unshown_steps(connection, agent_id, places)
    drop_summaries(connection, agent_id, origin.seqs)
    request_summaries(connection, agent_id, losing, now=True, source=JobSource.HTTP)
    event, details = ReplayEvent.DELETED, details_of(origin.passages)
    by: dict[str, int] = {}
    if corrected_by is not None:
        event, by = ReplayEvent.CORRECTED, {"seq": corrected_by}
    told = edits.memories_at(connection, agent_id, places)
    seqs = {*origin.seqs, *by.values()}
    edits.remove(connection, agent_id, [node_id], told, NodeEvent(event), by, seqs)
    log_event(connection, agent_id, event, uuid4(), origin.seqs, {**details, **by})


def _hide_words(connection: Connection, agent_id: str, seqs: Collection[int]) -> None:
    if seqs and hide_words(connection, agent_id, list(seqs)):
        submit_once(connection, agent_id, JobKind.NAME_PAGES)


def _correction(
    connection: Connection, agent_id: str, change: NumberedEdit, origin: Origin, redact: str
) -> Append:
    """Return the note with the new text: of the same session, user, time, type, worth and tier."""
    node = read_node(connection, agent_id, change.node_id) or {}
    stated = {"type": node["type"], "worth": node["worth"], "pinned": True, **change.fields}
    if node["tier"] == NodeTier.SHORT:
        stated["fleeting"] = True  # else other sessions would see it
    span = None if origin.span is None else tuple(origin.span)
    corrects = CorrectedMemory(origin.seqs, span)
    metadata = note_metadata(corrects, stated)
    note = NewMessage(Role.ASSISTANT, change.text, said_at=node["said_at"], metadata=metadata)
    return Append(
        agent_id, [note], session_id=node["session_id"], user_id=node["user_id"], redact=redact
    )


def _origin(connection: Connection, agent_id: str, node_id: int) -> Origin:
    origin = history.origin_of(connection, agent_id, node_id)
    if origin is None:
        raise NotFoundError(f"there never was a node {node_id}: list the nodes to see their ids")
    if origin.kind is NodeKind.ENTITY:
        raise ConflictError(
            f"node {node_id} is an entity, a name: change or delete the memories about it"
        )
    return origin


def _gone(connection: Connection, agent_id: str, node_id: int) -> ConflictError:
    """Return the error for a memory that does not live, with what to do instead."""
    last, following = node_id, _successor(connection, agent_id, node_id)
    while following > last:
        last, following = following, _successor(connection, agent_id, following)
    if read_node(connection, agent_id, last) is not None:
        return ConflictError(f"memory {node_id} is memory {last} now: change that one")
    reason = history.removal_reasons(connection, agent_id, [last])[last]
    advice = _ADVICE.get(reason, _ADD)
    if reason is RemovalReason.CORRECTED and edits.corrected_as(connection, agent_id, last).waits:
        advice = "wait until its new text is a memory, then change that one"
    became = "" if last == node_id else f"became memory {last}, which "
    return ConflictError(f"memory {node_id} {became}is {reason}: {advice}")


def _successor(connection: Connection, agent_id: str, node_id: int) -> int:
    """Return what a memory became: the one that corrects, replaces or restores it, or itself."""
    following = history.successors_of(connection, agent_id, [node_id])[node_id]
    corrected = edits.corrected_as(connection, agent_id, node_id)
    return corrected.node_id or following.living or following.last


_ADD = "add what holds as a new memory"
_ADVICE = {
    RemovalReason.FORGOTTEN: "restore it first, or add what holds as a new memory",
    RemovalReason.SWITCHED: (
        "the ids changed with the rebuild: list the memories and use the new id"
    ),
}
