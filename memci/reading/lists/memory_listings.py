"""Lists nodes, links, sessions, histories, summaries and documents."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict

from memci.api_keys import is_for
from memci.domain.documents import collection_owner
from memci.domain.memory.node import RemovalReason
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import NotFoundError
from memci.language.times.calendar import at_offset
from memci.message import Message
from memci.reading.lists import cursors
from memci.schemas.agents import (
    FocusList,
    FocusPoint,
    LinkAnswer,
    LinkList,
    NodeAnswer,
    NodeList,
    TrailEvent,
    TrailList,
)
from memci.schemas.documents import CollectionList, DocumentList, DocumentOut
from memci.schemas.sessions import (
    HistoryAnswer,
    SessionAnswer,
    SessionList,
    SummaryAnswer,
    SummaryList,
    VersionAnswer,
)
from memci.storage.agents import parameters_of, snapshot_of
from memci.storage.documents import (
    check_owner_there,
    find_document,
    list_collections,
    list_documents,
)
from memci.storage.messages import read_messages
from memci.storage.network.links import list_focus
from memci.storage.network.node_history import origin_of, removal_reasons
from memci.storage.reading.messages import seqs_of
from memci.storage.reading.nodes import (
    ever_was,
    list_links,
    list_nodes,
    list_trail,
    read_node,
    versions_of,
)
from memci.storage.sessions import list_sessions
from memci.storage.summaries import list_summaries


class NodeFilters(TypedDict, total=False):
    """Which nodes to list; None or left out: all. ``as_of``: memories that held then."""

    kind: str | None
    type: str | None
    tier: str | None
    pinned: bool | None
    text: str | None  # words that the text contains, in any order
    session_id: str | None
    user_id: str | None
    since: datetime | None  # when it was said
    until: datetime | None
    as_of: datetime | None


class MemoryListings(cursors.Listing):
    """Lists the network, the sessions and summaries of one agent, and documents."""

    def nodes(
        self,
        agent_id: str,
        filters: NodeFilters,
        *,
        cursor: str | None,
        limit: int,
    ) -> NodeList:
        """List living nodes by id."""
        (after,) = cursors.place_after(cursor)
        asked: dict[str, object] = {**dict.fromkeys(NodeFilters.__annotations__), **filters}
        asked["words"] = (filters.get("text") or "").lower().split() or None
        with snapshot_of(self.database, agent_id) as connection:
            rows = list_nodes(connection, agent_id, asked, after=after, limit=limit + 1)
        page, following = cursors.page_of(rows, limit, lambda row: row["id"])
        return NodeList(nodes=[NodeAnswer(**row) for row in page], next_cursor=following)

    def node(self, agent_id: str, node_id: int) -> NodeAnswer:
        """Return one node, or raise ``NotFoundError``."""
        with snapshot_of(self.database, agent_id) as connection:
            row = read_node(connection, agent_id, node_id)
        if row is None:
            raise NotFoundError("there is no such node; its trail tells if it was forgotten")
        return NodeAnswer(**row)

    def node_messages(self, agent_id: str, node_id: int) -> list[Message]:
        """Return the messages that a node was made of, living or removed, by seq."""
        with snapshot_of(self.database, agent_id) as connection:
            origin = origin_of(connection, agent_id, node_id)
            return read_messages(connection, agent_id, origin.seqs if origin else ())

    def messages_named(self, agent_id: str, ids: Collection[str]) -> list[Message]:
        """Return the stored messages among these ids, by seq."""
        with snapshot_of(self.database, agent_id) as connection:
            seqs = seqs_of(connection, agent_id, ids)
            return read_messages(connection, agent_id, seqs.values())

    def trail(self, agent_id: str, node_id: int, *, cursor: str | None, limit: int) -> TrailList:
        """List the events of a node, living or forgotten; ``NotFoundError`` if it never existed."""
        (after,) = cursors.place_after(cursor)
        with snapshot_of(self.database, agent_id) as connection:
            rows = list_trail(connection, agent_id, node_id, after=after, limit=limit + 1)
        if not rows and cursor is None:
            raise NotFoundError("there never was such a node")
        page, following = cursors.page_of(rows, limit, lambda row: row["id"])
        return TrailList(events=[TrailEvent(**row) for row in page], next_cursor=following)

    def links(
        self, agent_id: str, *, node_id: int | None, cursor: str | None, limit: int
    ) -> LinkList:
        """List links by source and target, of one node or of all."""
        source, target = cursors.place_after(cursor, parts=2)
        with snapshot_of(self.database, agent_id) as connection:
            rows = list_links(
                connection, agent_id, node_id=node_id, after=(source, target), limit=limit + 1
            )
        page, following = cursors.page_of(
            rows, limit, lambda row: f"{row['source']}.{row['target']}"
        )
        return LinkList(links=[LinkAnswer(**row) for row in page], next_cursor=following)

    def focus(self, agent_id: str) -> FocusList:
        """List the focus points, the latest mention first."""
        with snapshot_of(self.database, agent_id) as connection:
            rows = list_focus(connection, agent_id)
        return FocusList(focus=[FocusPoint(**row) for row in rows])

    def sessions(
        self,
        agent_id: str,
        defaults: MemoryParameters,
        *,
        now: datetime,
        cursor: str | None,
        limit: int,
    ) -> SessionList:
        """List sessions by id; at ``now`` some have been silent for too long."""
        after = cursors.named_after(cursor)
        with snapshot_of(self.database, agent_id) as connection:
            parameters = parameters_of(connection, agent_id, defaults)
            found = list_sessions(connection, agent_id, after=after, limit=limit + 1)
        page, following = cursors.page_of(
            found, limit, lambda each: cursors.names_cursor(each["session_id"])
        )
        sessions = [_session(each, now, parameters.session_silence) for each in page]
        return SessionList(sessions=sessions, next_cursor=following)

    def history(self, agent_id: str, node_id: int, as_of: datetime | None) -> HistoryAnswer:
        """List the versions of a memory; ``NotFoundError`` if it never existed."""
        with snapshot_of(self.database, agent_id) as connection:
            if not ever_was(connection, agent_id, node_id):
                raise NotFoundError("there never was such a node")
            rows = versions_of(connection, agent_id, node_id, as_of)
            forgotten = [row["node_id"] for row in rows if not row["living"]]
            reasons = removal_reasons(connection, agent_id, forgotten)
        return HistoryAnswer(
            versions=[_version(row, as_of, reasons.get(row["node_id"])) for row in rows]
        )

    def summaries(
        self, agent_id: str, *, session_id: str | None, cursor: str | None, limit: int
    ) -> SummaryList:
        """List summaries by session, of one session or of all."""
        session, user = cursors.names_after(cursor, 2)
        with snapshot_of(self.database, agent_id) as connection:
            found = list_summaries(
                connection, agent_id, only=session_id, after=(session, user), limit=limit + 1
            )
        page, following = cursors.page_of(
            found,
            limit,
            lambda each: cursors.names_cursor(each.session_id or "", each.user_id or ""),
        )
        summaries = [SummaryAnswer.model_validate(each, from_attributes=True) for each in page]
        return SummaryList(summaries=summaries, next_cursor=following)

    def documents(self, owner: str, *, prefix: str, cursor: str | None, limit: int) -> DocumentList:
        """List documents by id; raises ``NotFoundError`` for an unknown owner."""
        (after,) = cursors.place_after(cursor)
        with self.database.agent_snapshot(owner) as connection:
            check_owner_there(connection, owner)
            rows = list_documents(connection, owner, prefix=prefix, after=after, limit=limit + 1)
        page, following = cursors.page_of(rows, limit, lambda row: row.id)
        return DocumentList(documents=[*page], next_cursor=following)

    def document(self, owner: str, document_id: int) -> DocumentOut:
        """Return one document, or raise ``NotFoundError``."""
        with self.database.agent_snapshot(owner) as connection:
            check_owner_there(connection, owner)
            found = find_document(connection, owner, document_id)
        if found is None:
            raise NotFoundError("there is no such document; it may have been removed")
        return found

    def collections(self, *, patterns: str, cursor: str | None, limit: int) -> CollectionList:
        """List the collections that a key with these patterns allows, by name."""
        with self.database.lane_transaction(durable=False) as connection:
            found = list_collections(connection, after=cursors.named_after(cursor))
        allowed = [each for each in found if is_for(patterns, collection_owner(each.name))]
        page, following = cursors.page_of(
            allowed, limit, lambda each: cursors.names_cursor(each.name)
        )
        return CollectionList(collections=[*page], next_cursor=following)


def _session(row: Mapping[Any, Any], now: datetime, silence: timedelta) -> SessionAnswer:
    silent_at: datetime = row["received_at"] + silence
    times = {
        "began_at": at_offset(row["began_at"], row["began_offset"]),
        "last_at": at_offset(row["last_at"], row["last_offset"]),
        "ended_at": row["ended_at"] or (silent_at if silent_at <= now else None),
    }
    return SessionAnswer(**{**row, **times})


def _version(
    row: Mapping[str, Any], as_of: datetime | None, removed: RemovalReason | None
) -> VersionAnswer:
    until: datetime | None = row["until"]
    valid = row["reason"] is None or (
        row["reason"] == "superseded" and as_of is not None and until is not None and until > as_of
    )
    return VersionAnswer(
        **row, state=_version_state(row, removed), holds=valid and row["content"] is not None
    )


def _version_state(
    row: Mapping[str, Any], removed: RemovalReason | None
) -> Literal["current", "superseded"] | RemovalReason:
    if row["reason"] == "merged":
        return RemovalReason.MERGED
    if row["reason"] == "superseded":
        return "superseded"
    return removed or "current"
