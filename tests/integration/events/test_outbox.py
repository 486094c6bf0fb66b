"""Events are told with what they tell, in an order in which no reader skips one."""

from __future__ import annotations

import threading
from contextlib import closing
from random import Random
from uuid import uuid4

import pytest
from sqlalchemy.exc import ProgrammingError

from memci.domain.events import EventType, Position, StoredEvent
from memci.domain.memory.node import NodeEvent
from memci.storage.events import (
    add_event,
    continue_order,
    events_after,
    latest_position,
    prune_events,
)
from memci.storage.network.node_history import append_history
from memci.storage.network.passes import close_pass
from memci.storage.session import Database
from memci.storage.webhooks import mark_due
from memci.testing import wait_until
from tests.support.databases import as_owner
from tests.support.rows_read import rows_read

START = Position(0, 0)


def told_now(database: Database, after: Position = START) -> list[StoredEvent]:
    with database.upkeep_transaction() as connection:
        return events_after(connection, after, limit=1000)


def told(database: Database, after: Position = START) -> list[StoredEvent]:
    """Return the events when no transaction of another test holds them back."""
    with database.upkeep_transaction() as connection:
        last = connection.exec_driver_sql("SELECT pg_current_xact_id()::text::bigint").scalar_one()

    def is_over() -> bool:
        with database.upkeep_transaction() as connection:
            oldest = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
            return connection.exec_driver_sql(oldest).scalar_one() > last

    wait_until(is_over, "transactions that began before are over", timeout_s=60)
    return told_now(database, after)


def happen(database: Database, agent_id: str, event: NodeEvent, nodes: dict[int, dict]) -> None:
    with database.agent_transaction(agent_id) as connection:
        append_history(connection, agent_id, event, 3, nodes)


def test_memories_are_told_of_and_entities_are_not(database):
    happen(database, "a", NodeEvent.CREATED, {1: {"messages": [7]}, 2: {"kind": "entity"}})
    happen(database, "a", NodeEvent.USED, {1: {"times": 1}})
    happen(database, "b", NodeEvent.SUPERSEDED, {4: {"by": 5}})
    found = [(each.agent_id, each.type, each.data) for each in told(database)]
    assert found == [
        ("a", EventType.MEMORY_CREATED, {"node_id": 1, "messages": [7]}),
        ("b", EventType.MEMORY_SUPERSEDED, {"node_id": 4, "by": 5}),
    ]


def test_every_type_of_a_memory_is_an_event_of_nodes_that_the_trigger_knows(database):
    names = [each.removeprefix("memory.") for each in EventType if each.startswith("memory.")]
    with database.agent_transaction("a") as connection:
        for name in names:
            connection.exec_driver_sql(
                "INSERT INTO trail (agent_id, node_id, event, pass_number, details)"
                " VALUES ('a', 1, %s, 0, '{}')",
                (name,),
            )
    assert [each.type for each in told(database)] == [f"memory.{name}" for name in names]


def test_a_rebuilt_network_tells_nothing_until_it_is_used(database):
    happen(database.on_edition(), "a", NodeEvent.CREATED, {1: {}})
    assert told(database) == []


def test_the_end_of_a_pass_and_a_dead_job_are_told_once(database):
    job = uuid4()
    with database.agent_transaction("a") as connection:
        connection.exec_driver_sql(
            "INSERT INTO pass_log (agent_id, number, message_seq, scanned) VALUES ('a', 1, 0, 9)"
        )
        connection.exec_driver_sql(
            "INSERT INTO job (agent_id, id, kind, payload, source)"
            " VALUES ('a', %s, 'k', '{}', 'http')",
            (job,),
        )
        close_pass(connection, "a", 1)
    for _ in range(2):
        with database.lane_transaction() as connection:
            connection.exec_driver_sql("UPDATE job SET state = 'dead', last_error = 'said Ada'")
    assert [(each.type, each.data) for each in told(database)] == [
        ("pass.finished", {"number": 1, "scanned": 9, "compressed": 0, "forgotten": 0}),
        ("job.dead", {"job_id": str(job), "kind": "k", "attempts": 0}),
    ]


def test_a_rollback_tells_nothing(database):
    with pytest.raises(ZeroDivisionError), database.agent_transaction("a") as connection:
        append_history(connection, "a", NodeEvent.CREATED, 0, {1: {}})
        raise ZeroDivisionError
    happen(database, "a", NodeEvent.CREATED, {2: {}})
    assert [each.data["node_id"] for each in told(database)] == [2]


