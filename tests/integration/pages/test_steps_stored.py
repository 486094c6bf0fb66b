"""Steps to undo are stored for each user (P17)."""

from __future__ import annotations

import pytest

from memci.domain.pages.undo import Edit
from memci.storage.pages.tree import lock_tree
from memci.storage.pages.undo_steps import add_step, mark_undone, step_to_redo, step_to_undo
from memci.storage.session import Connection, Database
from tests.support.network import AgentUnderTest

MOST_STEPS = 100


def add(connection: Connection, user: str | None, name: str) -> None:
    edit = Edit("usr-1", {"name": ""}, {"name": name})
    add_step(connection, "ada", user, ["update_page"], [edit])


def undo_all(connection: Connection, user: str | None) -> list[str]:
    """Undo all steps of a user, the newest first; return the names that they set."""
    names = []
    while (step := step_to_undo(connection, "ada", user)) is not None:
        names += [edit.became["name"] for edit in step.edits]
        mark_undone(connection, "ada", step.number, undone=True)
    return names


@pytest.mark.parametrize("busy", ["bob", None])
def test_steps_of_one_user_displace_none_of_others(database: Database, busy: str | None) -> None:
    AgentUnderTest(database)
    with database.agent_transaction("ada") as connection:
        lock_tree(connection, "ada")
        for user in ("anna", None, "bob"):
            add(connection, user, "first")
        for each in range(MOST_STEPS + 1):
            add(connection, busy, f"{each}")
        assert undo_all(connection, busy) == [f"{each}" for each in range(MOST_STEPS, 0, -1)]
        for user in {"anna", None, "bob"} - {busy}:
            assert undo_all(connection, user) == ["first"]
        # A new step removes undone steps of its own user only.
        add(connection, busy, "another")
        assert step_to_redo(connection, "ada", busy) is None
        assert step_to_redo(connection, "ada", "anna") is not None
        assert undo_all(connection, busy) == ["another"]
