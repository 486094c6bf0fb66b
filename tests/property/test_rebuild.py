"""A network that is rebuilt from its history equals the current network (M24)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeAlias
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memci.domain.memory import creation
from memci.domain.memory.node import NodeEvent
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import ConflictError
from memci.jobs import compression_pass
from memci.storage.network.node_history import append_history
from memci.storage.pending_messages import mark_asked
from memci.storage.session import Database
from memci.storage.sessions import end_session
from tests.support.examples import examples
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same
from tests.support.servers import FakeClock
from tests.support.short_term import consolidate

MANY = settings(
    max_examples=examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
NAMES = st.sampled_from(["Grace", "Luigi", "Oslo", "小明"])

# Texts that the filter refuses, that say the same, and that contradict each other.
PHRASES = st.sampled_from([
    "ok", "thanks!", "the pump is broken", "The pump is really broken!", "the fan is loud",
    "I live in Paris", "I moved to Rome", "I moved to Oslo", "Actually, it's Bonn, not Paris.",
])  # fmt: skip
sayings = st.tuples(
    st.just("say"),
    st.lists(
        st.tuples(
            st.text("abc def 你好\n", min_size=1, max_size=60).filter(str.strip) | PHRASES,
            st.lists(NAMES, max_size=3),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["s1", "s2"]),
)
events = (
    sayings
    | st.tuples(st.just("pass"), st.integers(1, 3))
    | st.tuples(st.just("part"), st.just(0))  # a part of a pass; other events come before the rest
    | st.tuples(st.just("mention"), NAMES)
    | st.tuples(st.just("restore"), st.integers(0, 5))
    | st.tuples(st.just("consolidate"), st.integers(0, 30))  # so many hours later
    | st.tuples(st.just("end"), st.sampled_from(["s1", "s2"]))
    | st.tuples(st.just("use"), st.integers(0, 5))
    | st.tuples(st.just("ask"), st.integers(0, 2))  # to remember a refused message
    | st.tuples(st.just("add"), PHRASES)
    | st.tuples(st.just("correct"), st.integers(0, 5), PHRASES)
    | st.tuples(st.just("delete"), st.integers(0, 5))
    | st.tuples(st.just("pin"), st.integers(0, 5), st.booleans())
)
History: TypeAlias = list[tuple[Any, ...]]
histories = st.lists(events, min_size=2, max_size=14)


def apply_history(ada: AgentUnderTest, rebuilding: Rebuilding, history: History) -> None:
    """Apply all events to an agent."""
    handlers: dict[str, Callable[..., object]] = {
        "say": partial(say, ada),
        "pass": ada.compress,
        "part": partial(run_part_of_pass, ada),
        "mention": partial(mention, ada, rebuilding),
        "restore": partial(restore, ada, rebuilding),
        "consolidate": partial(consolidate_later, ada),
        "end": partial(end_named_session, ada),
        "use": partial(use_memory, ada),
        "ask": partial(ask_to_remember, ada),
        "add": partial(add, rebuilding),
        "correct": partial(correct, ada, rebuilding),
        "delete": partial(delete, ada, rebuilding),
        "pin": partial(pin, ada, rebuilding),
    }
    for kind, *arguments in history:
        handlers[kind](*arguments)


def say(ada: AgentUnderTest, said: list[tuple[str, list[str]]], session: str) -> None:
    texts = [f"{text} {' '.join(f'[{name}]' for name in names)}" for text, names in said]
    ada.remember(*texts, session=session)


def run_part_of_pass(ada: AgentUnderTest, budget_ms: int) -> None:
    ada.ask_for_pass()
    ada.compression().step(ada.lease(), budget_ms=budget_ms)


def consolidate_later(ada: AgentUnderTest, hours: int) -> None:
    ada.clock.advance(hours * 3_600)
    consolidate(ada)


def end_named_session(ada: AgentUnderTest, session: str) -> None:
    with ada.database.agent_transaction(ada.agent_id) as connection:
        end_session(connection, ada.agent_id, session)


def use_memory(ada: AgentUnderTest, which: int) -> None:
    memories = ada.nodes("memory")
    if which < len(memories):
        with ada.database.agent_transaction(ada.agent_id) as connection:
            used = {memories[which].id: {"times": 1}}
            append_history(connection, ada.agent_id, NodeEvent.USED, 0, used)


def ask_to_remember(ada: AgentUnderTest, which: int) -> None:
    refused = ada.rows(
        "SELECT seq FROM message WHERE agent_id = %s AND memory_state = 'filtered' ORDER BY seq"
    )
    if which < len(refused):
        seq = refused[which].seq
        with ada.database.agent_transaction(ada.agent_id) as connection:
            mark_asked(connection, ada.agent_id, [seq])
        ada.create(ada.job(seq, seq, {"seqs": [seq], "wanted": [seq]}))


def add(rebuilding: Rebuilding, text: str) -> None:
    rebuilding.add(text)
    rebuilding.run()


def correct(ada: AgentUnderTest, rebuilding: Rebuilding, which: int, text: str) -> None:
    for memory in ada.nodes("memory")[which : which + 1]:
        rebuilding.edit(memory.id, text=text)
        rebuilding.run()


def delete(ada: AgentUnderTest, rebuilding: Rebuilding, which: int) -> None:
    """Delete a memory; the last ones are forgotten ones."""
    gone = ada.rows(
        "SELECT node_id AS id FROM trail WHERE agent_id = %s AND event = 'forgotten' ORDER BY id"
    )
    for memory in [*ada.nodes("memory"), *gone][which : which + 1]:
        with suppress(ConflictError):  # an entity
            rebuilding.delete(memory.id)
    rebuilding.run()


def pin(ada: AgentUnderTest, rebuilding: Rebuilding, which: int, pinned: bool) -> None:
    for memory in ada.nodes("memory")[which : which + 1]:
        rebuilding.edit(memory.id, pinned=pinned)


def mention(ada: AgentUnderTest, rebuilding: Rebuilding, name: str) -> None:
    if ada.lane().message_seq:
        with suppress(ConflictError):  # all slots are taken by pinned memories
            rebuilding.mention(name)


def restore(ada: AgentUnderTest, rebuilding: Rebuilding, which: int) -> None:
    forgotten = ada.rows(
        "SELECT node_id FROM trail WHERE agent_id = %s AND event = 'forgotten' ORDER BY id"
    )
    if which < len(forgotten):
        try:
            rebuilding.restore(forgotten[which].node_id)
        except ConflictError:
            return  # an entity, or restored before
        rebuilding.run()


@pytest.mark.timeout(600)  # a failure is shrunk for five minutes
@MANY
@given(
    history=histories,
    focus_limit=st.integers(1, 3),
    rate=st.sampled_from([0.97, 0.7, 0.3]),
    capacity=st.sampled_from([0, 6]),
    batch=st.sampled_from([1, 3, 500]),
)
@example(  # a memory that was made in the middle of a pass
    history=[
        ("say", [("a", ["Grace"]), ("b", [])], "s1"),
        ("part", 0),
        ("say", [("c", ["Oslo"])], "s2"),
        ("pass", 2),
    ],
    focus_limit=1,
    rate=0.3,
    capacity=0,
    batch=1,
)
def test_a_rebuilt_network_equals_the_current_one(
    database: Database,
    history: History,
    focus_limit: int,
    rate: float,
    capacity: int,
    batch: int,
) -> None:
    values = MemoryParameters(
        focus_limit=focus_limit, decay_rate=rate, min_shrink=0, node_capacity=capacity
    )
    ada = AgentUnderTest(database, uuid4().hex, values, clock=FakeClock(datetime.now(UTC)))
    rebuilding = Rebuilding(ada)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compression_pass, "BATCH", batch)
        patch.setattr(creation, "MAX_DRAWN", 2)
        apply_history(ada, rebuilding, history)
        if not ada.lane().message_seq:
            return
        found = rebuilding.rebuilt()
        edition = rebuilding.on_edition()
        assert is_same(found), found
        assert edition.focus() == ada.focus()
        assert scans(edition) == scans(ada)
        assert beliefs(edition) == beliefs(ada)
        before = scans(ada), beliefs(ada), ada.focus(), len(ada.links())
        rebuilding.switch()
        rebuilding.run()
        assert (scans(ada), beliefs(ada), ada.focus(), len(ada.links())) == before
        short = any(node.tier == "short" for node in ada.nodes())
        assert (ada.lane().expire_at is not None) == short, "upkeep asks when a term is over"
        # The switched network can be changed and rebuilt again.
        ada.compress()
        ada.remember("something more [Luigi]")
        assert is_same(rebuilding.rebuilt())


def beliefs(ada: AgentUnderTest) -> tuple[list[object], ...]:
    """Tiers, superseded memories, replaced versions and ended facts, with texts instead of ids."""
    memories = ada.nodes("memory")
    texts = {node.id: node.content for node in memories}
    return (
        [
            (node.content, node.tier, node.expires_at, node.promoted_at, node.compared, node.worth,
             node.pinned, node.message_seqs, node.superseded_at,
             node.superseded_by and texts.get(node.superseded_by, "forgotten"))
            for node in memories
        ],
        sorted(
            (each.content, each.reason, str(each.until), texts.get(each.replaced_by, "forgotten"))
            for each in ada.rows("SELECT * FROM node_version WHERE agent_id = %s")
        ),
        sorted(
            (texts.get(each.node_id, "forgotten"), each.told_by, each.seqs, each.parts)
            for each in ada.rows("SELECT * FROM ended_fact WHERE agent_id = %s")
        ),
    )  # fmt: skip


def scans(ada: AgentUnderTest) -> list[tuple[str, int, int]]:
    return [(node.content, node.scan_count, node.last_pass) for node in ada.nodes()]