def test_a_reader_waits_for_a_transaction_that_began_before(database):
    """Its event has a lower position, and would be skipped."""
    with database.agent_transaction("slow") as connection:
        append_history(connection, "slow", NodeEvent.CREATED, 0, {1: {}})
        happen(database, "fast", NodeEvent.CREATED, {2: {}})
        with database.upkeep_transaction() as reading:
            now = latest_position(reading)
        assert told_now(database) == []
    both = [each.agent_id for each in told(database)]
    assert both == ["slow", "fast"]
    assert [each.agent_id for each in told(database, now)] == both, "none was complete then"


def test_readers_skip_and_double_nothing_while_many_commit(database):
    """Transactions of all lengths, some rolled back, while a reader goes on from its cursor."""
    writers, of_each = 6, 40
    running = threading.Barrier(writers + 1)

    def write(agent_id: str) -> None:
        random = Random(agent_id)
        running.wait()
        for number in range(of_each):
            with database.agent_transaction(agent_id, durable=False) as connection:
                append_history(connection, agent_id, NodeEvent.CREATED, 0, {number: {}})
                connection.exec_driver_sql("SELECT pg_sleep(%s)", (random.random() / 50,))
                append_history(connection, agent_id, NodeEvent.FORGOTTEN, 0, {number: {}})
                if number % 5 == 4:
                    connection.rollback()
                    connection.exec_driver_sql("SELECT set_config('role', 'memci_app', true)")

    threads = [threading.Thread(target=write, args=(f"a{n}",)) for n in range(writers)]
    for each in threads:
        each.start()
    running.wait()
    seen: list[StoredEvent] = []

    def read() -> bool:
        ended = not any(each.is_alive() for each in threads)
        seen.extend(told(database, seen[-1].position if seen else START))
        return ended and told(database, seen[-1].position) == []

    wait_until(read, "the reader has all", timeout_s=60)
    kept = [number for number in range(of_each) if number % 5 != 4]
    for n in range(writers):
        own = [(each.data["node_id"], each.type) for each in seen if each.agent_id == f"a{n}"]
        assert own == [
            (number, kind) for number in kept for kind in ("memory.created", "memory.forgotten")
        ]


def test_an_agent_sees_its_own_events_alone(database):
    for agent_id in ("a", "b"):
        happen(database, agent_id, NodeEvent.CREATED, {1: {}})
    assert [each.agent_id for each in told(database)] == ["a", "b"]
    with database.agent_transaction("a") as connection:
        assert [each.agent_id for each in events_after(connection, START, limit=9)] == ["a"]
        assert events_after(connection, START, limit=9, agent_id="b") == []
    with pytest.raises(ProgrammingError), database.upkeep_transaction() as connection:
        add_event(connection, "a", EventType.JOB_DEAD, {})


def test_old_events_are_removed(database):
    for node in (1, 2):
        happen(database, "a", NodeEvent.CREATED, {node: {}})
    with database.agent_transaction("a") as connection:
        connection.exec_driver_sql(
            "UPDATE event SET at = at - interval '2 hours' WHERE data->>'node_id' = '1'"
        )
    with database.upkeep_transaction() as connection:
        assert not prune_events(connection, keep_s=3600.0)
    assert [each.data["node_id"] for each in told(database)] == [2]


def test_after_a_restore_into_another_cluster_the_order_goes_on(database_url):
    """There the numbers of transactions may be lower: new events would come before old ones."""
    with closing(Database(database_url)) as database:
        happen(database, "a", NodeEvent.CREATED, {1: {}})
        with database.agent_transaction("a") as connection:
            connection.exec_driver_sql("UPDATE event SET tx = tx + 1000000")
        assert told(database) == [], "of a transaction of the future"
        with pytest.raises(ProgrammingError), database.upkeep_transaction() as connection:
            continue_order(connection)
        for _ in range(2):  # the second time, nothing is to be done
            with as_owner(database_url) as connection:
                continue_order(connection)
        happen(database, "a", NodeEvent.CREATED, {2: {}})
        events = told(database)
        assert [each.data["node_id"] for each in events] == [1, 2]
        assert events[1].position.tx - events[0].position.tx < 1000


def test_readers_and_the_watch_of_webhooks_use_the_index(database):
    """Also while there are many events, most of them old."""
    with database.agent_transaction("a") as connection:
        connection.exec_driver_sql(
            "INSERT INTO event (agent_id, tx, type, data)"
            " SELECT 'a', n, 'job.dead', '{}' FROM generate_series(-20000, -1) AS n"
        )
    with database.upkeep_transaction() as connection:
        connection.exec_driver_sql(
            "INSERT INTO webhook (id, url, agents, types, secret, tx, place)"
            " VALUES (gen_random_uuid(), 'http://a', '*', '{}', '', 100000000, 0)"
        )
    read = rows_read(database, "event")
    with database.upkeep_transaction() as connection:
        assert mark_due(connection) == []
    assert len(told(database, Position(-10, 0))) == 10
    assert sum(read) <= 11
