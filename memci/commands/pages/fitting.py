"""Whether an agent's window can hold what must stay in it (P13)."""

from __future__ import annotations

from contextlib import suppress

from memci.commands.pages.perform import PageCommands
from memci.domain.pages.collapse import collapse_to
from memci.domain.pages.rules import PageRules
from memci.errors import PageStoreError
from memci.storage.desks import View, open_desk
from memci.storage.page_warming import warm
from memci.storage.parameters import page_rules_of
from memci.storage.viewers import viewer_in


def warnings_of(pages: PageCommands, agent_id: str) -> list[str]:
    """Say by how much what cannot be hidden is over ``window_max_tokens``, and what to do.

    It is looked at in the session of the last message, also of an agent before its first one;
    nothing is written. Empty: it fits, or the page store does not answer.
    """
    with suppress(PageStoreError):  # what was asked for does not depend on it
        rules, least = _least(pages, agent_id)
        if least > rules.window_max_tokens:
            return [_warning(least, rules)]
    return []


def _least(pages: PageCommands, agent_id: str) -> tuple[PageRules, int]:
    """Return the agent's rules, and what its window takes when all is hidden that can be."""
    store = warm(pages.database, pages.store, agent_id)
    with pages.database.agent_snapshot(agent_id) as connection:
        rules = page_rules_of(connection, agent_id, pages.rules)
        viewer = viewer_in(connection, agent_id, None)
        view = View(viewer, pages.counter.count, rules)
        desk = open_desk(connection, agent_id, store, view).desk
        return rules, collapse_to(desk.rendering, 0, desk.kept).after


def _warning(least: int, rules: PageRules) -> str:
    ways = ["shorten system prompts", "take down pins", "unpin pages"]
    ways += ["turn attp off, whose page of sys is long"] if rules.attp else []
    return (
        f"what cannot be hidden takes {least:,} tokens, and window_max_tokens is"
        f" {rules.window_max_tokens:,}: set it to {least} or more, or {', '.join(ways)}"
    )
