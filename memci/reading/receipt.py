"""The account of an assembly: its answer, and the receipt that is kept of it (R16).

A receipt holds numbers and ids and no text; of the query and of the list it keeps hashes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memci.domain.context.choose import Assembly
from memci.domain.context.message_list import Item, Piece, pieces
from memci.domain.search.candidate import Candidate, Source
from memci.domain.search.ranking import Ranked
from memci.message import Message
from memci.schemas.reads import ContextAnswer, ContextItem, ContextMessage, ContextRequest
from memci.storage.reading.snapshot_state import Progress
from memci.storage.receipts import Given

# What was found and left out is listed so far, best first; the rest is counted.
_MOST_LEFT_OUT = 50
_EXPLAINED = ("timings_ms", "items", "left_out", "left_out_by_reason", "recent_left_out")


@dataclass(frozen=True, slots=True)
class Account:
    """An assembly and how it came about."""

    request: ContextRequest
    assembly: Assembly
    tokenizer: str
    now: Progress
    stable_prefix: int
    timings_ms: Mapping[str, float]
    said: list[Message]

    @property
    def seqs(self) -> set[int]:
        """Messages that the account speaks of."""
        left_out = self.assembly.left_out[:_MOST_LEFT_OUT]
        return {
            *(message.seq for message in self.said),
            *(seq for item in self.assembly.items for seq in item.seqs),
            *(seq for each, _ in left_out for seq in each.candidate.seqs),
        }


def given_by(account: Account) -> Given:
    """Return whose words are in the list, and which memories are."""
    items = account.assembly.items
    ranked = (item.ranked.candidate for item in items if item.ranked is not None)
    return Given(
        at_seq=account.now.message_seq,
        seqs=frozenset(account.seqs),
        given=frozenset(seq for item in items for seq in item.seqs),
        nodes=frozenset(each.key for each in ranked if each.source is Source.MEMORY),
    )


def prefix_of(assembly: Assembly) -> list[Piece]:
    """Return what the list begins with, piece by piece."""
    return pieces(
        (f"{place}:{part.utterance.role}", item.text)
        for place, part in enumerate(assembly.parts)
        for item in part.items
    )


def answer(
    account: Account, ids: Mapping[int, str], receipt_id: UUID, receipt: Mapping[str, Any]
) -> ContextAnswer:
    """Return the answer to the request; what it explains is in the body of its receipt."""
    assembly = account.assembly
    explain = None
    if account.request.explain:
        explain = {name: receipt[name] for name in _EXPLAINED}
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
        stable_prefix=account.stable_prefix,
        receipt_id=receipt_id,
        explain=explain,
        seq=account.now.seq,
        pending=account.now.pending,
        new_agent=account.now.new_agent,
    )


def receipt_body(account: Account, ids: Mapping[int, str]) -> dict[str, Any]:
    """Return the receipt: what was taken, from where, what was left out and why."""
    query = account.request.query
    return {
        "tokens": account.assembly.tokens,
        "budget_tokens": account.request.budget_tokens,
        "tokenizer": account.tokenizer,
        "seq": account.now.seq,
        "pending": account.now.pending,
        "query_sha256": None if query is None else hashlib.sha256(query.encode()).hexdigest(),
        "stable_prefix": account.stable_prefix,
        "prefix": [list(piece) for piece in prefix_of(account.assembly)],
        "recent_begins": account.assembly.recent_begins,
        "timings_ms": dict(account.timings_ms),
        **_choices(account, ids),
    }


def _choices(account: Account, ids: Mapping[int, str]) -> dict[str, Any]:
    assembly = account.assembly
    shown = {seq for item in assembly.items if item.ranked is None for seq in item.seqs}
    unseen = [message.seq for message in account.said if message.seq not in shown]
    return {
        "items": [_taken(item, ids) for item in assembly.items],
        "left_out": [
            {**_origin(each, ids), "why": why} for each, why in assembly.left_out[:_MOST_LEFT_OUT]
        ],
        "left_out_by_reason": Counter(why.value for _, why in assembly.left_out),
        "recent_left_out": _known(unseen, ids),
    }


def _taken(item: Item, ids: Mapping[int, str]) -> dict[str, Any]:
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
        **_place(one),
    }


def _place(one: Candidate) -> dict[str, Any]:
    """Return where a piece of a file stands; of files, too, no text is kept, and so no name.

    Of a note that is the index of its page.
    """
    if one.kept is not None:
        return {"page": one.kept.name}
    if one.extract is None:
        return {}
    told = one.extract._asdict()
    names = ("document_id", "collection", "first_line", "last_line", "page")
    return {"document": {name: told[name] for name in names if told[name] is not None}}


def _known(seqs: Iterable[int], ids: Mapping[int, str]) -> list[str]:
    """Return the ids of messages; those erased in the meantime have none."""
    return [ids[seq] for seq in seqs if seq in ids]
