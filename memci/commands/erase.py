"""Erases messages, pages, pins, a session or a whole agent for good (M25)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Self, TypeAlias
from uuid import uuid4

from memci.broker.agent_queues import AgentQueues
from memci.broker.health import broker_errors
from memci.broker.wakeup import Wakeups
from memci.commands.erase_search import Words, shown_pages, shown_pins
from memci.domain.job import JobKind, JobSource
from memci.errors import (
    DatabaseBusyError,
    FencedOffError,
    NotFoundError,
    PageStoreError,
    UnavailableError,
    shown_name,
)
from memci.message import Message
from memci.queue import mailbox
from memci.queue.dead_letters import BEGINNING_LENGTH, ErasedMessages, drop_erased
from memci.queue.lease import Lease, preempt_lane
from memci.queue.summary_requests import request_summaries
from memci.schemas.agents import ReceiptAnswer
from memci.schemas.archive import CondemnedMessage, EraseRequest, ErasurePreview
from memci.storage.agents import snapshot_of
from memci.storage.erasure import deletion_set as condemning
from memci.storage.erasure.deletion_set import DeletionSet, count_beside
from memci.storage.erasure.erase import erase_agent, erase_messages, erased_among, is_left_of
from memci.storage.erasure.pages import unknown_pages
from memci.storage.page_store.choose import remove_texts
from memci.storage.page_store.port import PageStore
from memci.storage.pages.tree import lock_tree
from memci.storage.pages.visible_pages import count_pages, note_keys
from memci.storage.pins import read_pins
from memci.storage.receipts import NewReceipt, write_receipt
from memci.storage.session import Connection, Database
from memci.storage.summaries import losing_summaries


@dataclass(frozen=True, slots=True)
class Which:
    """Messages by ids, pages by indexes and pins by numbers, or all messages of a session."""

    message_ids: Sequence[str] = ()
    session_id: str | None = None
    page_indexes: Sequence[str] = ()
    pins: Sequence[int] = ()

    @classmethod
    def of(cls, request: EraseRequest) -> Self:
        """Return what a request names without a query."""
        return cls(
            request.message_ids or (),
            request.session_id,
            request.page_indexes or (),
            request.pins or (),
        )


def condemned_by(connection: Connection, agent_id: str, which: Which) -> DeletionSet:
    """Return all that goes; what was erased before is passed over.

    Raises ``NotFoundError`` for what never was.
    """
    if which.session_id is not None:
        seqs = condemning.seqs_of_session(connection, agent_id, which.session_id)
        if not seqs:
            raise NotFoundError("this agent has no messages in that session")
        return condemning.condemned_with(connection, agent_id, seqs, which.session_id)
    stored = condemning.seqs_of_ids(connection, agent_id, which.message_ids)
    missing = [each for each in which.message_ids if each not in stored]
    unknown = sorted(set(missing) - erased_among(connection, agent_id, missing))
    if unknown:
        raise NotFoundError(
            f"{len(unknown)} of {len(which.message_ids)} messages are not stored, such as "
            f"'{shown_name(unknown[0])}'; nothing was erased"
        )
    never = unknown_pages(connection, agent_id, which.page_indexes) if which.page_indexes else []
    if never:
        raise NotFoundError(f"there never was a page {never[0]}; nothing was erased")
    condemned = condemning.condemned_with(
        connection, agent_id, sorted(stored.values()), page_indexes=which.page_indexes
    )
    return replace(condemned, pins=_pins(connection, agent_id, which.pins))


def _pins(connection: Connection, agent_id: str, numbers: Sequence[int]) -> list[int]:
    """Return those of these pins that are there; those taken down before are passed over."""
    if not numbers:
        return []
    known = read_pins(connection, agent_id)
    never = [each for each in numbers if each > known.last]
    if never:
        raise NotFoundError(f"nothing was ever pinned as {never[0]}; nothing was erased")
    there = {each.number for each in known.pins}
    return [each for each in dict.fromkeys(numbers) if each in there]


KIND = "erasure"
LEFT = (
    "{}, but the store of pages' texts does not answer, and may still have some: erase the same "
    "again, until it says so no more"
)
# Puts what was said onto pages, in a transaction that has locked an agent's tree.
Settle: TypeAlias = Callable[[Connection, str], None]


def run(
    database: Database,
    store: PageStore,
    tokens: Wakeups,
    agent_id: str,
    which: Which,
    *,
    settle: Settle | None = None,
) -> ReceiptAnswer:
    """Erase messages and everything derived, all or nothing; return the receipt, which is kept.

    ``settle`` has what goes take its index with it (P1): what was said until the lane is locked may
    have been seen on a page already.

    Those erased before are passed over. Raises ``NotFoundError``, with nothing erased, when one
    never was, or when the session has none; and ``PageStoreError`` when all is erased but texts of
    notes, which go when the same is erased again, or by upkeep.
    """
    named = frozenset(which.page_indexes)
    texts = {key for key in store.list(agent_id) if key.page in named} if named else set()
    with _seized(database, tokens, agent_id) as connection:
        if settle is not None:
            settle(connection, agent_id)
        texts |= {key for key in note_keys(connection, agent_id) if key.page in named}
        condemned = condemned_by(connection, agent_id, which)
        ids = condemning.ids_of(connection, agent_id, condemned.seqs)
        beginnings = partial(
            condemning.beginnings_of, connection, agent_id, condemned.seqs, BEGINNING_LENGTH
        )
        erased = ErasedMessages(frozenset(ids), beginnings, which.session_id)
        letters = drop_erased(connection, agent_id, erased)
        losing = losing_summaries(connection, agent_id, condemned.seqs)
        rows = erase_messages(connection, agent_id, condemned)
        request_summaries(connection, agent_id, losing, now=True, source=JobSource.HTTP)
        body = {
            "erased": "messages" if which.session_id is None else "session",
            "message_ids": ids,
            "page_indexes": [each for each in which.page_indexes if condemned.pages.has(each)],
            "pins": list(condemned.pins),
            **_numbers(condemned, rows, letters),
            "job_id": _again(connection, agent_id, condemned.again),
        }
        receipt = _receipt(connection, agent_id, body)
    with _told("the messages and pages are erased"):
        remove_texts(store, agent_id, texts)
    return receipt


def run_agent(
    database: Database, store: PageStore, tokens: Wakeups, queues: AgentQueues, agent_id: str
) -> ReceiptAnswer:
    """Erase all that an agent holds, here and in the broker; return the receipt, which is kept.

    Also what is left of one that is there no more.

    Raises ``NotFoundError`` when there is no such agent, ``BrokerUnavailableError``, with nothing
    erased, when nobody can say what waits for it there, and ``PageStoreError``: with nothing
    erased when nobody can say which texts there are, or, as it says, when all is erased but some
    of them. They go when the agent is erased again, or by upkeep.
    """
    # First, and again with the lane locked: what is there when nobody is, is of no life to come.
    texts = set(store.list(agent_id))
    with database.agent_snapshot(agent_id) as connection:
        is_left = is_left_of(connection, agent_id)
    try:
        with _seized(database, tokens, agent_id, there=not is_left) as connection:
            texts |= note_keys(connection, agent_id)
            pages = count_pages(connection, agent_id)
            rows = erase_agent(connection, agent_id)
            body = {"erased": "agent", "pages": pages, "rows": rows}
            receipt = _receipt(connection, agent_id, body)
            # Last, so that no failure but that of the commit follows. Nobody else moves messages
            # in.
            with broker_errors():
                queues.empty(agent_id)
    except NotFoundError:
        if not texts:
            raise
        # An erasure before has left them behind.
        receipt = _receipt_of_texts(database, agent_id, len(texts))
    with _told("the agent is erased"):
        remove_texts(store, agent_id, texts)
    return receipt


def _receipt_of_texts(database: Database, agent_id: str, texts: int) -> ReceiptAnswer:
    with database.agent_transaction(agent_id) as connection:
        body = {"erased": "agent", "rows": {}, "texts": texts}
        return _receipt(connection, agent_id, body)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Say what is done already when the page store does not answer."""
    try:
        yield
    except PageStoreError as error:
        raise PageStoreError(LEFT.format(what)) from error


