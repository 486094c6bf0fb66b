"""Claiming, renewing and giving back lanes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from memci.queue.lease import Claims
from memci.queue.mailbox import free, request_compress
from memci.testing import wait_until
from tests.support.locks import waiting_for_locks
from tests.support.servers import open_database

LEASE_MS = 30_000


@pytest.fixture
def claims(database):
    return Claims(database, LEASE_MS)


def make_due(database, count):
    with database.lane_transaction() as connection:
        connection.exec_driver_sql(
            "INSERT INTO lane (agent_id, wake_at)"
            " SELECT 'a' || n, now() + n * interval '1 ms' FROM generate_series(1, %s) AS n",
            (count,),
        )


def claimed_agents(due):
    return [each.lease.agent_id for each in due.claimed]


@pytest.mark.parametrize(("due", "taken_at_once"), [(1, 1), (10, 1), (16, 2), (40, 5), (300, 16)])
def test_a_claim_takes_only_a_share_of_the_due_lanes(database, claims, due, taken_at_once):
    make_due(database, due)

    found = claims.claim_due(None, 16)

    assert len(found.claimed) == taken_at_once
    assert found.more == (due > taken_at_once)


def test_claims_take_every_lane_once_and_the_last_one_reports_the_end(database, claims):
    make_due(database, 40)

    seen, more = [], True
    while more:
        found = claims.claim_due(None, 16)
        seen += claimed_agents(found)
        more = found.more

    assert sorted(seen) == sorted(f"a{n}" for n in range(1, 41))
    assert not claims.claim_due(None, 16).claimed


def test_the_named_lane_is_claimed_first_and_then_the_oldest(database, claims):
    make_due(database, 10)

    assert claimed_agents(claims.claim_due("a7", 16)) == ["a7", "a1"]


def test_paused_lanes_do_not_count_as_more_work(database, claims):
    make_due(database, 3)
    with database.lane_transaction() as connection:
        connection.exec_driver_sql("UPDATE lane SET paused = true WHERE agent_id <> 'a1'")

    found = claims.claim_due(None, 16)

    assert claimed_agents(found) == ["a1"]
    assert not found.more


@pytest.mark.parametrize("due", ["wake_at", "compress_at"])
@pytest.mark.parametrize("hint", ["a1", "another", None])
def test_a_claim_waits_for_an_append_to_the_lane(database_url, database, claims, due, hint):
    """This may be its only wakeup: the append sees a woken lane and publishes none."""
    make_due(database, 1)
    with database.lane_transaction() as connection:
        connection.exec_driver_sql("UPDATE lane SET wake_at = NULL")
        connection.exec_driver_sql(f"UPDATE lane SET {due} = now()")

    def claim():
        if due == "wake_at":
            return claimed_agents(claims.claim_due(hint, 16))
        claimed = claims.claim_compress(hint)
        return [claimed.lease.agent_id] if claimed else []

    with ThreadPoolExecutor() as pool, open_database(database_url) as watching:
        with database.lane_transaction() as append:
            append.exec_driver_sql("UPDATE lane SET message_seq = message_seq + 1")
            claiming = pool.submit(claim)
            wait_until(lambda: waiting_for_locks(watching) or claiming.done(), "it waits")
        assert claiming.result() == ["a1"]
    assert not claims.claim_due("a1", 16).claimed


@pytest.mark.parametrize("hint", ["a1", None])
def test_a_lane_with_jobs_is_left_to_lane_workers(database, claims, hint):
    make_due(database, 1)
    with database.lane_transaction() as connection:
        connection.exec_driver_sql("UPDATE lane SET compress_at = now()")
    assert claims.claim_compress(hint) is None
    assert claimed_agents(claims.claim_due(None, 16)) == ["a1"]


def test_a_lane_that_stays_locked_is_left_to_the_sweep(database, claims):
    make_due(database, 2)
    with database.lane_transaction() as frozen:
        frozen.exec_driver_sql("SELECT FROM lane FOR UPDATE")
        found = claims.claim_due("a1", 16)
    assert not found.claimed
    assert not found.more


def test_only_one_thread_waits_for_a_locked_lane(database_url, database, claims):
    """A frozen process that holds one lane does not delay other agents."""
    make_due(database, 1)
    with ThreadPoolExecutor() as pool, open_database(database_url) as watching:
        with database.lane_transaction() as frozen:
            frozen.exec_driver_sql("SELECT FROM lane FOR UPDATE")
            waiting = pool.submit(claims.claim_due, "a1", 16)
            wait_until(lambda: waiting_for_locks(watching) or waiting.done(), "it waits")
            assert not claims.claim_due("a1", 16).claimed
            assert not waiting.done(), "the first still waits, the second did not"
            with database.lane_transaction() as connection:
                connection.exec_driver_sql(
                    "INSERT INTO lane (agent_id, wake_at) VALUES ('a2', now())"
                )
            assert claimed_agents(claims.claim_due("a2", 16)) == ["a2"]
        waiting.result()


def test_a_compression_wakeup_that_came_during_a_lease_is_published_again(database, claims):
    """Otherwise only the sweep would wake the lane."""
    make_due(database, 1)
    (held,) = claims.claim_due("a1", 16).claimed
    with database.lane_transaction() as connection:
        connection.exec_driver_sql("UPDATE lane SET message_seq = 1, written_at = now()")
        assert request_compress(connection, "a1")[2]
    assert claims.claim_compress("a1") is None

    with held.lease.effect() as connection:
        assert free(connection, "a1").wake_compress
    assert claims.claim_compress("a1") is not None


def test_a_named_lane_that_stays_locked_is_not_taken(database, claims):
    make_due(database, 1)
    with database.lane_transaction() as frozen:
        frozen.exec_driver_sql("SELECT FROM lane FOR UPDATE")
        assert claims.claim_named("a1") is None


def test_lanes_that_are_given_back_keep_their_place(database, claims):
    make_due(database, 16)
    first = claims.claim_due(None, 16)

    claims.give_back(first.claimed)

    assert claimed_agents(claims.claim_due(None, 16)) == claimed_agents(first) == ["a1", "a2"]


def test_renewing_and_giving_back_the_same_lanes_do_not_deadlock(database_url, database, claims):
    with database.lane_transaction() as connection:
        connection.exec_driver_sql(
            "INSERT INTO lane (agent_id, wake_at, written_at)"
            " SELECT 'a' || n, now(), now() FROM generate_series(999, 100, -1) AS n"
        )
    with open_database(database_url) as owner:
        owner.execute("ANALYZE lane")
    held = sorted(claims.claim_due(None, 16).claimed, key=lambda each: each.lease.agent_id)
    lanes = [held[0], held[8], held[15]]
    leases = [each.lease for each in reversed(lanes)]
    middle = held[8].lease.agent_id
    # A sequential scan returns rows in the order of their last update: here the last lane first.
    for each in reversed(lanes):
        with database.lane_transaction() as connection:
            connection.exec_driver_sql(
                "UPDATE lane SET fence = fence WHERE agent_id = %s", (each.lease.agent_id,)
            )

    with ThreadPoolExecutor() as pool, open_database(database_url) as watching:
        with database.lane_transaction() as blocking:
            blocking.exec_driver_sql("SELECT FROM lane WHERE agent_id = %s FOR UPDATE", (middle,))
            calls = [
                pool.submit(claims.renew, leases),
                pool.submit(claims.give_back, lanes),
            ]
            wait_until(lambda: waiting_for_locks(watching) == 2, "both wait")
        for each in calls:
            each.result()


def test_a_lane_in_a_long_effect_does_not_delay_other_renewals(database_url, database, claims):
    make_due(database, 300)
    held = claims.claim_due(None, 16).claimed
    first = min(each.lease.agent_id for each in held)
    before = lease_ends(database)
    with ThreadPoolExecutor() as pool, open_database(database_url) as watching:
        with database.lane_transaction() as effect:
            effect.exec_driver_sql("SELECT FROM lane WHERE agent_id = %s FOR UPDATE", (first,))
            renewing = pool.submit(claims.renew, [each.lease for each in held])
            wait_until(lambda: waiting_for_locks(watching) == 1, "it waits for the one lane")
            renewed = {each for each, until in lease_ends(database).items() if until > before[each]}
            assert renewed == before.keys() - {first}
        renewing.result()
    assert lease_ends(database)[first] > before[first]


def lease_ends(database):
    with database.lane_transaction() as connection:
        rows = connection.exec_driver_sql(
            "SELECT agent_id, lease_until FROM lane WHERE lease_until IS NOT NULL"
        )
        return {row.agent_id: row.lease_until for row in rows}


def test_lanes_claimed_at_different_times_can_be_given_back_together(database, claims):
    make_due(database, 16)
    due = claims.claim_due(None, 16).claimed

    claims.give_back([claims.claim_named("rung"), *due])

    assert lease_ends(database) == {}
    assert claimed_agents(claims.claim_due(None, 16)) == ["a1", "a2"]
