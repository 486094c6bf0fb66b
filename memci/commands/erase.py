"""Erases messages, pages, pins, a session or a whole agent for good (M25)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias
from uuid import uuid4

from memci import errors
from memci.broker.app import broker_errors
from memci.broker.intake_queues import AgentQueues
from memci.broker.wakeup import Wakeups
from memci.commands.erase_search import Words, excerpt, preview_pages, preview_pins
from memci.commands.pages.perform import PageCommands
from memci.domain.events import EventType
from memci.domain.job import JobKind, JobSource
from memci.queue import mailbox
from memci.queue.dead_letters import BEGINNING_LENGTH, ErasedMessages, drop_erased
from memci.queue.lease import preempt_lane
from memci.queue.summary_requests import request_summaries
from memci.schemas.agents import ReceiptAnswer
from memci.schemas.archive import ErasurePreview, PreviewedMessage
from memci.storage.agents import snapshot_of
from memci.storage.erasure import deletion_set
from memci.storage.erasure.deletion_set import DeletionSet
from memci.storage.erasure.erase import erase_agent, erase_messages, erased_among, is_left_of
from memci.storage.erasure.pages import unknown_pages
from memci.storage.events import add_event
from memci.storage.messages import read_messages
from memci.storage.page_store.choose import remove_texts
from memci.storage.page_store.named_texts import note_keys
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.pages.page_queries import count_pages
from memci.storage.pages.tree import lock_tree
from memci.storage.pins import read_pins
from memci.storage.reading.messages import message_ids, seqs_of
from memci.storage.receipts import NewReceipt, write_receipt
from memci.storage.session import Connection, Database
from memci.storage.summaries import losing_summaries


@dataclass(frozen=True, slots=True)
class ErasureSelection:
    """Messages by ids, pages by indexes and pins by numbers, or all messages of a session."""

    message_ids: Sequence[str] = ()
    session_id: str | None = None
    page_indexes: Sequence[str] = ()
    pins: Sequence[int] = ()


def find_selected(
    connection: Connection, agent_id: str, selection: ErasureSelection
) -> DeletionSet:
    """Return everything to erase; what was erased before is skipped.

    Raises ``NotFoundError`` for anything that never existed.
    """
    if selection.session_id is not None:
        seqs = deletion_set.seqs_of_session(connection, agent_id, selection.session_id)
        if not seqs:
            raise errors.NotFoundError("this agent has no messages in that session")
        return deletion_set.find_deletions(connection, agent_id, seqs, selection.session_id)
    ids, indexes = selection.message_ids, selection.page_indexes
    stored = seqs_of(connection, agent_id, ids)
    missing = [each for each in ids if each not in stored]
    unknown = sorted(set(missing) - erased_among(connection, agent_id, missing))
    if unknown:
        raise errors.NotFoundError(
            f"{len(unknown)} of {len(ids)} messages are not stored, such as "
            f"'{errors.shown_name(unknown[0])}'; nothing was erased"
        )
    never = unknown_pages(connection, agent_id, indexes) if indexes else []
    if never:
        raise errors.NotFoundError(f"there never was a page {never[0]}; nothing was erased")
    deletion = deletion_set.find_deletions(
        connection, agent_id, sorted(stored.values()), page_indexes=indexes
    )
    return replace(deletion, pins=_pins(connection, agent_id, selection.pins))


def _pins(connection: Connection, agent_id: str, numbers: Sequence[int]) -> list[int]:
    """Return the pins that are shown; those unpinned before are skipped."""
    if not numbers:
        return []
    known = read_pins(connection, agent_id)
    never = [each for each in numbers if each > known.last]
    if never:
        raise errors.NotFoundError(f"nothing was ever pinned as {never[0]}; nothing was erased")
    shown = {each.number for each in known.pins}
    return [each for each in dict.fromkeys(numbers) if each in shown]


KIND = "erasure"
_TEXTS_LEFT = (
    "{}, but the store of pages' texts does not answer, and may still have some: erase the same "
    "again, until it says so no more"
)
# Puts messages onto pages, in a transaction that has locked an agent's tree.
Settle: TypeAlias = Callable[[Connection, str], None]


def run(
    database: Database,
    store: PageStore,
    wakeups: Wakeups,
    agent_id: str,
    selection: ErasureSelection,
    *,
    settle: Settle | None = None,
) -> ReceiptAnswer:
    """Erase messages and everything derived, all or nothing; return the stored receipt.

    ``settle`` first puts messages onto pages, so that erased pages keep their indexes (P1): readers
    may have seen messages that arrived before the lane was locked on a page.

    Selected items that were erased before are skipped. Raises ``NotFoundError``, with nothing
    erased, if one never existed or the session has no messages. Raises ``PageStoreError`` if
    everything is erased except texts of notes; a repeated erasure, or upkeep, erases them.
    """
    indexes = frozenset(selection.page_indexes)
    texts = {key for key in store.list(agent_id) if key.page in indexes} if indexes else set()
    with _preempted_lane(database, wakeups, agent_id) as connection:
        if settle is not None:
            settle(connection, agent_id)
        texts |= {key for key in note_keys(connection, agent_id) if key.page in indexes}
        deletion = find_selected(connection, agent_id, selection)
        ids = list(message_ids(connection, agent_id, deletion.seqs).values())
        beginnings = partial(
            deletion_set.beginnings_of, connection, agent_id, deletion.seqs, BEGINNING_LENGTH
        )
        erased = ErasedMessages(frozenset(ids), beginnings, selection.session_id)
        dead_letters = drop_erased(connection, agent_id, erased)
        losing = losing_summaries(connection, agent_id, deletion.seqs)
        rows = erase_messages(connection, agent_id, deletion)
        request_summaries(connection, agent_id, losing, now=True, source=JobSource.HTTP)
        body = {
            "erased": "messages" if selection.session_id is None else "session",
            "message_ids": ids,
            "page_indexes": _page_indexes(selection, deletion),
            "pins": list(deletion.pins),
            **_counts(deletion),
            "rows": {**rows, "dead_letter": dead_letters} if dead_letters else rows,
            "job_id": _repeat_memories(connection, agent_id, deletion.repeated),
        }
        receipt = _write_receipt(connection, agent_id, body)
    _remove_texts(store, agent_id, texts, "the messages and pages are erased")
    return receipt


def run_on_pages(
    pages: PageCommands, wakeups: Wakeups, agent_id: str, selection: ErasureSelection
) -> ReceiptAnswer:
    """Do as ``run``, after messages were put onto pages."""
    with suppress(errors.PageStoreError):
        pages.settle(agent_id)  # so that little is left to be done with the lane locked
    settle = pages.settle_in
    return run(pages.database, pages.store, wakeups, agent_id, selection, settle=settle)


def run_agent(
    database: Database, store: PageStore, wakeups: Wakeups, queues: AgentQueues, agent_id: str
) -> ReceiptAnswer:
    """Erase everything of an agent, here and in the broker; return the stored receipt.

    Also the remains of an agent that no longer exists.

    Raises ``NotFoundError`` if there is no such agent, and, with nothing erased,
    ``BrokerUnavailableError`` if the broker cannot list the agent's queues, or ``PageStoreError``
    if the store cannot list the texts. A ``PageStoreError`` that says so means that everything is
    erased except some texts; a repeated erasure, or upkeep, erases them.
    """
    # Before the lane is locked, and again afterwards: remains of an agent that does not exist may
    # be erased, but not rows of a new one.
    texts = set(store.list(agent_id))
    with database.agent_snapshot(agent_id) as connection:
        is_left = is_left_of(connection, agent_id)
    try:
        with _preempted_lane(database, wakeups, agent_id, must_exist=not is_left) as connection:
            texts |= set(note_keys(connection, agent_id))
            pages = count_pages(connection, agent_id)
            rows = erase_agent(connection, agent_id)
            body = {"erased": "agent", "pages": pages, "rows": rows}
            receipt = _write_receipt(connection, agent_id, body)
            # Last, so that only the commit can fail afterwards. No other code moves messages into
            # these queues.
            with broker_errors():
                queues.empty(agent_id)
    except errors.NotFoundError:
        if not texts:
            raise
        # An earlier erasure has left these texts behind.
        with database.agent_transaction(agent_id) as connection:
            body = {"erased": "agent", "rows": {}, "texts": len(texts)}
            receipt = _write_receipt(connection, agent_id, body)
    _remove_texts(store, agent_id, texts, "the agent is erased")
    return receipt


def _remove_texts(store: PageStore, agent_id: str, texts: Collection[TextKey], done: str) -> None:
    """Delete texts; a ``PageStoreError`` says what is already erased."""
    try:
        remove_texts(store, agent_id, texts)
    except errors.PageStoreError as error:
        raise errors.PageStoreError(_TEXTS_LEFT.format(done)) from error


@contextmanager
def _preempted_lane(
    database: Database, wakeups: Wakeups, agent_id: str, *, must_exist: bool = True
) -> Iterator[Connection]:
    """Take the lane from its worker for one transaction; free it and wake workers afterwards."""
    lease = preempt_lane(database, agent_id, must_exist=must_exist)
    try:
        with lease.effect() as connection:
            # Wait for transactions that change a page; later ones see what is left.
            lock_tree(connection, agent_id)
            yield connection
    except errors.FencedOffError:
        raise errors.DatabaseBusyError(
            "somebody else erases something of this agent right now; nothing was erased"
        ) from None
    finally:
        # If this fails, the lease expires.
        with suppress(errors.FencedOffError, errors.UnavailableError):
            with lease.effect(durable=False) as connection:
                freed = mailbox.free(connection, agent_id)
            freed.publish(wakeups, agent_id)


def _repeat_memories(connection: Connection, agent_id: str, seqs: Sequence[int]) -> str | None:
    """Queue a job that makes memories again from the remaining messages of shared memories."""
    if not seqs:
        return None
    # They passed the filter before; messages that the decision relied on may be erased now.
    payload = {"seqs": list(seqs), "wanted": list(seqs)}
    job = mailbox.NewJob(
        agent_id, JobKind.CREATE, first_seq=seqs[0], last_seq=seqs[-1], payload=payload
    )
    mailbox.insert_job(connection, job)
    return str(job.id)


def _counts(deletion: DeletionSet) -> dict[str, int]:
    return {
        "memories": len(deletion.memories),
        "entities": len(deletion.entities),
        "forgotten": deletion.forgotten,
        "again": len(deletion.repeated),
        "pages": len(deletion.pages.deleted) + len(deletion.pages.reworded),
    }


def _page_indexes(selection: ErasureSelection, deletion: DeletionSet) -> list[str]:
    """Return the named pages that are deleted or reworded."""
    losing = {*deletion.pages.deleted, *deletion.pages.reworded}
    return [each for each in selection.page_indexes if each in losing]


def _write_receipt(connection: Connection, agent_id: str, body: Mapping[str, Any]) -> ReceiptAnswer:
    receipt_id = uuid4()
    created_at = write_receipt(connection, agent_id, NewReceipt(receipt_id, KIND, body))
    of_agent = body["erased"] == "agent"
    told = EventType.AGENT_ERASED if of_agent else EventType.MESSAGES_ERASED
    counts = {name: value for name, value in body.items() if isinstance(value, int)}
    messages = len(body.get("message_ids", ())) or body["rows"].get("message", 0)
    data = {"receipt_id": str(receipt_id), "messages": messages, **counts}
    add_event(connection, agent_id, told, data)
    return ReceiptAnswer(id=receipt_id, kind=KIND, body=dict(body), created_at=created_at)


_MOST_SHOWN = 200


def preview(
    database: Database,
    store: PageStore,
    agent_id: str,
    selection: ErasureSelection,
    words: Words | None = None,
) -> ErasurePreview:
    """Return what would be erased, with excerpts around ``words``.

    Raises ``NotFoundError`` for anything that never existed.
    """
    pages = preview_pages(database, store, agent_id, selection.page_indexes[:_MOST_SHOWN], words)
    pinned = preview_pins(database, agent_id, selection.pins[:_MOST_SHOWN], words)
    with snapshot_of(database, agent_id) as connection:
        deletion = find_selected(connection, agent_id, selection)
        ids = list(message_ids(connection, agent_id, deletion.seqs).values())
        shown = read_messages(connection, agent_id, deletion.seqs[:_MOST_SHOWN], whole=True)
        derived = deletion_set.count_derived(connection, agent_id, deletion)
    return ErasurePreview(
        message_ids=ids,
        messages=[
            PreviewedMessage(
                id=message.id,
                seq=message.seq,
                role=message.role,
                excerpt=excerpt(message.text, words),
                session_id=message.session_id,
                timestamp=message.said_at,
            )
            for message in shown
        ],
        page_indexes=_page_indexes(selection, deletion),
        own_words=[
            each.model_copy(update={"removed": each.index in deletion.pages.deleted})
            for each in pages
        ],
        pins=list(deletion.pins),
        pinned=pinned,
        **_counts(deletion),
        **derived,
    )
