"""What is pinned, listed (R7)."""

from __future__ import annotations

from collections.abc import Mapping

from memci.domain.context.budget import Utterance
from memci.domain.language import language_of
from memci.domain.message import Role
from memci.domain.pages.block import Format, Writer
from memci.domain.pages.labels import labels_of
from memci.domain.pages.pin import Pin
from memci.shapes.pins import PinList, PinOut
from memci.smallmodel.ports import TokenCounter
from memci.storage.erasure.gone import snapshot_of
from memci.storage.pins import pinned_pages, read_pins
from memci.storage.reading.messages import message_ids
from memci.storage.session import Database
from memci.storage.tongue import language_spoken
from memci.storage.viewers import viewer_in


def list_pins(database: Database, counter: TokenCounter, agent_id: str) -> PinList:
    """Return what is pinned, in whosever sessions; raises ``NotFoundError`` for no agent.

    Counted together, as a window has it in the language of who spoke last.
    """
    with snapshot_of(database, agent_id) as connection:
        pins = read_pins(connection, agent_id).pins
        seqs = [each.message_seq for each in pins if each.message_seq is not None]
        ids = message_ids(connection, agent_id, seqs)
        pages = pinned_pages(connection, agent_id)
        spoken = language_spoken(connection, agent_id, viewer_in(connection, agent_id, None))
    language = spoken or language_of(" ".join(each.text for each in pins))
    text = Writer(Format.MARKDOWN, labels_of(language)).pins(pins)
    tokens = Utterance(Role.USER, text).tokens(counter.count) if text else 0
    return PinList(pins=[_out(each, ids) for each in pins], pages=pages, tokens=tokens)


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
