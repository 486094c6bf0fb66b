"""The publisher of wakeups: requests never wait for the broker; each wakeup is published."""

from __future__ import annotations

import base64
import json
import socket
import time
from collections.abc import Sequence
from contextlib import closing

import redis
from structlog.testing import capture_logs

from memci.broker.app import make_app
from memci.broker.names import LANE_QUEUE
from memci.broker.wakeup import RedisWakeups, WakeupPublisher, Wakeups
from memci.embedded import Servers
from memci.testing import wait_until


def woken(client: redis.Redis) -> list[str]:
    """Return the agents of the waiting wakeups, the next one first."""
    waiting = [json.loads(raw)["body"] for raw in reversed(client.lrange(LANE_QUEUE, 0, -1))]
    return [json.loads(base64.b64decode(body))[1]["agent_id"] for body in waiting]


def test_wakeups_are_published_in_order(broker_url: str) -> None:
    agents = [f"a{number}" for number in range(100)]
    with (
        closing(redis.Redis.from_url(broker_url)) as client,
        make_app(broker_url) as app,
        closing(RedisWakeups(app, broker_url)) as wakeups,
        closing(WakeupPublisher(wakeups)) as publisher,
    ):
        for agent in agents:
            publisher.wake_lane(agent)
        wait_until(lambda: woken(client) == agents, "all wakeups are out")


def test_closing_publishes_the_waiting_wakeups(broker_url: str) -> None:
    with closing(redis.Redis.from_url(broker_url)) as client, make_app(broker_url) as app:
        publisher = WakeupPublisher(Wakeups(app))
        for agent in ("ann", "bob"):
            publisher.wake_lane(agent)
        publisher.close()
        assert woken(client) == ["ann", "bob"]


def test_a_broker_that_never_answers_does_not_block_callers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        url = f"redis://127.0.0.1:{frozen.getsockname()[1]}/0"
        with make_app(url) as app, closing(RedisWakeups(app, url)) as wakeups:
            began = time.monotonic()
            publisher = WakeupPublisher(wakeups)
            for number in range(1_000):
                publisher.wake_lane(f"a{number}")
            assert time.monotonic() - began < 1, "wakeups are handed over, not published"
            publisher.close()
            assert time.monotonic() - began < 10, "nor does the end wait for each of them"


def test_wakeups_during_a_restart_of_the_broker_go_out_after_it(own_servers: Servers) -> None:
    """The job of a message would wait for the sweep otherwise, which is not even there."""
    url = own_servers.redis.url
    with (
        closing(redis.Redis.from_url(url)) as client,
        make_app(url) as app,
        closing(RedisWakeups(app, url)) as wakeups,
        closing(WakeupPublisher(wakeups)) as publisher,
        capture_logs() as logs,
    ):
        own_servers.redis.kill()
        for agent in ("ann", "bob"):
            publisher.wake_lane(agent)
        wait_until(lambda: logs, "publishing has failed")
        own_servers.redis.start()
        wait_until(lambda: woken(client) == ["ann", "bob"], "both are out")


class FaultyWakeups(Wakeups):
    """Raises an unexpected error at its first wakeup."""

    failed = False

    def wake_lanes(self, agent_ids: Sequence[str]) -> bool:
        if not self.failed:
            self.failed = True
            raise RuntimeError
        return super().wake_lanes(agent_ids)


def test_an_unexpected_error_does_not_end_the_publisher(broker_url: str) -> None:
    with closing(redis.Redis.from_url(broker_url)) as client, make_app(broker_url) as app:
        wakeups = FaultyWakeups(app)
        with closing(WakeupPublisher(wakeups)) as publisher:
            publisher.wake_lane("lost")
            wait_until(lambda: wakeups.failed, "the first wakeup has failed")
            publisher.wake_lane("ann")
            wait_until(lambda: woken(client) == ["ann"], "the next one is out")
