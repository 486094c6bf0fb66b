"""The acts of the demo, one after the other."""

from __future__ import annotations

import time

from memci.cli.demo import acts
from memci.cli.demo.forgetting import forget
from memci.cli.demo.player import Player
from memci.cli.demo.screen import Screen
from memci.cli.demo.stage import stage
from memci.cli.demo.stories import STORIES
from memci.cli.up.interrupts import Interrupts
from memci.client import Memci
from memci.config import Settings

_INTERRUPTED = 130


def play(settings: Settings) -> int:
    """Play everything; returns the exit code."""
    screen = Screen()
    began = time.monotonic()
    try:
        with Interrupts() as interrupts:
            _play(settings, interrupts, screen)
    except KeyboardInterrupt:
        screen.say("Stopped; the demo's folder is removed.")
        return _INTERRUPTED
    screen.say(
        f"That was memci, in {time.monotonic() - began:.0f} seconds. `memci up` starts yours."
    )
    return 0


def _play(settings: Settings, interrupts: Interrupts, screen: Screen) -> None:
    screen.title("memci demo: two conversations, remembered, forgotten gently, recalled")
    screen.say("Everything below is real and goes through the public HTTP API.")
    screen.act("Start", "PostgreSQL, Redis, API, workers, beat and Flower")
    with stage(settings, interrupts, screen.aside) as url:
        with Memci(url, wait_ms=10_000) as memci:
            cast = [Player(story, memci.agent(story.agent)) for story in STORIES]
            acts.remember(cast, screen)
            forget(cast, screen)
            acts.recall(cast, screen)
            acts.assemble(cast, screen)
        screen.act("Stop", "everything, and remove the demo's folder")
