"""The queue watch reacts to notifications at once, and finds messages without one."""

from __future__ import annotations

from contextlib import closing, contextmanager
from threading import enumerate as all_threads

import pytest
import redis

from memci.broker.app import make_producer
from memci.broker.message_decoding import decode
from memci.broker.names import LANE_QUEUE, agent_queue_name
from memci.broker.redis_queues import RedisAgentQueues
from memci.broker.wakeup import QueueWatch, Wakeups
from memci.errors import DatabaseUnavailableError
from memci.testing import wait_until

NEVER_S = 600


@contextmanager
def running(watch):
    watch.start()
    try:
        yield watch
    finally:
        watch.stop()
    assert not [each for each in all_threads() if each.name.startswith("queue-watch")]


def put(client, *agents):
    for agent in agents:
        client.lpush(agent_queue_name(agent), "x")


def is_listening(client):
    return client.client_list(_type="pubsub")


def woken(client):
    wakeups = [decode(raw, limit_bytes=10_000) for raw in client.lrange(LANE_QUEUE, 0, -1)]
    assert all(wakeup.arguments["queue_seen"] for wakeup in wakeups)
    return sorted(wakeup.arguments["agent_id"] for wakeup in wakeups)


def test_a_notification_is_enough_without_a_scan(wakeups, client):
    class Blind(RedisAgentQueues):
        def waiting(self):
            return []

    with running(QueueWatch(Blind(client), wakeups, client, period_s=0.2)):
        wait_until(lambda: is_listening(client), "the watch listens")
        put(client, "a")
        wait_until(lambda: woken(client), "it has woken it")
    assert set(woken(client)) == {"a"}


def test_a_burst_wakes_once(queues, wakeups, client):
    watch = QueueWatch(queues, wakeups, client)
    assert [watch._is_first("a") for _ in range(100)].count(True) == 1
    assert watch._is_first("b")


def test_messages_older_than_the_watch_are_found(queues, wakeups, client):
    put(client, "a", "b")
    with running(QueueWatch(queues, wakeups, None, period_s=NEVER_S)):
        wait_until(lambda: woken(client) == ["a", "b"], "both are found")


def test_queues_of_no_agent_are_skipped(queues, wakeups, client):
    client.lpush("memci.agent...", "x")
    client.lpush("memci.agent.a/../b", "x")
    client.set("memci.agent.text", "x")
    put(client, "a")
    QueueWatch(queues, wakeups, None, period_s=0)._scan()
    assert woken(client) == ["a"]


def test_wakeups_do_not_pile_up_while_nobody_takes_them(queues, wakeups, client):
    put(client, *(f"a{number}" for number in range(50)))
    watch = QueueWatch(queues, wakeups, None, period_s=0)
    for _ in range(5):
        watch._scan()
    assert client.llen(LANE_QUEUE) == 50 + 4 * 8


def test_an_agent_is_woken_while_wakeups_of_others_wait(queues, wakeups, client):
    """The waiting wakeups may be for other agents, so the scan publishes another one."""
    for number in range(100):
        wakeups.wake_lane(f"other{number}")
    put(client, "a")
    QueueWatch(queues, wakeups, None, period_s=0)._scan()
    first = decode(client.lindex(LANE_QUEUE, 0), limit_bytes=10_000)
    assert first.arguments == {"agent_id": "a", "queue_seen": True}


def test_each_of_many_agents_is_woken_in_time(queues, wakeups, client):
    agents = {f"a{number}" for number in range(30)}
    put(client, *agents)
    for _ in range(40):
        wakeups.wake_lane("other")
    watch, missing = QueueWatch(queues, wakeups, None, period_s=0), set(agents)

    def all_woken():
        watch._scan()
        for _ in range(8):
            raw = client.lpop(LANE_QUEUE)
            missing.discard(decode(raw, limit_bytes=10_000).arguments["agent_id"])
        return not missing

    wait_until(all_woken, "every agent is woken")


def test_the_watch_survives_a_restart_of_the_broker(own_servers):
    url = own_servers.redis.url
    with make_producer(url) as app, closing(redis.Redis.from_url(url)) as client:
        queues = RedisAgentQueues(client)
        with running(QueueWatch(queues, Wakeups(app), client, period_s=0.1)):
            put(client, "a")
            wait_until(lambda: woken(client), "it has woken it")
            own_servers.redis.kill()
            own_servers.redis.start()
            client.flushall()
            put(client, "b")
            wait_until(lambda: "b" in woken(client), "it wakes again")


def test_the_watch_survives_an_unavailable_database(wakeups, client, queues):
    """With RabbitMQ the watch reads the list of lanes from the database."""

    class Away(RedisAgentQueues):
        times = 3

        def waiting(self):
            self.times -= 1
            if self.times >= 0:
                raise DatabaseUnavailableError
            return super().waiting()

    put(client, "a")
    with running(QueueWatch(Away(client), wakeups, None, period_s=0.01)):
        wait_until(lambda: woken(client), "it wakes in the end")


@pytest.mark.parametrize("number", [0, 5])
def test_the_watch_listens_only_to_its_own_redis_database(broker_url, number):
    url = f"{broker_url.rpartition('/')[0]}/{number}"
    with (
        closing(redis.Redis.from_url(broker_url)) as zero,
        closing(redis.Redis.from_url(url)) as client,
        make_producer(url) as app,
    ):
        watch = QueueWatch(RedisAgentQueues(client), Wakeups(app), client, period_s=0.2)
        with running(watch):
            wait_until(lambda: is_listening(zero), "the watch listens")
            put(client, "mine")
            wait_until(lambda: "mine" in woken(client), "it has woken it")
