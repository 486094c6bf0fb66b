"""The page tree (page-tree.md): pages, what notes say, and the steps that can be undone."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.pages.page import PageKind
from memci.domain.pages.permission import Actor
from memci.domain.pages.pins import Maker, PinKind
from memci.storage.schema import archive_values, columns

# One row an agent, which every change of its pages locks (P16). Pages contain the messages up to
# settled_seq; the next reader puts later ones onto pages.
page_tree = columns.agent_table(
    "page_tree",
    columns.counter("version", holds=archive_values.Positive),
    columns.required("segments", columns.Json, "'[]'", holds=archive_values.Segments),
    columns.counter("settled_seq", at_most="lane.message_seq"),
    columns.counter("interactions"),
    columns.required("next_place", sa.BigInteger, "1"),
    columns.optional("archive", sa.Text, holds=archive_values.PageIndex),
    columns.required("notice", ARRAY(sa.Text), "'{}'", holds=list[archive_values.PageIndex]),
    columns.counter("last_step"),
    # At version 0 it is only a lock.
    exported="version > 0",
    outlives="version = 0",
)

page = columns.agent_table(
    "page",
    columns.key("id", sa.Text, holds=archive_values.PageIndex),  # its index, as the agent knows it
    columns.required("kind", sa.Text, holds=PageKind),
    columns.required("segment", sa.Text, holds=archive_values.SegmentId),
    columns.optional("parent", sa.Text, holds=archive_values.PageIndex),
    columns.required("place", sa.BigInteger, at_most="page_tree.next_place - 1"),
    columns.required("name", sa.Text, holds=archive_values.PageName),
    columns.required("description", sa.Text, holds=archive_values.PageDescription),
    columns.required("expanded", sa.Boolean),
    columns.required("cold", sa.Boolean, "false"),
    columns.required("managed", sa.Boolean, "false"),
    columns.required("named", sa.Boolean, "false"),
    columns.required("summarized", sa.Boolean, "false"),
    columns.optional("pinned_by", sa.Text, holds=Actor),  # null: it is not pinned
    # Of an interaction's page: the messages that it shows (P6); number 0: a system message.
    columns.optional("first_seq", sa.BigInteger),
    columns.optional("last_seq", sa.BigInteger, at_most="page_tree.settled_seq"),
    columns.optional("session_id", sa.Text),
    columns.optional("number", sa.BigInteger, at_most="page_tree.interactions"),
    columns.optional("answered", sa.Boolean),
    columns.required("entries", ARRAY(sa.Text), "'{}'", holds=list[archive_values.PageEntry]),
    # Of a note: the version of its text in the page store (P14).
    columns.optional("text_version", sa.BigInteger, holds=archive_values.TextVersion),
    columns.required("recalls", sa.Integer, "0"),
    *columns.counters("recalled_at", "entered_at", "archived_at", "opened_at"),
    # The key of another session whose window shows it (P9).
    columns.required("chapter", sa.Text, "''", holds=archive_values.SessionKey),
    # The user in whose sessions alone it is visible; null: in all.
    columns.optional("user_id", sa.Text),
    # The approximate tokens of its messages or text where they are shown; 0: unknown.
    columns.required("content_tokens", sa.Integer, "0"),
)

# The default page store (P14).
page_text = columns.agent_table(
    "page_text",
    columns.key("page_id", sa.Text, holds=archive_values.PageIndex),
    columns.key("version", sa.BigInteger, holds=archive_values.TextVersion),
    columns.required("text", sa.Text, holds=archive_values.StoredText),
    columns.moment(local=True),
)

page_step = columns.agent_table(
    "page_step",
    columns.key("number", sa.BigInteger, at_most="page_tree.last_step"),
    columns.required("operations", ARRAY(sa.Text), holds=list[archive_values.Operation]),
    # Each page before and after, by field; without texts that come from messages.
    columns.required("changes", columns.Json, holds=archive_values.PageChanges),
    columns.required("undone", sa.Boolean, "false"),
    # The user in whose sessions it can be undone; null: in those without a user.
    columns.optional("user_id", sa.Text),
    columns.moment(),
)

# Pins (R7): a text, or a message's; both are empty after unpinning. A pin of the detector keeps its
# message, so that it is not pinned again.
pin = columns.agent_table(
    "pin",
    columns.key("number", sa.BigInteger),
    columns.required("kind", sa.Text, holds=PinKind),
    columns.required("text", sa.Text),
    columns.optional("message_seq", sa.BigInteger, references="message.seq", on_erase="set null"),
    # The part of the message's text, [start, end) in characters; null: all of it.
    columns.optional("span_start", sa.Integer),
    columns.optional("span_end", sa.Integer),
    columns.required("pinned_by", sa.Text, holds=Maker),
    # The user in whose sessions alone it is shown; null: in all.
    columns.optional("user_id", sa.Text),
    columns.moment(),
    columns.optional("unpinned_at", columns.Instant),
)
