"""The act of forgetting: passes over both networks, and what each of them left."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from memci.cli.demo.player import DEPTH, TIMEOUT_S, Player
from memci.cli.demo.screen import Screen
from memci.cli.output import bar, shortened

DECAY_RATE = 0.85
_MOST_PASSES = 40
_PASSES_AFTER = 1  # after an agent has forgotten what it was to forget
_SHOW_EVERY = 4
_LINE = 96
_BAR_CELLS = 24


class Sight(NamedTuple):
    """A memory as it was after a pass."""

    number: int
    importance: float
    length: int
    content: str


class Pass(NamedTuple):
    """What was left after a pass."""

    number: int
    memories: int
    characters: int
    forgotten: bool  # what the story is to forget, is


class Watch:
    """One agent's forgetting: its passes, and one memory through all of them."""

    def __init__(self, player: Player) -> None:
        """Choose the memory to watch, and take note of how much there is."""
        self.player = player
        nodes = player.memories()
        self._made = len(nodes)
        self._written = max(1, sum(node.original_length for node in nodes))
        watched = next((each for each in nodes if player.story.watched in each.content), nodes[0])
        self._watched = watched.id
        self.passes: list[Pass] = []
        self.sights = [
            Sight(player.agent.about().passes, watched.importance, watched.length, watched.content)
        ]

    def run_pass(self) -> None:
        """Run one pass, and look."""
        agent = self.player.agent
        agent.compress(reason="demo")
        number = agent.wait_idle(timeout_s=TIMEOUT_S).passes
        nodes = self.player.memories()
        watched = next((node for node in nodes if node.id == self._watched), None)
        if watched and watched.length < self.sights[-1].length:
            sight = Sight(number, watched.importance, watched.length, watched.content)
            self.sights.append(sight)
        asked = agent.recall([self.player.story.forgotten], depth=DEPTH)
        gone = bool(asked.forgotten) and not asked.memories
        self.passes.append(Pass(number, len(nodes), sum(node.length for node in nodes), gone))

    @property
    def enough(self) -> bool:
        """Whether it has forgotten what it was to, for some passes now, and knows that it did."""
        return sum(each.forgotten for each in self.passes) > _PASSES_AFTER

    def is_shown(self, index: int) -> bool:
        """Tell whether a pass is shown: every few, and the last."""
        last = len(self.passes) - 1
        return index == last or (index < last and index % _SHOW_EVERY == 0)

    def row(self, index: int) -> tuple[object, ...]:
        """Return a pass as a line of the table."""
        done = self.passes[index]
        share = done.characters / self._written
        gone = self._made - done.memories
        return (
            self.player.name,
            done.number,
            done.memories,
            gone,
            f"{bar(share, _BAR_CELLS)} {share:.0%}",
        )


def forget(cast: Sequence[Player], screen: Screen) -> None:
    """Run passes over each network until something old is forgotten."""
    screen.act("Forget", "compression passes: links decay, memories that lean on them shrink")
    screen.say(
        f"A link keeps {DECAY_RATE} of its strength per pass here (decay_rate; the default is "
        "0.97), so that some twenty passes do what takes more than a hundred."
    )
    watches = [Watch(player) for player in cast]
    with ThreadPoolExecutor(len(cast)) as threads, screen.waiting("passes …"):
        for _ in range(_MOST_PASSES):
            list(threads.map(Watch.run_pass, [each for each in watches if not each.enough]))
    longest = max(len(each.passes) for each in watches)
    screen.table(
        ("lane", "pass", "memories", "forgotten", "of their text is left"),
        [watch.row(at) for at in range(longest) for watch in watches if watch.is_shown(at)],
    )
    for watch in watches:
        screen.heading(f"One memory of {watch.player.name}, each time that it shrank")
        screen.table(
            ("pass", "importance", "characters", "content"),
            [(*sight[:3], shortened(sight.content, _LINE)) for sight in watch.sights],
        )
