"""Inserts pins, summaries, plans and pages of one agent by SQL."""

from __future__ import annotations

from memci.domain.pages.tree import Tree
from memci.storage.pages.tree import tree_row
from tests.support.stored import Stored


def plant(alice: Stored, archive: str | None, *, steps: int = 0) -> None:
    """Insert the row of a page tree; ``page`` inserts its pages."""
    row = tree_row(Tree.new())
    alice.execute(
        "INSERT INTO page_tree (agent_id, version, segments, archive, last_step)"
        " VALUES (%s, 1, %s::jsonb, %s, %s)",
        row["segments"], archive, steps,
    )  # fmt: skip


def pin(alice: Stored, number: int, text: str, seq: int | None = None, **columns: object) -> None:
    kept: dict[str, object] = {"kind": "note", "pinned_by": "agent", "user_id": None, **columns}
    alice.execute(
        "INSERT INTO pin (agent_id, number, text, message_seq, kind, pinned_by, user_id,"
        " span_start, span_end) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
        number, text, seq, kept["kind"], kept["pinned_by"], kept["user_id"],
        kept.get("start"), kept.get("end"),
    )  # fmt: skip


def summary(alice: Stored, text: str, first: int, last: int, **columns: object) -> None:
    alice.execute(
        "INSERT INTO summary (agent_id, session_id, user_id, users, from_seq, through_seq, text)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s)",
        columns.get("session", "s1"), columns.get("user", ""), columns.get("users", []),
        first, last, text,
    )  # fmt: skip


def plan(alice: Stored, seq: int, *steps: tuple[str, str], **columns: object) -> None:
    alice.execute(
        "INSERT INTO plan (agent_id, made_seq, session_id, user_id) VALUES (%s, %s, %s, %s)",
        seq, columns.get("session", "s1"), columns.get("user"),
    )  # fmt: skip
    for position, (text, state) in enumerate(steps, 1):
        alice.execute(
            "INSERT INTO plan_step (agent_id, made_seq, position, text, said_seq, state)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            seq, position, text, seq, state,
        )  # fmt: skip


def page(alice: Stored, index: str, parent: str | None, name: str, **columns: object) -> None:
    first, last = columns.get("first"), columns.get("last")
    alice.execute(
        "INSERT INTO page (agent_id, id, kind, segment, parent, place, name, description, expanded,"
        " cold, managed, user_id, first_seq, last_seq, session_id, number, text_version, entries)"
        " VALUES (%s, %s, %s, 'usr', %s, %s, %s, %s, true, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        index, columns.get("kind", "detail"), parent, int(index.rpartition("-")[2]), name,
        columns.get("description", ""), columns.get("cold", False), columns.get("managed", False),
        columns.get("user"),
        first, last, columns.get("session"), first and 1, columns.get("text_version"),
        columns.get("entries", []),
    )  # fmt: skip
