"""Steps that can be undone, user by user (P17)."""

from __future__ import annotations

import pytest

from memci.domain.pages.undo import Edit
from memci.storage.pages.tree import lock_tree
from memci.storage.pages.undo_steps import add_step, mark_undone, step_to_redo, step_to_undo
from memci.storage.session import Connection, Database
from tests.support.network import AgentUnderTest

KEPT = 100


def add(connection: Connection, user: str | None, name: str) -> None:
    edit = Edit("usr-1", {"name": ""}, {"name": name})
    add_step(connection, "ada", user, ["update_page"], [edit])


def taken_back(connection: Connection, user: str | None) -> list[str]:
    """What a user's steps did, the newest first, until none is left."""
    names = []
    while (step := step_to_undo(connection, "ada", user)) is not None:
        names += [edit.became["name"] for edit in step.edits]
        mark_undone(connection, "ada", step.number, undone=True)
    return names


@pytest.mark.parametrize("busy", ["bob", None])
def test_the_steps_of_one_user_leave_those_of_others(database: Database, busy: str | None) -> None:
    AgentUnderTest(database)
    with database.agent_transaction("ada") as connection:
        lock_tree(connection, "ada")
        for user in ("anna", None, "bob"):
            add(connection, user, "first")
        for each in range(KEPT + 1):
            add(connection, busy, f"{each}")
        assert taken_back(connection, busy) == [f"{each}" for each in range(KEPT, 0, -1)]
        for user in {"anna", None, "bob"} - {busy}:
            assert taken_back(connection, user) == ["first"]
        # What was undone goes by what is done then, and of its own user alone.
        add(connection, busy, "another")
        assert step_to_redo(connection, "ada", busy) is None
        assert step_to_redo(connection, "ada", "anna") is not None
        assert taken_back(connection, busy) == ["another"]