@contextmanager
def _seized(
    database: Database, tokens: Wakeups, agent_id: str, *, there: bool = True
) -> Iterator[Connection]:
    """Take the lane from its worker for one transaction, and let workers go on afterwards."""
    lease = preempt_lane(database, agent_id, must_exist=there)
    try:
        with lease.effect() as connection:
            # Whoever changes a page waits, and finds what is left; who did so is waited for.
            lock_tree(connection, agent_id)
            yield connection
    except FencedOffError:
        raise DatabaseBusyError(
            "somebody else erases something of this agent right now; nothing was erased"
        ) from None
    finally:
        _let_go(lease, tokens)


def _let_go(lease: Lease, tokens: Wakeups) -> None:
    """Free the lane; where that fails, the lease runs out."""
    with suppress(FencedOffError, UnavailableError):
        with lease.effect(durable=False) as connection:
            freed = mailbox.free(connection, lease.agent_id)
        if freed.wake_lane:
            tokens.wake_lane(lease.agent_id)
        if freed.wake_compress:
            tokens.wake_compress(lease.agent_id)


def _again(connection: Connection, agent_id: str, seqs: Sequence[int]) -> str | None:
    """Let memory have messages anew whose memories were shared; return the job."""
    if not seqs:
        return None
    # They passed the filter once; what they leaned on then may be gone now.
    payload = {"seqs": list(seqs), "wanted": list(seqs)}
    job = mailbox.NewJob(
        agent_id, JobKind.CREATE, first_seq=seqs[0], last_seq=seqs[-1], payload=payload
    )
    mailbox.insert_job(connection, job)
    return str(job.id)


