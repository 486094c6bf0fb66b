"""The queue watch on RabbitMQ checks agents in turns; the known agents are bounded."""

from __future__ import annotations

from memci.broker import rabbitmq_queues
from memci.broker.rabbitmq_queues import KnownQueues, UnknownQueues


def test_known_agents_are_checked_in_turns():
    known = KnownQueues()
    for agent in "abcde":
        known.add(agent)
    assert [known.next(2) for _ in range(4)] == [["a", "b"], ["c", "d"], ["e", "a"], ["b", "c"]]
    known.add("a")  # keeps its place
    known.discard("d")
    known.discard("nobody")
    assert known.next(9) == ["e", "a", "b", "c"]
    assert "d" not in known


def test_the_number_of_known_agents_is_bounded(monkeypatch):
    monkeypatch.setattr(rabbitmq_queues, "_MAX_KNOWN", 3)
    known = KnownQueues()
    for agent in "abcd":
        known.add(agent)
    assert known.next(9) == ["b", "c", "d"]


def test_unknown_agents_are_checked_quickly_in_the_first_round_and_then_slowly(monkeypatch):
    monkeypatch.setattr(rabbitmq_queues, "_REFILL_S", 0)
    everyone = [str(number) for number in range(150)]
    unknown = UnknownQueues(lambda: everyone)
    assert unknown.next() == everyone[:100]
    assert unknown.next() == everyone[100:]
    assert unknown.next() == ["0"]
    assert unknown.next() == ["1"]


def test_a_new_round_does_not_start_at_once():
    unknown = UnknownQueues(lambda: ["a"])
    assert unknown.next() == ["a"]
    assert unknown.next() == []


def test_preferred_agents_are_checked_next():
    unknown = UnknownQueues(lambda: ["a", "b"])
    unknown.prefer(["x"])
    assert unknown.next() == ["x"]
    assert unknown.next() == ["a", "b"]
