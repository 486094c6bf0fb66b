"""Memories of messages from other time zones have the speakers' days (R4, R5, M24)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memci.domain.memory.compression_scan import Forgetting
from memci.language.times.calendar import offset_of
from memci.storage.network.nodes import forget_nodes
from tests.support.mailbox import Mailbox
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same
from tests.support.short_term import consolidate, remember

EAST = datetime.fromisoformat("2026-11-18T06:30:00+08:00")
WEST = datetime.fromisoformat("2026-11-18T20:30:00-08:00")
IN_UTC = datetime.fromisoformat("2026-11-18T20:30:00Z")
ONE, LONGER = "the pump is broken", "The pump is really broken!"


@pytest.mark.parametrize(
    ("text", "said_at", "note", "offset"),
    [
        ("昨天我和老赵去了灵隐寺。", EAST, "昨天（2026-11-17）", 480),
        ("Yesterday I met Dolores", WEST, "Yesterday (2026-11-17)", -480),
        ("Yesterday I met Dolores", IN_UTC, "Yesterday (2026-11-17)", None),
        # Said now, where no day is certain soon after midnight.
        ("The pump is broken again, says Dolores", None, "", None),
    ],
)
def test_yesterday_is_a_day_in_the_speakers_time_zone(
    ada: AgentUnderTest, mailbox: Mailbox, text: str, said_at: datetime | None, note: str,
    offset: int | None,
):  # fmt: skip
    mailbox.append(text, said_at=said_at)
    mailbox.run()
    (memory,) = ada.nodes("memory")
    assert note in memory.content
    message = ada.row("SELECT said_at, said_offset FROM message WHERE agent_id = %s")
    assert (memory.said_at, memory.said_offset) == (message.said_at, message.said_offset)
    assert memory.said_offset == offset
    assert said_at is None or message.said_at == said_at


def test_a_message_that_is_sent_again_keeps_its_first_time(ada: AgentUnderTest, mailbox: Mailbox):
    mailbox.append("Yesterday I met Dolores", ids=("x",), said_at=WEST)
    mailbox.append("Yesterday I met Dolores", "And so on", ids=("x", "y"), said_at=EAST)
    rows = ada.rows("SELECT id, said_at, said_offset FROM message WHERE agent_id = %s ORDER BY seq")
    assert [tuple(row) for row in rows] == [("x", WEST, -480), ("y", EAST, 480)]


def test_a_rebuilt_network_has_the_same_days(ada: AgentUnderTest, mailbox: Mailbox):
    for at in (EAST, WEST, None, EAST + timedelta(days=1)):
        mailbox.append(f"Yesterday [Ann] was here, as always: {at}", said_at=at)
        mailbox.run()
    ada.compress(2)
    rebuilding = Rebuilding(ada)
    assert is_same(rebuilding.rebuilt())
    query = "SELECT content, said_at, said_offset FROM node WHERE agent_id = %s ORDER BY id"
    before = ada.rows(query)
    assert {row.said_offset for row in before} == {480, -480, None}
    assert rebuilding.on_edition().rows(query) == before
    rebuilding.switch()
    rebuilding.run()
    assert [row[1:] for row in ada.rows(query)] == [row[1:] for row in before]


def test_a_restored_memory_keeps_its_day(ada: AgentUnderTest, mailbox: Mailbox):
    mailbox.append("Yesterday [Ann] was here", said_at=WEST)
    mailbox.run()
    (memory,) = ada.nodes("memory")
    with ada.database.agent_transaction(ada.agent_id) as connection:
        forget_nodes(connection, ada.agent_id, {memory.id: Forgetting.TOO_SHORT}, 1)
    rebuilding = Rebuilding(ada)
    rebuilding.restore(memory.id)
    rebuilding.run()
    (restored,) = ada.nodes("memory")
    assert restored.id > memory.id
    assert (restored.content, restored.said_at) == (memory.content, WEST)
    assert restored.said_offset == memory.said_offset == -480


@pytest.mark.parametrize(
    ("said_at", "later", "merged"),
    [
        # One day for the speaker and two in UTC; then the other way round.
        ("2026-11-18T06:30:00+08:00", timedelta(hours=5), 2),
        ("2026-11-18T22:30:00+08:00", timedelta(hours=3), 0),
        ("2026-11-18T06:30:00+00:00", timedelta(hours=5), 2),
    ],
)
def test_memories_of_one_day_of_the_speaker_are_merged(
    ada: AgentUnderTest, said_at: str, later: timedelta, merged: int
):
    first = datetime.fromisoformat(said_at)
    remember(ada, ONE, said_at=first)
    remember(ada, LONGER, said_at=first + later)
    assert consolidate(ada)["merged"] == merged
    offset = offset_of(first)
    rows = [(row.said_at, row.said_offset) for row in ada.nodes("memory")]
    assert rows == [(first, offset), (first + later, offset)][: 1 if merged else 2]
    versions = ada.rows("SELECT said_offset FROM node_version WHERE agent_id = %s")
    assert [row.said_offset for row in versions] == [offset] * merged
