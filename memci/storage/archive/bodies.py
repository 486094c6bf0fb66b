"""Texts of notes on their way from one page store into another (P14)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection

from memci.errors import ConflictError, InvalidInputError, NotFoundError, PageStoreError
from memci.storage.archive.registry import CARRIED
from memci.storage.archive.unpacking import Unpacking
from memci.storage.page_store.port import BodyKey, PageStore
from memci.storage.pages import first_body
from memci.storage.rows import page_body

_NOTES = "SELECT id, body FROM page WHERE agent_id = %s AND body IS NOT NULL ORDER BY id"
_LATER = "UPDATE page SET body = body + %s WHERE agent_id = %s AND body IS NOT NULL"


def body_lines(connection: Connection, store: PageStore, agent_id: str) -> Iterator[bytes]:
    """Yield the text of each note, from the store, as one line of JSON.

    Raises ``ConflictError`` when the store has none for a note.
    """
    for note in connection.exec_driver_sql(_NOTES, (agent_id,)).all():
        try:
            text = store.load(BodyKey(agent_id, note.id, note.body))
        except NotFoundError:
            raise ConflictError(
                f"the page store has no text of page {note.id}: if it was erased just now, export "
                "again; if the store has lost it, erase that page first"
            ) from None
        row = {"page_id": note.id, "version": note.body, "text": text}
        yield json.dumps(row, ensure_ascii=False).encode() + b"\n"


def keep_bodies(
    connection: Connection, store: PageStore, agent_id: str, archive: Unpacking
) -> None:
    """Keep the texts of an archive's notes in the store that is used here (P14).

    All other rows must be in place, and nothing but COMMIT may follow: should that fail, the store
    is left with texts that no page refers to. Raises ``InvalidInputError`` for a note without its
    text or a text without its note, and ``PageStoreError``; no text is left then.
    """
    notes = {row.id: row.body for row in connection.exec_driver_sql(_NOTES, (agent_id,))}
    # Versions of an erased life that was here before do not come back.
    shift = first_body(connection, agent_id) - 1
    kept: list[BodyKey] = []
    (entry,) = (each for each in CARRIED if each.table is page_body)
    try:
        for _, row in archive.rows(entry):
            _check_asked_for(notes, row)
            key = BodyKey(agent_id, row["page_id"], row["version"] + shift)
            kept.append(key)
            store.save(key, row["text"])
        _check_all_given(notes)
        connection.exec_driver_sql(_LATER, (shift, agent_id))
    except BaseException:
        for key in kept:
            # What cannot be deleted is swept: no page refers to it.
            with suppress(PageStoreError):
                store.delete(key)
        raise


def _check_asked_for(notes: dict[str, int], row: Mapping[str, Any]) -> None:
    if notes.pop(row["page_id"], None) != row["version"]:
        raise InvalidInputError(
            "the archive contradicts itself: every text is of one note, in its version; not so "
            f"{row['page_id']}"
        )


def _check_all_given(left: Mapping[str, int]) -> None:
    if left:
        raise InvalidInputError(
            f"the archive contradicts itself: every note has its text; not so {min(left)}"
        )
