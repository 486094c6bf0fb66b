"""Tokens, events, reads and lanes of real workers, with RabbitMQ as the only broker."""

from __future__ import annotations

import json
import socket
import sys
import time
from threading import Thread
from uuid import uuid4

import amqp
import pytest
from celery import Celery

from memci.broker.app import make_app
from memci.broker.celery_events import JobEvents
from memci.broker.names import (
    ANNOUNCE_QUEUE,
    COMPRESS_QUEUE,
    COMPRESS_TASK,
    CREATE_TASK,
    LANE_QUEUE,
    READ_QUEUE,
    agent_queue_name,
    queue,
)
from memci.broker.read_calls import RpcReads
from memci.domain.job import Job, JobSource
from memci.errors import BrokerUnavailableError, InvalidInputError, ReadTimeoutError
from memci.testing import wait_until
from tests.rabbitmq.documented import agent_queue
from tests.support.fleet import ROOT
from tests.support.producers import deploy, identity_fields


def a_job(agent="a"):
    return Job(agent, uuid4(), 1, CREATE_TASK, {}, JobSource.HTTP, 1, 2, 0, 1, None)


def test_tokens_are_counted_in_their_queues(wakeups, queues):
    assert queues.depth(LANE_QUEUE) == 0
    for agent in "abc":
        assert wakeups.wake_lane(agent)
    assert wakeups.wake_compress("a")
    wait_until(lambda: queues.depth(LANE_QUEUE) == 3, "three wakeups wait")
    wait_until(lambda: queues.depth(COMPRESS_QUEUE) == 1, "one token waits")


def test_job_events_arrive_under_the_jobs_own_name(app):
    seen = []
    with app.connection_for_read() as own:
        receiver = app.events.Receiver(own, handlers={"*": seen.append})
        with receiver.consumer_context(wakeup=False) as (connection, _, _consumers):
            events = JobEvents(app, "lane@test")
            job = a_job()
            events.received(job)
            events.succeeded(job, 0.5)
            events.close()

            def arrived():
                try:
                    connection.drain_events(timeout=0.1)
                except TimeoutError:
                    return False
                return len(seen) >= 3

            wait_until(arrived, "three events arrive")
    assert [each["type"] for each in seen] == ["task-received", "task-started", "task-succeeded"]
    assert {each["uuid"] for each in seen} == {str(job.id)}
    assert seen[0]["name"] == CREATE_TASK


@pytest.fixture
def reads(app):
    made = RpcReads(app, 10_000)
    yield made
    made.close()


