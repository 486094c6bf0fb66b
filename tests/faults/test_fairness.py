"""Time slices of lanes and of compression (queue.md, M17)."""

from __future__ import annotations

import signal
import time

import pytest

from memci.testing import wait_until


def add_nodes(producer, agent, milliseconds):
    """Add one node per duration: its scan takes so many milliseconds. Request a pass."""
    with producer.database.agent_transaction(agent) as connection:
        connection.exec_driver_sql("INSERT INTO lane (agent_id) VALUES (%s)", (agent,))
        connection.exec_driver_sql(
            "INSERT INTO node (agent_id, id, slot, kind, type, content, original_length, phrase,"
            " keywords, language, message_seqs)"
            " SELECT %s, n, n, 'memory', 'episodic', ms, 1, '', '{}', 'en', '{}'"
            " FROM unnest(%s::text[]) WITH ORDINALITY AS new (ms, n)",
            (agent, [str(ms) for ms in milliseconds]),
        )
    producer.intake.request_compress(agent)


def event_times(producer, agent, event):
    with producer.database.agent_snapshot(agent) as connection:
        rows = connection.exec_driver_sql(
            "SELECT at FROM trail WHERE agent_id = %s AND event = %s ORDER BY id", (agent, event)
        )
        return [row[0].timestamp() for row in rows]


@pytest.mark.timeout(120)
def test_other_agents_wait_about_one_slice_for_a_busy_agent(producer, fleet):
    fleet.start("memci.lane", MEMCI_TEST_LANE_MS="500", ready=False)
    fleet.start("memci.lane", MEMCI_TEST_LANE_MS="500")
    scripts = [{"wait_ms": 4}] * 5000
    from memci.message import NewMessage, Role
    from memci.queue.intake import Append

    with producer.database.agent_transaction("noisy") as connection:
        from memci.queue.intake import append_in

        for script in scripts:
            message = NewMessage(Role.USER, "noise", metadata=script)
            append_in(connection, Append("noisy", [message]))
    producer.wakeups.wake_lane("noisy")
    wait_until(lambda: producer.effects("noisy"), "the noisy agent is being served")
    began = time.monotonic()
    quiet = [f"quiet{n}" for n in range(20)]
    for agent in quiet:
        producer.append(agent)
    producer.wait_drained(quiet)
    waited_s = time.monotonic() - began
    assert "queued" in producer.states("noisy")
    assert waited_s < 5, "about a slice, far from the 10 s and more that the noise takes"


def test_two_agents_alternate_in_slices_that_overrun_by_at_most_one_node(producer, fleet):
    for agent in ("a", "b"):
        add_nodes(producer, agent, [100] * 12)
    fleet.start("memci.compress", MEMCI_TEST_SLICE_MS="400")
    wait_until(
        lambda: len(producer.effects("a", "scan")) == len(producer.effects("b", "scan")) == 12,
        "both passes are done",
        timeout_s=30,
    )
    scans = sorted((at, agent) for agent in "ab" for at in event_times(producer, agent, "scan"))
    turns = [[scans[0]]]
    for scan in scans[1:]:
        if scan[1] == turns[-1][-1][1]:
            turns[-1].append(scan)
        else:
            turns.append([scan])
    assert len(turns) >= 6, "24 nodes of 100 ms in slices of 400 ms"
    assert max(len(turn) for turn in turns) <= 5, "four nodes fill a slice, one may overrun it"


def test_a_job_runs_during_a_pass_of_its_agent_and_in_a_lane_worker(producer, fleet):
    """A compress worker may get no processor time for long while others compute."""
    add_nodes(producer, "a", [100] * 30)
    fleet.start("memci.compress", MEMCI_TEST_SLICE_MS="30000")
    wait_until(lambda: producer.effects("a", "scan"), "the pass is under way", timeout_s=20)
    producer.append("a")
    wait_until(lambda: producer.lane("a").lease_owner is None, "the lane is let go")
    assert producer.states("a") == ["queued"]
    assert len(producer.effects("a", "scan")) < 30, "it did not wait for the end of the pass"
    fleet.start("memci.lane")
    producer.wait_drained(["a"])
    [created_at] = event_times(producer, "a", "effect")
    wait_until(lambda: len(producer.effects("a", "scan")) == 30, "the pass goes on after it")
    assert event_times(producer, "a", "scan")[-1] > created_at


def test_a_paused_lane_stops_between_two_nodes_and_can_be_resumed(producer, fleet, upkeep):
    from memci.commands import jobs

    add_nodes(producer, "a", [50] * 40)
    fleet.start("memci.lane", ready=False)
    fleet.start("memci.compress", MEMCI_TEST_SLICE_MS="30000")
    wait_until(lambda: producer.effects("a", "scan"), "the pass is under way", timeout_s=20)
    jobs.pause(producer.database, "a")
    wait_until(lambda: producer.lane("a").lease_owner is None, "the lane is let go")
    done = len(producer.effects("a", "scan"))
    producer.append("a")
    assert done < 40
    assert producer.states("a") == ["queued"]
    jobs.resume(producer.database, producer.wakeups, "a")
    wait_until(lambda: len(producer.effects("a", "scan")) == 40, "the pass is over", timeout_s=20)
    producer.wait_drained(["a"])


@pytest.mark.parametrize("queue", ["memci.lane", "memci.compress"])
def test_sigterm_ends_the_current_job_or_node_and_exits_0(producer, fleet, queue):
    if queue == "memci.lane":
        for _ in range(30):
            producer.append("a", wait_ms=100)
    else:
        add_nodes(producer, "a", [100] * 30)
    event = "effect" if queue == "memci.lane" else "scan"
    worker = fleet.start(queue, MEMCI_TEST_LANE_MS="30000", MEMCI_TEST_SLICE_MS="30000")
    wait_until(lambda: producer.effects("a", event), "it is at work", timeout_s=20)
    worker.send(signal.SIGTERM)
    assert worker.process.wait(20) == 0
    lane = producer.lane("a")
    assert lane.lease_owner is None, "the lease was given back"
    done = producer.effects("a", event)
    assert done == list(range(1, len(done) + 1))
    assert len(done) < 30
    fleet.start(queue)
    wait_until(lambda: len(producer.effects("a", event)) == 30, "another one goes on", timeout_s=20)
