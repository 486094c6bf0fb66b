"""The page tree (page-tree.md): pages, what notes say, and the steps that can be undone."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.pages.page import PageKind
from memci.domain.pages.permission import Actor
from memci.domain.pages.pins import Maker
from memci.language.key_messages.rules import PinKind
from memci.storage.schema import value_types
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

# One row an agent, which every change of its pages locks (P16). Pages contain the messages up to
# settled_seq; the next reader puts later ones onto pages.
page_tree = agent_table(
    "page_tree",
    counter("version", holds=value_types.Positive),
    required("segments", Json, "'[]'", holds=value_types.Segments),
    counter("settled_seq", at_most="lane.message_seq"),
    counter("interactions"),
    required("next_place", sa.BigInteger, "1"),
    optional("archive", sa.Text, holds=value_types.PageIndex),
    required("notice", ARRAY(sa.Text), "'{}'", holds=list[value_types.PageIndex]),
    counter("last_step"),
    storage={"fillfactor": 50},
    # At version 0 it is only a lock.
    exported="version > 0",
    outlives="version = 0",
)

page = agent_table(
    "page",
    key("id", sa.Text, holds=value_types.PageIndex),  # its index, as the agent knows it
    required("kind", sa.Text, holds=PageKind),
    required("segment", sa.Text, holds=value_types.SegmentId),
    optional("parent", sa.Text, holds=value_types.PageIndex),
    required("place", sa.BigInteger, at_most="page_tree.next_place - 1"),
    required("name", sa.Text, holds=value_types.PageName),
    required("description", sa.Text, holds=value_types.PageDescription),
    required("expanded", sa.Boolean),
    required("cold", sa.Boolean, "false"),
    required("managed", sa.Boolean, "false"),
    required("named", sa.Boolean, "false"),
    required("summarized", sa.Boolean, "false"),
    optional("pinned_by", sa.Text, holds=Actor),  # null: it is not pinned
    # Of an interaction's page: the messages that it shows (P6); number 0: a system message.
    optional("first_seq", sa.BigInteger),
    optional("last_seq", sa.BigInteger, at_most="page_tree.settled_seq"),
    optional("session_id", sa.Text),
    optional("number", sa.BigInteger, at_most="page_tree.interactions"),
    optional("answered", sa.Boolean),
    required("entries", ARRAY(sa.Text), "'{}'", holds=list[value_types.PageEntry]),
    # Of a note: the version of its text in the page store (P14).
    optional("text_version", sa.BigInteger, holds=value_types.TextVersion),
    required("recalls", sa.Integer, "0"),
    counter("recalled_at"),
    counter("entered_at"),
    counter("archived_at"),
    counter("opened_at"),
    # The key of another session whose window shows it (P9).
    required("chapter", sa.Text, "''", holds=value_types.SessionKey),
    # The user in whose sessions alone it is visible; null: in all.
    optional("user_id", sa.Text),
    # The approximate tokens of its messages or text where they are shown; 0: unknown.
    required("content_tokens", sa.Integer, "0"),
    # The pages in a folder, and of the conversation those of a session.
    index("page_living", "parent", "session_id", where="NOT cold"),
    index("page_inside", "parent", where="cold AND parent IS NOT NULL"),
    # Removed pages, in order of removal.
    index("page_removed", "place", where="cold AND parent IS NULL"),
    # Finds the page that a session's next message continues.
    index("page_span", "session_id", "last_seq", where="first_seq IS NOT NULL"),
    # Pages that the summarizer has to name, the newest first.
    index("page_unnamed", "number", where="number > 0 AND NOT (named AND summarized)"),
    # Pages with written words, removed or not: a search reads them.
    index("page_written", where="first_seq IS NULL"),
    storage={"fillfactor": 70},
)

# The default page store (P14).
page_text = agent_table(
    "page_text",
    key("page_id", sa.Text, holds=value_types.PageIndex),
    key("version", sa.BigInteger, holds=value_types.TextVersion),
    required("text", sa.Text, holds=value_types.StoredText),
    moment(local=True),
)

page_step = agent_table(
    "page_step",
    key("number", sa.BigInteger, at_most="page_tree.last_step"),
    required("operations", ARRAY(sa.Text), holds=list[value_types.Operation]),
    # Each page before and after, by field; without texts that come from messages.
    required("changes", Json, holds=value_types.PageChanges),
    required("undone", sa.Boolean, "false"),
    # The user in whose sessions it can be undone; null: in those without a user.
    optional("user_id", sa.Text),
    moment(),
    index("page_step_whose", "user_id", "number"),
)

# Pins (R7): a text, or a message's; both are empty after unpinning. A pin of the detector keeps its
# message, so that it is not pinned again.
pin = agent_table(
    "pin",
    key("number", sa.BigInteger),
    required("kind", sa.Text, holds=PinKind),
    required("text", sa.Text),
    optional("message_seq", sa.BigInteger, references="message.seq", on_erase="set null"),
    # The part of the message's text, [start, end) in characters; null: all of it.
    optional("span_start", sa.Integer),
    optional("span_end", sa.Integer),
    required("pinned_by", sa.Text, holds=Maker),
    # The user in whose sessions alone it is shown; null: in all.
    optional("user_id", sa.Text),
    moment(),
    optional("unpinned_at", Instant),
)
