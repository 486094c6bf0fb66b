"""The page tree (page-tree.md): pages, what notes say, and the steps that can be undone."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, Text, false, text
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.schema.metadata import Instant, Json, agent_column, made_at, metadata

_ZERO = text("0")
_EMPTY = text("'{}'")

# One row an agent, which every change of its pages locks (P16). Pages hold the messages up to
# settled_seq; later ones are put onto pages by whoever looks next.
page_tree = Table(
    "page_tree",
    metadata,
    agent_column(),
    Column("version", BigInteger, nullable=False, server_default=_ZERO),
    Column("segments", Json, nullable=False, server_default=text("'[]'")),
    Column("settled_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("interactions", BigInteger, nullable=False, server_default=_ZERO),
    Column("next_place", BigInteger, nullable=False, server_default=text("1")),
    Column("archive", Text),
    Column("notice", ARRAY(Text), nullable=False, server_default=_EMPTY),
    Column("last_step", BigInteger, nullable=False, server_default=_ZERO),
    postgresql_with={"fillfactor": 50},
)

page = Table(
    "page",
    metadata,
    agent_column(),
    Column("id", Text, primary_key=True),  # its index, as the agent knows it
    Column("kind", Text, nullable=False),
    Column("segment", Text, nullable=False),
    Column("parent", Text),
    Column("place", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("expanded", Boolean, nullable=False),
    Column("cold", Boolean, nullable=False, server_default=false()),
    Column("managed", Boolean, nullable=False, server_default=false()),
    Column("named", Boolean, nullable=False, server_default=false()),
    Column("summarized", Boolean, nullable=False, server_default=false()),
    Column("pinned_by", Text),  # agent or developer; none: it is not pinned
    # Of an interaction's page: which messages it shows (P6); number 0: a system message.
    Column("first_seq", BigInteger),
    Column("last_seq", BigInteger),
    Column("session_id", Text),
    Column("number", BigInteger),
    Column("answered", Boolean),
    Column("entries", ARRAY(Text), nullable=False, server_default=_EMPTY),
    # Of a note: the version of its text in the page store (P14).
    Column("text_version", BigInteger),
    Column("recalls", Integer, nullable=False, server_default=_ZERO),
    Column("recalled_at", BigInteger, nullable=False, server_default=_ZERO),
    Column("entered_at", BigInteger, nullable=False, server_default=_ZERO),
    Column("archived_at", BigInteger, nullable=False, server_default=_ZERO),
    Column("opened_at", BigInteger, nullable=False, server_default=_ZERO),
    # The key of another session than its own whose window shows it (P9).
    Column("chapter", Text, nullable=False, server_default=text("''")),
    # In whose sessions alone it is seen; none: in all.
    Column("user_id", Text),
    # About what its messages or its text take where they are shown; 0: not known.
    Column("content_tokens", Integer, nullable=False, server_default=_ZERO),
    # What lies in a folder, and of the conversation what belongs to a session.
    Index("page_living", "agent_id", "parent", "session_id", postgresql_where=text("NOT cold")),
    Index("page_inside", "agent_id", "parent",
          postgresql_where=text("cold AND parent IS NOT NULL")),
    # What was removed, in that order.
    Index("page_removed", "agent_id", "place",
          postgresql_where=text("cold AND parent IS NULL")),
    # Finds what a session's next message goes on from.
    Index("page_span", "agent_id", "session_id", "last_seq",
          postgresql_where=text("first_seq IS NOT NULL")),
    # What the summarizer has still to name, the newest first.
    Index("page_unnamed", "agent_id", "number",
          postgresql_where=text("number > 0 AND NOT (named AND summarized)")),
    # What somebody wrote, removed or not: a search looks into it.
    Index("page_written", "agent_id", postgresql_where=text("first_seq IS NULL")),
    postgresql_with={"fillfactor": 70},
)  # fmt: skip

# The page store that is used unless another is named (P14).
page_text = Table(
    "page_text",
    metadata,
    agent_column(),
    Column("page_id", Text, primary_key=True),
    Column("version", BigInteger, primary_key=True),
    Column("text", Text, nullable=False),
    made_at(),
)

# What is pinned (R7): a text, or a message's; both are empty once it is taken down. Of what the
# detector pinned the message stays known: it is not pinned again.
pin = Table(
    "pin",
    metadata,
    agent_column(),
    Column("number", BigInteger, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("message_seq", BigInteger),
    # Which part of the message's text, [start, end) in characters; none: all of it.
    Column("span_start", Integer),
    Column("span_end", Integer),
    Column("pinned_by", Text, nullable=False),
    # In whose sessions alone it is shown; none: in all.
    Column("user_id", Text),
    made_at(),
    Column("unpinned_at", Instant),
)

page_step = Table(
    "page_step",
    metadata,
    agent_column(),
    Column("number", BigInteger, primary_key=True),
    Column("operations", ARRAY(Text), nullable=False),
    # Each page as it was and as it became, by field; without texts that come from messages.
    Column("changes", Json, nullable=False),
    Column("undone", Boolean, nullable=False, server_default=false()),
    # In whose sessions it can be undone; none: in those of no user.
    Column("user_id", Text),
    made_at(),
    Index("page_step_whose", "agent_id", "user_id", "number"),
)
