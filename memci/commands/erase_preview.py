"""What would go if something were erased (M25)."""

from __future__ import annotations

from dataclasses import asdict

from memci.commands.erase_pages import shown_pages
from memci.commands.erase_pins import shown_pins
from memci.commands.erase_which import Which, condemned_by
from memci.commands.erase_words import Words
from memci.domain.message import Message
from memci.shapes.erasure import CondemnedMessage, ErasurePreview
from memci.storage.erasure import condemned as condemning
from memci.storage.erasure.beside import count_beside
from memci.storage.erasure.gone import snapshot_of
from memci.storage.page_store.port import PageStore
from memci.storage.session import Database

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
