"""What the bridge and the bell rely on: nothing lost, order kept, no queue declared by us."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import pairwise
from threading import Thread, Timer

import amqp
import pytest
from kombu import Exchange, Queue

from memci.broker import rabbitmq_queues
from memci.broker.intake_queues import noted_size
from memci.broker.message_decoding import decode
from memci.broker.names import (
    ANNOUNCE_QUEUE,
    CREATE_TASK,
    agent_queue_name,
)
from memci.broker.rabbitmq_queues import AmqpAgentQueues
from memci.errors import BrokerUnavailableError
from memci.testing import wait_until
from tests.rabbitmq.documented import agent_queue
from tests.support.fleet import ROOT

LIMIT = 1_000_000


# Producers decide what their queues are.
DOCUMENTED = "as documented"
KINDS = {
    "classic": None,
    "classic, single active": {"x-single-active-consumer": True},
    "quorum": {"x-queue-type": "quorum"},
}


@pytest.fixture(params=[DOCUMENTED, *KINDS])
def kind(request, agent):
    if request.param == DOCUMENTED:
        return agent_queue(agent)
    name = agent_queue_name(agent)
    return Queue(name, Exchange(""), routing_key=name, queue_arguments=KINDS[request.param])


def send(app, agent, numbers, queue=None, **more):
    for number in numbers:
        app.send_task(
            CREATE_TASK,
            kwargs={"agent_id": agent, "number": number, **more},
            queue=queue or agent_queue(agent),
            headers={"traceparent": "00-" + "0" * 31 + "1-" + "0" * 15 + "1-01"},
        )


def announce(app, body, key=ANNOUNCE_QUEUE):
    with app.connection_for_write() as connection:
        connection.channel().basic_publish(amqp.Message(body), "", key)


def numbers(batch):
    return [decode(raw, limit_bytes=LIMIT).arguments["number"] for raw in batch.raw]


def wait_depth(queues, agent, depth):
    name = agent_queue_name(agent)
    wait_until(lambda: queues.depth(name) == depth, f"{name} holds {depth}")


def test_confirmed_messages_are_gone_and_the_rest_follows_in_order(app, queues, kind, agent):
    send(app, agent, range(50), kind)
    wait_depth(queues, agent, 50)
    taken = []
    while (batch := queues.take(agent, 100, LIMIT)).raw:
        assert len(batch.raw) <= 20
        taken += numbers(batch)
        batch.confirm()
        assert queues.depth(agent_queue_name(agent)) == 50 - len(taken)
    assert taken == list(range(50))


def test_abandoned_messages_come_again_the_same_and_in_order(app, queues, kind, agent):
    send(app, agent, range(30), kind)
    wait_depth(queues, agent, 30)
    first = queues.take(agent, 10, LIMIT)
    first.abandon()
    again = queues.take(agent, 20, LIMIT)
    assert list(again.raw[:10]) == list(first.raw)
    assert numbers(again) == list(range(20))
    again.abandon()
    wait_depth(queues, agent, 30)


def test_of_a_message_that_is_too_large_only_the_ends_come(app, queues, kind, agent):
    send(app, agent, [1], kind)
    send(app, agent, [2], kind, padding="x" * 2_000_000)
    send(app, agent, [3], kind)
    wait_depth(queues, agent, 3)
    batch = queues.take(agent, 100, 1_000_000)
    small, large, last = batch.raw
    assert (noted_size(small), noted_size(last)) == (None, None)
    assert noted_size(large) > 2_000_000
    assert len(large) < 70_000
    batch.abandon()
    wait_depth(queues, agent, 3)
    again = queues.take(agent, 100, 1_000_000)
    assert list(again.raw) == list(batch.raw)
    again.confirm()
    assert queues.depth(agent_queue_name(agent)) == 0


def test_what_a_killed_holder_had_comes_again(app, queues, kind, broker_url, agent):
    send(app, agent, range(5), kind)
    wait_depth(queues, agent, 5)
    with holder(broker_url, agent, heartbeat_s=60) as process:
        process.kill()
        process.wait(10)
        wait_depth(queues, agent, 5)
        batch = queues.take(agent, 10, LIMIT)
        assert numbers(batch) == list(range(5))
        batch.confirm()


@pytest.mark.parametrize("kind", [DOCUMENTED], indirect=True)
def test_a_frozen_holder_keeps_later_messages_back_until_the_broker_gives_it_up(
    app, queues, kind, broker_url, agent
):
    send(app, agent, range(5), kind)
    wait_depth(queues, agent, 5)
    with holder(broker_url, agent, heartbeat_s=1) as process:
        process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        batch = wait_until(lambda: taken(queues, agent), "the broker gives the frozen holder up")
        got = numbers(batch)
        batch.confirm()
        while (batch := queues.take(agent, 10, LIMIT)).raw:
            got += numbers(batch)
            batch.confirm()
        assert got == list(range(5))
        assert time.monotonic() - began < 6


def taken(queues, agent):
    batch = queues.take(agent, 10, LIMIT)
    return batch if batch.raw else None


@contextmanager
def holder(broker_url, agent, heartbeat_s):
    with subprocess.Popen(
        [sys.executable, "-m", "tests.rabbitmq.holder", broker_url, agent, str(heartbeat_s)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"2\n"
            yield process
        finally:
            process.kill()


def test_a_message_is_what_its_producer_sent(app, queues, agent):
    result = app.send_task(
        CREATE_TASK, kwargs={"agent_id": agent, "text": "記憶"}, queue=agent_queue(agent)
    )
    wait_depth(queues, agent, 1)
    batch = queues.take(agent, 1, LIMIT)
    message = decode(batch.raw[0], limit_bytes=LIMIT)
    batch.confirm()
    assert (str(message.id), message.task) == (result.id, CREATE_TASK)
    assert message.arguments == {"agent_id": agent, "text": "記憶"}


def test_asking_makes_no_queue(queues, agents, agent):
    assert queues.occupied(agents[:2], queue_seen=True) == []
    assert queues.take(agent, 10, LIMIT).raw == ()
    assert queues.depth(agent_queue_name(agent)) == 0
    with queues._pool.connection() as connection, pytest.raises(amqp.NotFound):
        connection.channel().queue_declare(agent_queue_name(agent), passive=True)


def test_unknown_queues_are_asked_for_only_when_the_bell_has_rung(app, queues, agents, agent):
    send(app, agent, [1])
    wait_depth(queues, agent, 1)
    assert queues.occupied(agents[:2]) == []
    assert queues.occupied(agents[:2], queue_seen=True) == [agent]
    assert queues.occupied(agents[:2]) == [agent]
    queues.take(agent, 1, LIMIT).confirm()
    assert queues.occupied(agents[:2]) == []


def test_an_announced_queue_is_found(app, queues, agent):
    assert queues.waiting() == []
    send(app, agent, [1])
    announce(app, agent)
    wait_until(lambda: queues.waiting() == [agent], "the announced queue is found")
    # … and from then on without any announcement.
    queues.take(agent, 1, LIMIT).confirm()
    assert queues.waiting() == []
    send(app, agent, [2])
    wait_until(lambda: queues.waiting() == [agent], "the known queue is looked at")


def test_an_exchange_may_announce_by_the_routing_key(app, queues, agent):
    queues.waiting()
    send(app, agent, [1])
    with app.connection_for_write() as connection:
        channel = connection.channel()
        channel.exchange_declare("memci.test", "topic", durable=False, auto_delete=True)
        channel.queue_bind(ANNOUNCE_QUEUE, "memci.test", "memci.agent.#")
        channel.basic_publish(amqp.Message("{}"), "memci.test", agent_queue_name(agent))
        wait_until(lambda: queues.waiting() == [agent], "the announced queue is found")


def test_an_announcement_may_come_before_its_message(app, queues, agent):
    queues.waiting()
    announce(app, agent)
    wait_until(lambda: not queues.waiting() and queues._unknown._line, "it is read, in vain")
    send(app, agent, [1])
    with app.connection_for_read() as connection:
        wait_until(lambda: count(connection, agent) == 1, "the message is there")
    assert queues.waiting() == [agent]


def count(connection, agent):
    queue = connection.channel().queue_declare(agent_queue_name(agent), passive=True)
    return queue.message_count


def test_nonsense_in_the_announce_queue_is_dropped(app, queues, agent):
    queues.waiting()
    for body in (b"", b"\xff", b"..", b"a/../b", b"x" * 10_000):
        announce(app, body)
    send(app, agent, [1])
    announce(app, agent)
    wait_until(lambda: queues.waiting() == [agent], "the good announcement is found")


def test_a_foreign_declaration_of_the_announce_queue_is_left_alone(app, queues, agent, monkeypatch):
    name = f"announce-{agent}"
    monkeypatch.setattr(rabbitmq_queues, "ANNOUNCE_QUEUE", name)
    with app.connection_for_write() as connection:
        connection.channel().queue_declare(name, durable=True, auto_delete=False)
        send(app, agent, [1])
        announce(app, agent, key=name)
        wait_until(lambda: queues.waiting() == [agent], "the announced queue is found")
        connection.channel().queue_delete(name)


def test_recent_lanes_are_asked_after_without_announcement(app, agent):
    strangers = [f"none{number}" for number in range(150)]
    queues = AmqpAgentQueues(app, lambda: [*strangers, agent], heartbeat_s=5)
    send(app, agent, [1])
    wait_depth(queues, agent, 1)
    assert queues.waiting() == []
    assert queues.waiting() == [agent]
    queues.close()


def test_a_connection_that_the_broker_has_cut_is_replaced(app, queues, agent):
    send(app, agent, [1])
    wait_depth(queues, agent, 1)
    short = AmqpAgentQueues(app, list, heartbeat_s=1)
    assert short.occupied([agent], queue_seen=True) == [agent]
    (_, connection) = short._pool._idle[0]

    def cut():
        connection.connection.sock.settimeout(0.01)
        try:
            return connection.connection.sock.recv(100_000) == b""
        except TimeoutError:
            return False
        except ConnectionResetError:
            return True

    wait_until(cut, "the broker closes the silent connection")
    assert short.occupied([agent], queue_seen=True) == [agent]
    short.close()


def test_threads_take_from_different_queues_at_once(app, queues, agents):
    for agent in agents:
        send(app, agent, range(60))
        wait_depth(queues, agent, 60)
    got: dict[str, list[int]] = {}

    def drain(agent):
        mine = got.setdefault(agent, [])
        while (batch := queues.take(agent, 7, LIMIT)).raw:
            mine += numbers(batch)
            batch.confirm()

    threads = [Thread(target=drain, args=(agent,)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {agent: list(range(60)) for agent in agents}
    assert all(one < two for one, two in pairwise(got[agents[0]]))


def test_what_waits_can_be_thrown_away(app, queues, agent, kind):
    assert queues.empty(agent) == 0, "there is no such queue"
    send(app, agent, range(25), kind)
    wait_until(lambda: queues.depth(agent_queue_name(agent)) == 25, "all have come")
    assert queues.empty(agent) == 25
    assert queues.depth(agent_queue_name(agent)) == 0
    assert queues.empty(agent) == 0


def test_what_somebody_has_taken_is_waited_for(app, queues, agent, kind):
    send(app, agent, range(5), kind)
    wait_until(lambda: queues.depth(agent_queue_name(agent)) == 5, "all have come")
    batch = queues.take(agent, 3, LIMIT)
    assert len(batch.raw) == 3
    giving_back = Timer(0.3, batch.abandon)
    giving_back.start()
    assert queues.empty(agent) == 5
    giving_back.join()


def test_nothing_is_thrown_away_while_somebody_holds_some_of_it(
    app, queues, agent, kind, monkeypatch
):
    """Or what a frozen worker has taken would come back."""
    monkeypatch.setattr(rabbitmq_queues, "_LEAVING_S", 0.2)
    send(app, agent, range(5), kind)
    wait_until(lambda: queues.depth(agent_queue_name(agent)) == 5, "all have come")
    batch = queues.take(agent, 3, LIMIT)
    with pytest.raises(BrokerUnavailableError, match="still holds"):
        queues.empty(agent)
    batch.abandon()
    assert queues.empty(agent) == 5
