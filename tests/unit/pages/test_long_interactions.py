"""Settling an interaction takes time proportional to its messages, not to their square."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from memci.domain.pages.chapters import settle
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.tree import Tree
from memci.message import Message, Role

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def talk(number):
    """Yield one long interaction, and short ones of another session in between."""
    for seq in range(1, number + 1):
        if seq % 200 == 105:
            yield Message(seq, f"m{seq}", Role.USER, "?", NOW, None, "other")
        elif seq % 200 == 106:
            yield Message(seq, f"m{seq}", Role.ASSISTANT, "!", NOW, None, "other")
        else:
            role = Role.USER if seq == 1 else Role.ASSISTANT
            yield Message(seq, f"m{seq}", role, f"Line {seq}.", NOW, None, "long")


def settled(messages):
    tree = Tree.new()
    settle(tree, messages, PageRules(), lambda _: 1, len)
    return tree


def test_a_long_interaction_has_a_line_for_each_message():
    page = settled(talk(1_000)).latest("long")
    assert len(page.entries) == 990
    assert page.entries[-1] == "assistant: Line 1000."


def test_settling_a_long_interaction_takes_linear_time():
    def best_time_per_message(number):
        messages, took = list(talk(number)), []
        for _ in range(3):
            begun = time.perf_counter()
            settled(messages)
            took.append(time.perf_counter() - begun)
        return min(took) / number

    assert best_time_per_message(32_000) < 4 * best_time_per_message(800)
