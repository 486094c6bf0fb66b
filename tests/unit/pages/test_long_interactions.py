"""An interaction of very many messages costs as many, and not the square of them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from memci.domain.pages.chapters import settle
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.tree import Tree
from memci.message import Message, Role

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def talk(number):
    """One long interaction, and meanwhile short ones of another session."""
    for seq in range(1, number + 1):
        if seq % 200 == 105:
            yield Message(seq, f"m{seq}", Role.USER, "?", NOW, None, "other")
        elif seq % 200 == 106:
            yield Message(seq, f"m{seq}", Role.ASSISTANT, "!", NOW, None, "other")
        else:
            role = Role.USER if seq == 1 else Role.ASSISTANT
            yield Message(seq, f"m{seq}", role, f"Line {seq}.", NOW, None, "long")


def settled(said):
    tree = Tree.new()
    settle(tree, said, PageRules(), lambda _: 1, len)
    return tree


def test_it_has_a_line_for_each_message():
    page = settled(talk(1_000)).latest("long")
    assert len(page.entries) == 990
    assert page.entries[-1] == "assistant: Line 1000."


def test_settling_it_goes_by_the_number_of_its_messages():
    def least(number):
        said, took = list(talk(number)), []
        for _ in range(3):
            begun = time.perf_counter()
            settled(said)
            took.append(time.perf_counter() - begun)
        return min(took) / number

    assert least(32_000) < 4 * least(800)