@pytest.mark.timeout(90)
def test_reads_of_many_threads_get_each_its_own_answer(reads, fleet):
    fleet.app = "tests.rabbitmq.echo_app"
    fleet.start("memci.read")
    answers: dict[int, list[object]] = {number: [] for number in range(16)}

    def ask(number):
        for _ in range(10):
            answers[number].append(reads.call("search", f"agent{number}", {"number": number}))

    threads = [Thread(target=ask, args=(number,)) for number in answers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {
        number: [{"agent_id": f"agent{number}", "number": number}] * 10 for number in answers
    }


@pytest.mark.timeout(90)
def test_the_context_worker_answers_and_refuses(reads, fleet, broker_url):
    fleet.start("memci.read")
    with pytest.raises(InvalidInputError, match="agent_id"):
        reads.call("search", "../b", {})
    foreign = make_app(broker_url)
    result = foreign.send_task(
        "memci.read.search", kwargs={"agent_id": "../b"},
        queue=foreign.amqp.queues["memci.read"], ignore_result=False,
    )  # fmt: skip
    with pytest.raises(Exception, match="agent_id"):
        result.get(timeout=20)
    foreign.backend.result_consumer.stop()
    foreign.close()


def test_a_read_that_nobody_answers_times_out(app):
    reads = RpcReads(app, 300)
    with pytest.raises(ReadTimeoutError):
        reads.call("search", "a", {})
    assert not reads._answers._waiting
    reads.close()


def test_a_lost_connection_fails_who_waits_and_the_next_read_opens_another(reads):
    failures = []

    def ask():
        try:
            reads.call("search", "a", {})
        except BrokerUnavailableError as error:
            failures.append(error)

    thread = Thread(target=ask)
    thread.start()
    wait_until(lambda: reads._answers and reads._answers._waiting, "the read waits")
    lost = reads._answers
    lost._connection.connection.sock.shutdown(socket.SHUT_RDWR)
    thread.join(10)
    assert len(failures) == 1
    assert reads._open_queue() is not lost


def remember(app, agent, number, where=None):
    app.send_task(
        CREATE_TASK,
        kwargs={
            "agent_id": agent,
            "messages": [{"role": "user", "content": str(number), "metadata": {"wait_ms": 2}}],
        },
        queue=where or agent_queue(agent),
    )


@pytest.mark.timeout(150)
def test_a_foreign_producers_messages_are_remembered_in_order_though_workers_die(
    producer, fleet, broker_url, agents
):
    """One worker dies between COMMIT and acknowledgement: nothing is lost, doubled, reordered."""
    a, b = agents[:2]
    foreign = Celery("foreign", broker=broker_url)
    for number in range(1, 61):
        remember(foreign, a, number)
        remember(foreign, b, number)
    foreign.send_task(COMPRESS_TASK, kwargs={"agent_id": a}, queue=agent_queue(a))
    fleet.start("memci.upkeep", ready=False)
    fleet.start_beat()
    fleet.start("memci.lane", ready=False, MEMCI_TEST_DIE="before-removal")
    fleet.start("memci.lane", ready=False, MEMCI_TEST_DIE="before-removal")
    fleet.start("memci.lane")
    wait_until(lambda: announced(foreign, a, b), "the announce queue is there", timeout_s=30)
    everything = list(range(1, 61))

    def remembered():
        return [producer.effects(agent) for agent in (a, b)] == [everything, everything]

    try:
        wait_until(remembered, "all is remembered", timeout_s=60)
    finally:
        foreign.close()
    assert contents(producer, a) == contents(producer, b) == [str(n) for n in everything]
    assert producer.lane(a).compress_req == 1


def announced(app, *agents):
    with app.connection_for_write() as connection:
        channel = connection.channel()
        try:
            channel.queue_declare(ANNOUNCE_QUEUE, passive=True)
        except amqp.NotFound:
            return False
        for agent in agents:
            channel.basic_publish(amqp.Message(agent), "", ANNOUNCE_QUEUE)
        return True


def contents(producer, agent):
    with producer.database.agent_snapshot(agent) as connection:
        rows = connection.exec_driver_sql(
            "SELECT content FROM message WHERE agent_id = %s ORDER BY seq", (agent,)
        )
        return [row[0] for row in rows]


@pytest.mark.timeout(90)
def test_http_writes_are_done_by_tokens_alone(producer, fleet):
    fleet.start("memci.lane")
    began = time.monotonic()
    for _ in range(20):
        producer.append("a")
        producer.append("b")
    producer.wait_drained(["a", "b"])
    assert time.monotonic() - began < 10
    assert producer.effects("a") == producer.effects("b") == list(range(1, 21))


@pytest.mark.timeout(150)
def test_the_example_runs(app, database_url, broker_url, agent, tmp_path):
    program = ROOT / "examples/producers/python_celery.py"
    command = [sys.executable, str(program), agent]
    with deploy(database_url, broker_url, tmp_path) as system:
        answer = json.loads(identity_fields(command, tmp_path, MEMCI_BROKER_URL=broker_url))
        assert system.wait_done(answer["job_id"])["state"] == "done"
    assert "Lisbon" in json.dumps(answer["context"]["messages"])
    # memci's own declarations are the same.
    app.send_task(CREATE_TASK, kwargs={"agent_id": agent}, queue=agent_queue(agent))
    app.send_task("memci.read.search", queue=queue(READ_QUEUE))


@pytest.mark.timeout(90)
def test_a_worker_may_subscribe_to_one_agent(producer, fleet, broker_url, agent):
    name = agent_queue_name(agent)
    fleet.start(name)
    with Celery("foreign", broker=broker_url, set_as_current=False) as foreign:
        for number in range(1, 11):
            remember(foreign, agent, number, where=name)
    wait_until(lambda: producer.effects(agent) == list(range(1, 11)), "all is remembered")
