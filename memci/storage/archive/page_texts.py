"""Texts of notes on their way from one page store into another (P14)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress

from sqlalchemy import Connection

from memci.errors import ConflictError, InvalidInputError, NotFoundError, PageStoreError
from memci.storage.archive.tables import CARRIED
from memci.storage.archive.unpacking import Unpacking
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.schema import page_text

_NOTES = (
    "SELECT id, text_version FROM page WHERE agent_id = %s AND text_version IS NOT NULL ORDER BY id"
)
# Its texts come one by one, from far away maybe: between two of them the database hears of us.
_AT_ONCE = 20
_FIND = "SELECT FROM page WHERE agent_id = %s AND id = %s AND text_version = %s"
_WITHOUT = """
SELECT id FROM page WHERE agent_id = %s AND text_version IS NOT NULL AND NOT id = ANY(%s::text[])
ORDER BY id LIMIT 1
"""
_MOST_NAMED = 100
_ONE_NOTE = "every text is of one note, in its version"
_ONE_TEXT = "every note has its text"


def body_lines(connection: Connection, store: PageStore, agent_id: str) -> Iterator[bytes]:
    """Yield the text of each note, from the store, as one line of JSON.

    Raises ``ConflictError``, behind the last one, when the store has none for some notes.
    """
    lost: list[str] = []
    with closing(
        connection.exec_driver_sql(_NOTES, (agent_id,), execution_options={"yield_per": _AT_ONCE})
    ) as notes:
        for note in notes:
            try:
                text = store.load(TextKey(agent_id, note.id, note.text_version))
            except NotFoundError:
                lost.append(note.id)
                continue
            row = {"page_id": note.id, "version": note.text_version, "text": text}
            yield json.dumps(row, ensure_ascii=False).encode() + b"\n"
    if lost:
        raise _lost(lost)


def _lost(indexes: Sequence[str]) -> ConflictError:
    named = ", ".join(indexes[:_MOST_NAMED])
    more = len(indexes) - _MOST_NAMED
    return ConflictError(
        f"the page store has no text of {'page' if len(indexes) == 1 else 'pages'} {named}"
        f"{f' and {more} more' if more > 0 else ''}: if they were erased just now, export again; if"
        " the store has lost them, bring them back from a back-up or erase these pages first"
    )


def keep_bodies(
    connection: Connection, store: PageStore, agent_id: str, archive: Unpacking
) -> None:
    """Keep the texts of an archive's notes in the store that is used here (P14).

    All other rows must be in place, and nothing but COMMIT may follow: should that fail, the store
    is left with texts that no page refers to. Raises ``InvalidInputError`` for a note without its
    text or a text without its note, and ``PageStoreError``; no text is left then.
    """
    kept: dict[str, TextKey] = {}
    (entry,) = (each for each in CARRIED if each.table is page_text)
    try:
        for _, row in archive.rows(entry):
            index, version = row["page_id"], row["version"]
            given = (agent_id, index, version)
            found = connection.exec_driver_sql(_FIND, given).first()
            _check(found is not None and index not in kept, _ONE_NOTE, index)
            kept[index] = TextKey(agent_id, index, version)
            store.save(kept[index], row["text"])
        without = connection.exec_driver_sql(_WITHOUT, (agent_id, list(kept))).scalar()
        _check(without is None, _ONE_TEXT, without)
    except BaseException:
        for key in kept.values():
            # What cannot be deleted is swept: no page refers to it.
            with suppress(PageStoreError):
                store.delete(key)
        raise


def _check(holds: bool, law: str, index: str | None) -> None:  # noqa: FBT001 - what is checked
    if not holds:
        raise InvalidInputError(f"the archive contradicts itself: {law}; not so {index}")
