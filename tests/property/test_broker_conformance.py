"""Random sequences of broker commands, on fakeredis and on a real Redis.

Both must behave as a simple model predicts. Whatever crashes, freezes or is lost, each message
in the broker reaches the mailbox once and in order, and no key stays behind.
"""

from __future__ import annotations

import socket
from threading import Thread
from typing import Any

import pytest
from fakeredis import TcpFakeServer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.broker_world import AGENTS, WORKERS, Model, World
from tests.support.examples import examples

# Mostly one agent: with many, two workers would seldom compete.
agents = st.sampled_from([AGENTS[0]] * 4 + list(AGENTS))
workers = st.sampled_from(WORKERS)
numbers = st.integers(0, 6)
# A command: its name, then its arguments. Few numbers, so that messages repeat.
produce = st.tuples(st.just("produce"), agents, numbers)
take = st.tuples(st.just("take"), agents, workers, st.integers(1, 50))
commit = st.tuples(st.just("commit"), agents, workers)
confirm = st.tuples(st.just("confirm"), agents, workers)
commands = st.one_of(
    *[produce, take, commit, confirm] * 2,
    st.tuples(st.just("produce_by_name"), agents, numbers),
    st.tuples(st.just("produce_nonsense"), agents),
    st.tuples(st.sampled_from(["abandon", "crash"]), agents, workers),
    st.just(("flush",)),
    st.sampled_from([("look",), ("ring",), ("sweep_keys",)]),
    st.tuples(st.just("publish"), agents),
    st.tuples(st.just("answer"), numbers),
)
# Without min_size, hypothesis draws five commands on average.
sequences = st.lists(commands, min_size=20, max_size=60)


def is_possible(model: Model, command: tuple[Any, ...]) -> bool:
    """Workers commit what they took, and confirm what they committed."""
    name, *arguments = command
    if name not in ("commit", "confirm", "abandon", "crash"):
        return True
    batch = model.batches.get((arguments[0], arguments[1]))
    if batch is None:
        return False
    return name == "crash" or batch.committed == (name == "confirm")


def run(sequence: list[tuple[Any, ...]], *worlds: World) -> None:
    model = Model()
    for world in worlds:
        world.begin()
    for command in sequence:
        if is_possible(model, command):
            name, *arguments = command
            expected = getattr(model, name)(*arguments)
            for world in worlds:
                assert getattr(world, name)(*arguments) == expected, command
    check_end(model, *worlds)


def check_end(model: Model, *worlds: World) -> None:
    for world in worlds:
        assert world.queues.depth("memci.lane") == len(model.lane)
        mailbox = world.finish()
        for agent in AGENTS:
            model.database.insert(
                agent, model.database.fence[agent], [each.id for each in model.lists[agent]]
            )
            assert mailbox[agent] == model.database.mailbox[agent]
        assert world.kept_keys() == []


class PromptFakeServer(TcpFakeServer):
    """Sends answers at once: the kernel would delay answers that are written in parts."""

    def get_request(self):
        connection, address = super().get_request()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection, address


@pytest.fixture(scope="module")
def fake():
    with PromptFakeServer(("127.0.0.1", 0), server_type="redis") as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        world = World(f"redis://127.0.0.1:{server.server_address[1]}/0")
        yield world
        world.close()
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def real(process_redis):
    world = World(process_redis.url)
    yield world
    world.close()


patient = settings(suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.timeout(300)
@settings(patient, max_examples=examples(800))
@given(sequences)
def test_fakeredis_does_as_the_model_says(fake, sequence):
    run(sequence, fake)


@pytest.mark.timeout(300)
@settings(patient, max_examples=examples(200))
@given(sequences)
def test_redis_and_fakeredis_do_as_the_model_says(real, fake, sequence):
    run(sequence, real, fake)
