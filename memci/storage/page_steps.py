"""Steps of an agent's operations on its pages, to be undone and redone (P17)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

from memci.domain.pages.page import Recalls
from memci.domain.pages.undo import Edit
from memci.storage.session import Connection

# So many can be undone.
_KEPT = 100

_NEXT = """
UPDATE page_tree SET done_step = done_step + 1, last_step = done_step + 1
WHERE agent_id = %s RETURNING done_step
"""
_DROP = "DELETE FROM page_step WHERE agent_id = %s AND (number >= %s OR number <= %s)"
_ADD = """
INSERT INTO page_step (agent_id, number, operations, changes) VALUES (%s, %s, %s, %s::jsonb)
"""
# An erasure takes steps out between others (M25).
_TO_UNDO = """
SELECT number, operations, changes FROM page_step
WHERE agent_id = %(agent)s
    AND number <= (SELECT done_step FROM page_tree WHERE agent_id = %(agent)s)
ORDER BY number DESC LIMIT 1
"""
_TO_REDO = """
SELECT number, operations, changes FROM page_step
WHERE agent_id = %(agent)s
    AND number > (SELECT done_step FROM page_tree WHERE agent_id = %(agent)s)
ORDER BY number LIMIT 1
"""
_MOVE = "UPDATE page_tree SET done_step = %s WHERE agent_id = %s"


@dataclass(frozen=True, slots=True)
class Step:
    """What was done in one go: its operations' names, and what they did to pages."""

    number: int
    operations: tuple[str, ...]
    edits: tuple[Edit, ...]


def add_step(
    connection: Connection, agent_id: str, operations: Sequence[str], edits: Sequence[Edit]
) -> None:
    """Keep a step; what was undone before it cannot be redone any more. The tree is locked."""
    number = connection.exec_driver_sql(_NEXT, (agent_id,)).scalar_one()
    connection.exec_driver_sql(_DROP, (agent_id, number, number - _KEPT))
    written = json.dumps([_written(each) for each in edits])
    connection.exec_driver_sql(_ADD, (agent_id, number, list(operations), written))


def step_to_undo(connection: Connection, agent_id: str) -> Step | None:
    """Return the newest step that is not undone."""
    return _find(connection, agent_id, _TO_UNDO)


def step_to_redo(connection: Connection, agent_id: str) -> Step | None:
    """Return the step that was undone last."""
    return _find(connection, agent_id, _TO_REDO)


def mark_done(connection: Connection, agent_id: str, number: int) -> None:
    """Note the newest step that is not undone."""
    connection.exec_driver_sql(_MOVE, (number, agent_id))


def _find(connection: Connection, agent_id: str, statement: str) -> Step | None:
    row = connection.exec_driver_sql(statement, {"agent": agent_id}).first()
    if row is None:
        return None
    return Step(row.number, tuple(row.operations), tuple(_read(each) for each in row.changes))


def _written(edit: Edit) -> dict[str, Any]:
    return {"index": edit.index, "was": _plain(edit.was), "became": _plain(edit.became)}


def _plain(values: Any) -> dict[str, Any]:
    return {
        name: astuple(value) if isinstance(value, Recalls) else value
        for name, value in values.items()
    }


def _read(written: Any) -> Edit:
    return Edit(written["index"], _values(written["was"]), _values(written["became"]))


def _values(plain: dict[str, Any]) -> dict[str, Any]:
    return {name: Recalls(*value) if name == "recalls" else value for name, value in plain.items()}
