"""The context window on a terminal."""

from __future__ import annotations

from memci.cli.commands.context import print_messages
from memci.cli.output import print_table, say
from memci.cli.pages.words import listed, tokens
from memci.shapes.pages import WindowAnswer


def print_window(shown: WindowAnswer) -> None:
    """Print the messages, then what they cost and what was hidden to fit."""
    print_messages(shown.messages)
    if shown.messages:
        print_table(("segment", "tokens"), shown.by_segment.items())
    session = f" · session {shown.session_id}" if shown.session_id is not None else ""
    say(f"{tokens(shown.tokens)} ({shown.tokenizer}){session}")
    if shown.collapsed:
        say(f"collapsed to fit: {listed(shown.collapsed)}")
    if shown.over:
        say(f"what must stay is {tokens(shown.over)} over the budget", style="yellow")
