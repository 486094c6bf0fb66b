"""The pages that a context lists, read without what lies hidden (R13)."""

from __future__ import annotations

from collections.abc import Collection

from memci.domain.pages.block import Held, Reads
from memci.domain.pages.page import Page
from memci.domain.pages.sight import Sight
from memci.domain.pages.viewer import Viewer
from memci.storage.pages import read_shown
from memci.storage.session import Connection

# Of texts elsewhere nothing is read here: no list waits for a network.
_TEXTS = """
SELECT note.page_id, note.text
  FROM unnest(%(pages)s::text[], %(versions)s::bigint[]) AS wanted (page, version)
 CROSS JOIN LATERAL (SELECT page_id, text FROM page_body
                      WHERE agent_id = %(agent)s AND page_id = wanted.page
                        AND version = wanted.version OFFSET 0) AS note
"""


def listed_pages(connection: Connection, agent_id: str, viewer: Viewer) -> tuple[Sight, Reads]:
    """Return what a viewer sees beside the active chapters, and what open notes say."""
    tree = read_shown(connection, agent_id, viewer, ()).tree
    open_notes = [each for each in tree.pages.values() if each.expanded and each.body is not None]
    texts = _texts(connection, agent_id, open_notes)
    return Sight(tree, viewer.session_id), lambda page: Held(text=texts.get(page.index, ""))


def _texts(connection: Connection, agent_id: str, notes: Collection[Page]) -> dict[str, str]:
    if not notes:
        return {}
    values = {
        "agent": agent_id,
        "pages": [each.index for each in notes],
        "versions": [each.body for each in notes],
    }
    rows = connection.exec_driver_sql(_TEXTS, values)
    return {row.page_id: row.text for row in rows}
