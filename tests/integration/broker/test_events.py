"""Events: Flower sees jobs under their own names, and jobs never wait for events."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from uuid import uuid4

from memci.broker.app import make_producer
from memci.broker.celery_events import JobEvents
from memci.broker.names import CREATE_TASK
from memci.domain.job import Job, JobSource
from memci.testing import wait_until
from tests.support.servers import frozen


def a_job(first_seq=1):
    return Job("a", uuid4(), 1, CREATE_TASK, {}, JobSource.HTTP, first_seq, 3, 2, 1, None)


@contextmanager
def watching(app):
    """Yield a list of received events, and a function that receives more."""
    seen: list[dict[str, object]] = []
    with app.connection_for_read() as own:
        receiver = app.events.Receiver(own, handlers={"*": seen.append})
        with receiver.consumer_context(wakeup=False) as (connection, _, _consumers):

            def receive():
                try:
                    connection.drain_events(timeout=0.05)
                except TimeoutError:
                    return len(seen)
                return len(seen)

            receive()  # subscribes
            yield seen, receive


def test_a_job_is_seen_under_its_own_name(app):
    events = JobEvents(app, "lane@here")
    job = a_job()
    with watching(app) as (seen, receive):
        before = time.time()
        events.received(job)
        events.retried(job, "SmallModelUnavailableError: away")
        events.succeeded(job, 0.25)
        wait_until(lambda: receive() >= 4, "four events arrive without any close")
        events.close()
    kinds = ["task-received", "task-started", "task-retried", "task-succeeded"]
    assert [event["type"] for event in seen] == kinds
    assert {event["uuid"] for event in seen} == {str(job.id)}
    assert {event["hostname"] for event in seen} == {"lane@here"}
    assert all(before <= event["timestamp"] <= time.time() for event in seen)
    received, _, _, succeeded = seen
    assert received["name"] == CREATE_TASK
    assert json.loads(received["kwargs"]) == {"agent_id": "a", "first_seq": 1, "last_seq": 3}
    assert received["routing_key"] == received["queue"] == "memci.agent.a"
    assert received["retries"] == 2
    assert succeeded["runtime"] == 0.25


def test_a_dead_job_is_seen_as_failed(app):
    events = JobEvents(app, "lane@here")
    with watching(app) as (seen, receive):
        events.failed(a_job(), "worker_lost", 1.0)
        events.close()
        wait_until(receive, "the event arrives")
    assert (seen[0]["type"], seen[0]["exception"]) == ("task-failed", "worker_lost")


def test_many_events_keep_their_order(app):
    events = JobEvents(app, "lane@here")
    jobs = [a_job(number) for number in range(300)]
    with watching(app) as (seen, receive):
        for job in jobs:
            events.received(job)
        events.close()
        wait_until(lambda: receive() >= 600, "all arrive")
    received = [event["uuid"] for event in seen if event["type"] == "task-received"]
    assert received == [str(job.id) for job in jobs]


def test_events_do_not_wait_for_the_broker(own_servers):
    with make_producer(own_servers.redis.url) as app:
        events = JobEvents(app, "lane@here")
        events.received(a_job())
        wait_until(lambda: not events._waiting, "the first events are sent")
        with frozen(own_servers.redis):
            began = time.monotonic()
            for _ in range(20_000):
                events.received(a_job())
            assert time.monotonic() - began < 5
            assert len(events._waiting) <= 10_000
            own_servers.redis.kill()
            events.close()


def test_closing_without_events_does_nothing(app):
    JobEvents(app, "lane@here").close()
