"""The last step of a context: keep its receipt, and answer (R16).

A receipt holds numbers and ids and no text; of the query and of the list it keeps hashes.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from memci.domain.context.assemble import Assembly
from memci.domain.context.message_list import Item, Piece, stable_prefix
from memci.domain.search.candidate import Candidate, Source
from memci.domain.search.ranking import Ranked
from memci.reading.deferred_writes import Use
from memci.reading.find import Found
from memci.reading.reader import Reader
from memci.schemas.reads import ContextAnswer, ContextItem, ContextMessage, ContextRequest
from memci.storage.erasure.erase import wait_for_erasure
from memci.storage.reading.messages import message_ids
from memci.storage.receipts import NewReceipt, ReadReferences, keeping_receipt

# The largest number of listed left-out candidates, best first; the rest is counted.
_MOST_LEFT_OUT = 50
_EXPLAINED = ("timings_ms", "items", "left_out", "left_out_by_reason", "recent_left_out")


@dataclass(frozen=True, slots=True)
class Account:
    """A context and the steps that made it."""

    request: ContextRequest
    found: Found
    assembly: Assembly
    tokenizer: str
    timings_ms: Mapping[str, float]


def keep_receipt(reader: Reader, agent_id: str, account: Account) -> ContextAnswer:
    """Write the receipt, and return the answer; a crash of the database may lose the receipt."""
    receipt_id = uuid4()
    given = _references(account)
    with reader.database.agent_transaction(agent_id, durable=False) as connection:
        wait_for_erasure(connection, agent_id)
        ids = message_ids(connection, agent_id, given.seqs)
        body = _body(account, ids)
        receipt = NewReceipt(receipt_id, "context", body, account.request.session_id, given)
        # If one of the messages was erased meanwhile, no receipt is stored (M25).
        is_complete = len(ids) == len(given.seqs)
        with keeping_receipt(connection, agent_id, receipt if is_complete else None):
            answer = _answer(account, ids, receipt_id, body)
    reader.activity.note(agent_id, use=Use(agent_id, receipt, is_stored=True))
    return answer


def _references(account: Account) -> ReadReferences:
    """Return the messages and memories of the list for the use log and the receipt."""
    items = account.assembly.items
    left_out = account.assembly.left_out[:_MOST_LEFT_OUT]
    given = frozenset(seq for item in items for seq in item.seqs)
    ranked = (item.ranked.candidate for item in items if item.ranked is not None)
    return ReadReferences(
        at_seq=account.found.state.progress.message_seq,
        seqs=given.union(
            (message.seq for message in account.found.messages),
            (seq for each, _ in left_out for seq in each.candidate.seqs),
        ),
        given=given,
        nodes=frozenset(each.key for each in ranked if each.source is Source.MEMORY),
    )


def _answer(
    account: Account, ids: Mapping[int, str], receipt_id: UUID, body: Mapping[str, Any]
) -> ContextAnswer:
    assembly, now = account.assembly, account.found.state.progress
    explain = None
    if account.request.explain:
        explain = {name: body[name] for name in _EXPLAINED}
    return ContextAnswer(
        messages=[ContextMessage.of(part.utterance) for part in assembly.parts],
        tokens=assembly.tokens,
        tokenizer=account.tokenizer,
        budget_tokens=account.request.budget_tokens,
        items=[
            ContextItem(
                section=item.section,
                text=item.text,
                tokens=item.tokens,
                message_ids=_known(item.seqs, ids),
            )
            for item in assembly.items
        ],
        stable_prefix=body["stable_prefix"],
        receipt_id=receipt_id,
        explain=explain,
        seq=now.seq,
        pending=now.pending,
        new_agent=now.new_agent,
    )


def _body(account: Account, ids: Mapping[int, str]) -> dict[str, Any]:
    """Return the receipt: the entries and their origin, the left-out ones with reasons."""
    assembly, query = account.assembly, account.request.query
    now = account.found.state.progress
    shown = {seq for item in assembly.items if item.ranked is None for seq in item.seqs}
    unseen = [each.seq for each in account.found.messages if each.seq not in shown]
    prefix = assembly.prefix
    last_prefix = [Piece(*each) for each in account.found.state.prefix]
    return {
        "tokens": assembly.tokens,
        "budget_tokens": account.request.budget_tokens,
        "tokenizer": account.tokenizer,
        "seq": now.seq,
        "pending": now.pending,
        "query_sha256": None if query is None else hashlib.sha256(query.encode()).hexdigest(),
        "stable_prefix": stable_prefix(last_prefix, prefix),  # in bytes
        "prefix": [list(piece) for piece in prefix],
        "recent_begins": assembly.recent_begins,
        "timings_ms": dict(account.timings_ms),
        "items": [_item_entry(item, ids) for item in assembly.items],
        "left_out": [
            {**_origin(each, ids), "why": why} for each, why in assembly.left_out[:_MOST_LEFT_OUT]
        ],
        "left_out_by_reason": Counter(why.value for _, why in assembly.left_out),
        "recent_left_out": _known(unseen, ids),
    }


def _item_entry(item: Item, ids: Mapping[int, str]) -> dict[str, Any]:
    taken = {"section": item.section, "tokens": item.tokens}
    if item.ranked is None:
        shortened = {"shortened": True} if item.shortened else {}
        return {**taken, "message_ids": _known(item.seqs, ids), **item.origin, **shortened}
    return {**taken, **_origin(item.ranked, ids), "shortened": item.shortened}


def _origin(ranked: Ranked, ids: Mapping[int, str]) -> dict[str, Any]:
    one = ranked.candidate
    return {
        "message_ids": _known(one.seqs, ids),
        "node_id": one.key if one.source is Source.MEMORY else None,
        "ranks": {channel.value: rank for channel, rank in ranked.ranks.items()},
        **_source_place(one),
    }


def _source_place(one: Candidate) -> dict[str, Any]:
    """Return the page of a note, or the place in a document, without text or file name."""
    if one.kept is not None:
        return {"page": one.kept.name}
    if one.extract is None:
        return {}
    extract = one.extract._asdict()
    names = ("document_id", "collection", "first_line", "last_line", "page")
    return {"document": {name: extract[name] for name in names if extract[name] is not None}}


def _known(seqs: Iterable[int], ids: Mapping[int, str]) -> list[str]:
    """Return the ids of messages; messages erased in the meantime have none."""
    return [ids[seq] for seq in seqs if seq in ids]
