"""The network of one agent, listed: nodes, what happened to them, links and focus points."""

from __future__ import annotations

from datetime import datetime

from memci.errors import NotFoundError
from memci.reading.page import page_of, place_after
from memci.shapes.agent import (
    FocusList,
    FocusPoint,
    LinkAnswer,
    LinkList,
    NodeAnswer,
    NodeList,
    TrailEvent,
    TrailList,
)
from memci.storage.erasure.gone import snapshot_of
from memci.storage.reading.nodes import list_focus, list_links, list_nodes, list_trail, read_node
from memci.storage.session import Database


class NodeListings:
    """Reads the network of one agent."""

    def __init__(self, database: Database) -> None:
        """Take where it all is."""
        self._database = database

    def nodes(
        self,
        agent_id: str,
        *,
        kind: str | None,
        type: str | None,  # noqa: A002 - the word of the surface
        tier: str | None = None,
        as_of: datetime | None = None,
        cursor: str | None,
        limit: int,
    ) -> NodeList:
        """List living nodes by id, of one kind, type and tier or of all.

        ``as_of``: memories that were made of what was said by then, and not superseded yet.
        """
        (after,) = place_after(cursor)
        asked = {"kind": kind, "type": type, "tier": tier, "as_of": as_of}
        with snapshot_of(self._database, agent_id) as connection:
            rows = list_nodes(connection, agent_id, asked, after=after, limit=limit + 1)
        page, following = page_of(rows, limit, lambda row: row["id"])
        return NodeList(nodes=[NodeAnswer(**row) for row in page], next_cursor=following)

    def node(self, agent_id: str, node_id: int) -> NodeAnswer:
        """Return one node, or raise ``NotFoundError``."""
        with snapshot_of(self._database, agent_id) as connection:
            row = read_node(connection, agent_id, node_id)
        if row is None:
            raise NotFoundError("there is no such node; its trail tells if it was forgotten")
        return NodeAnswer(**row)

    def trail(self, agent_id: str, node_id: int, *, cursor: str | None, limit: int) -> TrailList:
        """List what happened to a node, living or forgotten; ``NotFoundError`` if it never was."""
        (after,) = place_after(cursor)
        with snapshot_of(self._database, agent_id) as connection:
            rows = list_trail(connection, agent_id, node_id, after=after, limit=limit + 1)
        if not rows and cursor is None:
            raise NotFoundError("there never was such a node")
        page, following = page_of(rows, limit, lambda row: row["id"])
        return TrailList(events=[TrailEvent(**row) for row in page], next_cursor=following)

    def links(
        self, agent_id: str, *, node_id: int | None, cursor: str | None, limit: int
    ) -> LinkList:
        """List links by source and target, of one node or of all."""
        source, target = place_after(cursor, parts=2)
        with snapshot_of(self._database, agent_id) as connection:
            rows = list_links(
                connection, agent_id, node_id=node_id, after=(source, target), limit=limit + 1
            )
        page, following = page_of(rows, limit, lambda row: f"{row['source']}.{row['target']}")
        return LinkList(links=[LinkAnswer(**row) for row in page], next_cursor=following)

    def focus(self, agent_id: str) -> FocusList:
        """List the focus points, the latest mention first."""
        with snapshot_of(self._database, agent_id) as connection:
            rows = list_focus(connection, agent_id)
        return FocusList(focus=[FocusPoint(**row) for row in rows])
