"""What is pinned, listed (R7)."""

from __future__ import annotations

from collections.abc import Mapping

from memci.domain.pages.pin import Pin
from memci.domain.pages.rules import PageRules
from memci.domain.pages.viewer import ANYBODY
from memci.shapes.pins import PinList, PinOut
from memci.smallmodel.ports import TokenCounter
from memci.storage.desks import View, open_desk
from memci.storage.erasure.gone import snapshot_of
from memci.storage.page_store.port import PageStore
from memci.storage.pins import pinned_pages
from memci.storage.reading.messages import message_ids
from memci.storage.session import Database


def list_pins(
    database: Database, store: PageStore, counter: TokenCounter, rules: PageRules, agent_id: str
) -> PinList:
    """Return what is pinned, in whosever sessions; raises ``NotFoundError`` for no agent."""
    with snapshot_of(database, agent_id) as connection:
        view = View(ANYBODY, counter.count, rules)
        rendering = open_desk(connection, agent_id, store, view).desk.rendering
        seqs = [each.message_seq for each in rendering.pins if each.message_seq is not None]
        ids = message_ids(connection, agent_id, seqs)
        pages = pinned_pages(connection, agent_id)
    return PinList(
        pins=[_out(each, ids) for each in rendering.pins],
        pages=pages,
        tokens=rendering.pin_tokens,
    )


def _out(pin: Pin, ids: Mapping[int, str]) -> PinOut:
    return PinOut(
        pin=pin.number,
        kind=pin.kind,
        text=pin.text,
        by=pin.by,
        message=None if pin.message_seq is None else ids.get(pin.message_seq),
        created_at=pin.created_at,
        user_id=pin.user_id,
    )
