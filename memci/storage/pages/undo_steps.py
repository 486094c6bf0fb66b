"""Stores steps of page operations for undo and redo (P17)."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from memci.domain.pages.page import RecallStats
from memci.domain.pages.undo import Edit
from memci.storage.session import Connection

# Steps of each user that can be undone.
_KEPT = 100

_NEXT = "UPDATE page_tree SET last_step = last_step + 1 WHERE agent_id = %s RETURNING last_step"
# Each user has a sequence of steps; an erasure may delete some (M25).
_WHOSE = "agent_id = %(agent)s AND user_id {user}"
_DROP = f"""
DELETE FROM page_step WHERE {_WHOSE} AND (undone OR number <= (
    SELECT number FROM page_step WHERE {_WHOSE} AND NOT undone
    ORDER BY number DESC OFFSET %(kept)s LIMIT 1))
"""  # noqa: S608 - a constant of this module
_ADD = """
INSERT INTO page_step (agent_id, number, operations, changes, user_id)
VALUES (%s, %s, %s, %s::jsonb, %s)
"""
_FIND = f"SELECT number, operations, changes FROM page_step WHERE {_WHOSE} AND "  # noqa: S608 - as above
_WORDS = """
SELECT change->>'index' AS page, side.fields->>'name' AS name,
       side.fields->>'description' AS description, side.fields->'entries' AS entries
  FROM page_step, jsonb_array_elements(changes) AS change,
       LATERAL (VALUES (change->'was'), (change->'became')) AS side (fields)
 WHERE agent_id = %(agent)s AND side.fields ?| '{name,description,entries}'
   AND (%(only)s::text[] IS NULL OR change->>'index' = ANY(%(only)s::text[]))
"""
_MARK = "UPDATE page_step SET undone = %s WHERE agent_id = %s AND number = %s"


@dataclass(frozen=True, slots=True)
class Step:
    """The names of the operations of one request, and their edits."""

    number: int
    operations: tuple[str, ...]
    edits: tuple[Edit, ...]


def add_step(
    connection: Connection,
    agent_id: str,
    user_id: str | None,
    operations: Sequence[str],
    edits: Sequence[Edit],
) -> None:
    """Save a step, and delete the user's undone ones. The tree must be locked."""
    number = connection.exec_driver_sql(_NEXT, (agent_id,)).scalar_one()
    drop = {"agent": agent_id, "user": user_id, "kept": _KEPT - 1}
    connection.exec_driver_sql(_for_user(_DROP, user_id), drop)
    changes = [
        {"index": each.index, "was": dict(each.was), "became": dict(each.became)} for each in edits
    ]
    # Only ``recalls`` is no JSON value.
    written = json.dumps(changes, default=astuple)
    values = (agent_id, number, list(operations), written, user_id)
    connection.exec_driver_sql(_ADD, values)


def step_to_undo(connection: Connection, agent_id: str, user_id: str | None) -> Step | None:
    """Return a user's newest step that is not undone."""
    return _find(connection, agent_id, user_id, "NOT undone ORDER BY number DESC LIMIT 1")


def step_to_redo(connection: Connection, agent_id: str, user_id: str | None) -> Step | None:
    """Return the user's step that was undone last."""
    return _find(connection, agent_id, user_id, "undone ORDER BY number LIMIT 1")


def mark_undone(connection: Connection, agent_id: str, number: int, *, undone: bool) -> None:
    """Mark a step as undone or not."""
    connection.exec_driver_sql(_MARK, (undone, agent_id, number))


def words_of_steps(
    connection: Connection, agent_id: str, only: Collection[str] | None = None
) -> dict[str, list[str]]:
    """Return the texts of pages (None: all) that undo or redo could bring back, by index (M25)."""
    words: dict[str, list[str]] = {}
    values = {"agent": agent_id, "only": None if only is None else list(only)}
    for row in connection.exec_driver_sql(_WORDS, values):
        texts = (row.name, row.description, *(row.entries or ()))
        words.setdefault(row.page, []).extend(filter(None, texts))
    return words


def _find(connection: Connection, agent_id: str, user_id: str | None, which: str) -> Step | None:
    values = {"agent": agent_id, "user": user_id}
    row = connection.exec_driver_sql(_for_user(_FIND + which, user_id), values).first()
    if row is None:
        return None
    edits = [
        Edit(each["index"], _from_json(each["was"]), _from_json(each["became"]))
        for each in row.changes
    ]
    return Step(row.number, tuple(row.operations), tuple(edits))


def _for_user(statement: str, user_id: str | None) -> str:
    """Return a statement with the user's condition: ``=`` or ``IS NULL`` use the index."""
    return statement.format(user="IS NULL" if user_id is None else "= %(user)s")


def _from_json(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: RecallStats(*value) if name == "recalls" else value for name, value in plain.items()
    }