def _numbers(condemned: DeletionSet, rows: Mapping[str, int], letters: int) -> dict[str, Any]:
    return {
        "memories": len(condemned.memories),
        "entities": len(condemned.entities),
        "forgotten": condemned.forgotten,
        "again": len(condemned.again),
        "pages": condemned.pages.count,
        "rows": {**rows, "letter": letters} if letters else dict(rows),
    }


def _receipt(connection: Connection, agent_id: str, body: Mapping[str, Any]) -> ReceiptAnswer:
    receipt_id = uuid4()
    created_at = write_receipt(connection, agent_id, NewReceipt(receipt_id, KIND, body))
    return ReceiptAnswer(id=receipt_id, kind=KIND, body=dict(body), created_at=created_at)


NOTHING = ErasurePreview(message_ids=[], messages=[], memories=0, entities=0, forgotten=0, again=0)
_SHOWN = 200
_EXCERPT = 240


def preview(
    database: Database, store: PageStore, agent_id: str, which: Which, words: Words | None = None
) -> ErasurePreview:
    """Return what would go, with excerpts around ``words``.

    Raises ``NotFoundError`` for what never was.
    """
    own_words = shown_pages(database, store, agent_id, which.page_indexes[:_SHOWN], words)
    pinned = shown_pins(database, agent_id, which.pins[:_SHOWN], words)
    with snapshot_of(database, agent_id) as connection:
        condemned = condemned_by(connection, agent_id, which)
        ids = condemning.ids_of(connection, agent_id, condemned.seqs)
        shown = condemning.messages_of(connection, agent_id, condemned.seqs[:_SHOWN])
        beside = count_beside(connection, agent_id, condemned)
    return ErasurePreview(
        message_ids=ids,
        messages=[_shown(message, words) for message in shown],
        page_indexes=[each for each in which.page_indexes if condemned.pages.has(each)],
        own_words=[
            each.model_copy(update={"goes": each.index in condemned.pages.going})
            for each in own_words
        ],
        pins=list(condemned.pins),
        pinned=pinned,
        pages=condemned.pages.count,
        memories=len(condemned.memories),
        entities=len(condemned.entities),
        forgotten=condemned.forgotten,
        again=len(condemned.again),
        **asdict(beside),
    )


def _shown(message: Message, words: Words | None) -> CondemnedMessage:
    if words is None:
        excerpt = " ".join(message.text.split())[:_EXCERPT]
    else:
        excerpt = words.excerpt(message.text, _EXCERPT)
    return CondemnedMessage(
        id=message.id,
        seq=message.seq,
        role=message.role,
        excerpt=excerpt,
        session_id=message.session_id,
        timestamp=message.said_at,
    )
