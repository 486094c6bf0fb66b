"""The page tree (page-tree.md): pages, what notes say, and the steps that can be undone."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.pages.page import PageKind
from memci.domain.pages.permission import Actor
from memci.domain.pages.pins import Maker
from memci.language.key_messages.rules import PinKind
from memci.storage.schema import values
from memci.storage.schema.columns import (
    Instant,
    Json,
    agent_table,
    counter,
    index,
    key,
    moment,
    optional,
    required,
)

# One row an agent, which every change of its pages locks (P16). Pages hold the messages up to
# settled_seq; later ones are put onto pages by whoever looks next.
page_tree = agent_table(
    "page_tree",
    counter("version", holds=values.Positive),
    required("segments", Json, "'[]'", holds=values.Segments),
    counter("settled_seq", at_most="lane.message_seq"),
    counter("interactions"),
    required("next_place", sa.BigInteger, "1"),
    optional("archive", sa.Text, holds=values.PageIndex),
    required("notice", ARRAY(sa.Text), "'{}'", holds=list[values.PageIndex]),
    counter("last_step"),
    storage={"fillfactor": 50},
    # Of version 0 it is only locked.
    exported="version > 0",
    outlives="version = 0",
)

page = agent_table(
    "page",
    key("id", sa.Text, holds=values.PageIndex),  # its index, as the agent knows it
    required("kind", sa.Text, holds=PageKind),
    required("segment", sa.Text, holds=values.SegmentId),
    optional("parent", sa.Text, holds=values.PageIndex),
    required("place", sa.BigInteger, at_most="page_tree.next_place - 1"),
    required("name", sa.Text, holds=values.PageName),
    required("description", sa.Text, holds=values.PageDescription),
    required("expanded", sa.Boolean),
    required("cold", sa.Boolean, "false"),
    required("managed", sa.Boolean, "false"),
    required("named", sa.Boolean, "false"),
    required("summarized", sa.Boolean, "false"),
    optional("pinned_by", sa.Text, holds=Actor),  # none: it is not pinned
    # Of an interaction's page: which messages it shows (P6); number 0: a system message.
    optional("first_seq", sa.BigInteger),
    optional("last_seq", sa.BigInteger, at_most="page_tree.settled_seq"),
    optional("session_id", sa.Text),
    optional("number", sa.BigInteger, at_most="page_tree.interactions"),
    optional("answered", sa.Boolean),
    required("entries", ARRAY(sa.Text), "'{}'", holds=list[values.PageEntry]),
    # Of a note: the version of its text in the page store (P14).
    optional("text_version", sa.BigInteger, holds=values.TextVersion),
    required("recalls", sa.Integer, "0"),
    counter("recalled_at"),
    counter("entered_at"),
    counter("archived_at"),
    counter("opened_at"),
    # The key of another session than its own whose window shows it (P9).
    required("chapter", sa.Text, "''", holds=values.SessionKey),
    # In whose sessions alone it is seen; none: in all.
    optional("user_id", sa.Text),
    # About what its messages or its text take where they are shown; 0: not known.
    required("content_tokens", sa.Integer, "0"),
    # What lies in a folder, and of the conversation what belongs to a session.
    index("page_living", "parent", "session_id", where="NOT cold"),
    index("page_inside", "parent", where="cold AND parent IS NOT NULL"),
    # What was removed, in that order.
    index("page_removed", "place", where="cold AND parent IS NULL"),
    # Finds what a session's next message goes on from.
    index("page_span", "session_id", "last_seq", where="first_seq IS NOT NULL"),
    # What the summarizer has still to name, the newest first.
    index("page_unnamed", "number", where="number > 0 AND NOT (named AND summarized)"),
    # What somebody wrote, removed or not: a search looks into it.
    index("page_written", where="first_seq IS NULL"),
    storage={"fillfactor": 70},
)

# The page store that is used unless another is named (P14).
page_text = agent_table(
    "page_text",
    key("page_id", sa.Text, holds=values.PageIndex),
    key("version", sa.BigInteger, holds=values.TextVersion),
    required("text", sa.Text, holds=values.StoredText),
    moment(local=True),
)

page_step = agent_table(
    "page_step",
    key("number", sa.BigInteger, at_most="page_tree.last_step"),
    required("operations", ARRAY(sa.Text), holds=list[values.Operation]),
    # Each page as it was and as it became, by field; without texts that come from messages.
    required("changes", Json, holds=values.PageChanges),
    required("undone", sa.Boolean, "false"),
    # In whose sessions it can be undone; none: in those of no user.
    optional("user_id", sa.Text),
    moment(),
    index("page_step_whose", "user_id", "number"),
)

# What is pinned (R7): a text, or a message's; both are empty once it is taken down. Of what the
# detector pinned the message stays known: it is not pinned again.
pin = agent_table(
    "pin",
    key("number", sa.BigInteger),
    required("kind", sa.Text, holds=PinKind),
    required("text", sa.Text),
    optional("message_seq", sa.BigInteger, references="message.seq", on_erase="set null"),
    # Which part of the message's text, [start, end) in characters; none: all of it.
    optional("span_start", sa.Integer),
    optional("span_end", sa.Integer),
    required("pinned_by", sa.Text, holds=Maker),
    # In whose sessions alone it is shown; none: in all.
    optional("user_id", sa.Text),
    moment(),
    optional("unpinned_at", Instant),
)
