"""Tables of the memory network: nodes, links, focus, claims, histories, passes, editions."""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.memory.network_edition import ReplayEvent
from memci.domain.memory.node import NodeEvent, NodeKind, NodeTier, NodeType, VersionReason
from memci.language.detection import Language
from memci.storage.schema import archive_values, columns

_NUMBERS = "ids and numbers alone"

node = columns.agent_table(
    "node",
    columns.key("id", sa.BigInteger, at_most="lane.last_node_id"),
    columns.required("slot", sa.BigInteger),
    columns.required("kind", sa.Text, holds=NodeKind),
    columns.required("type", sa.Text, holds=NodeType),
    columns.required("content", sa.Text),
    columns.required("original_length", sa.Integer),
    columns.required("phrase", sa.Text),
    columns.required("keywords", ARRAY(sa.Text)),
    columns.required("language", sa.Text, holds=Language),
    # The case-folded name of an entity; identifies its one living node.
    columns.optional("entity_key", sa.Text),
    columns.required("worth", sa.Double, "0", holds=archive_values.Worth),
    columns.required("message_seqs", ARRAY(sa.BigInteger)),
    columns.optional("session_id", sa.Text),
    columns.optional("user_id", sa.Text),
    # When the content of a memory was said; null for an entity.
    columns.optional("said_at", columns.Instant),
    # short or long (R3); a short-term memory is judged again when its term ends (R5).
    columns.required("tier", sa.Text, "'long'", holds=NodeTier),
    columns.optional("expires_at", columns.Instant),
    # When a reason kept it at the end of its short term; whether it was compared with others.
    columns.optional("promoted_at", columns.Instant),
    columns.required("compared", sa.Boolean, "false"),
    # The memory that contradicts it now, and since when (R6).
    columns.optional("superseded_by", sa.BigInteger, at_most="lane.last_node_id"),
    columns.optional("superseded_at", columns.Instant),
    columns.counter("scan_count"),
    columns.counter("last_pass", at_most="lane.pass_number"),
    # Small-model calls of the present compression (M13), in which pass, and when to retry.
    columns.required("attempts", sa.Integer, "0"),
    columns.optional("retry_at", columns.Instant),
    columns.moment(),
    # The speaker's UTC offset in minutes; null: UTC.
    columns.optional("said_offset", sa.SmallInteger),
    # It does not fade: a person added, corrected or pinned it.
    columns.required("pinned", sa.Boolean, "false"),
)

# Only of memories, like node_term: an entity is found by its name.
node_vector = columns.agent_table(
    "node_vector",
    columns.key("node_id", sa.BigInteger, references="node.id"),
    columns.required("embedding", HALFVEC()),
    columns.required("model", sa.Text),
)

node_term = columns.agent_table(
    "node_term",
    columns.key("term", sa.Text),
    columns.key("node_id", sa.BigInteger, references="node.id"),
    columns.required("tf", sa.Integer, holds=archive_values.Frequency),
    columns.required("length", sa.Integer),
)

# A link belongs to its source; its target may be removed, and then it dangles (M14, M15).
link = columns.agent_table(
    "link",
    columns.key("source", sa.BigInteger, references="node.id"),
    columns.key(
        "target", sa.BigInteger, references="node.id", dangling=True, at_most="lane.last_node_id"
    ),
    columns.required("relation", sa.Text),
    columns.required("strength", sa.Double, holds=archive_values.Strength),
    columns.required("hint", sa.Text),
)

focus = columns.agent_table(
    "focus",
    columns.key("node_id", sa.BigInteger, references="node.id"),
    # The value of lane.mentions at the last mention: the least is evicted first (M5).
    columns.required("mentioned", sa.BigInteger, at_most="lane.mentions"),
)

# Parts of memories that hold no more, as a message of another memory tells (R6). They remain after
# both memories are forgotten: messages are found, too.
ended_fact = columns.agent_table(
    "ended_fact",
    columns.key("node_id", sa.BigInteger, at_most="lane.last_node_id"),
    columns.key("replaced_by", sa.BigInteger, at_most="lane.last_node_id"),
    columns.key("told_by", sa.BigInteger, references="message.seq"),
    columns.required("seqs", ARRAY(sa.BigInteger), references="message.seq"),
    columns.required("parts", ARRAY(sa.Text)),
    columns.required("until", columns.Instant),
)

# Memories as they were when another replaced them: merged (R5) or superseded (R6). They remain
# after both are forgotten; an erasure deletes them by node or by message.
node_version = columns.agent_table(
    "node_version",
    columns.key("node_id", sa.BigInteger, at_most="lane.last_node_id"),
    columns.key("replaced_by", sa.BigInteger, at_most="lane.last_node_id"),
    columns.required("reason", sa.Text, holds=VersionReason),
    columns.required("content", sa.Text),
    columns.required("phrase", sa.Text),
    columns.required("keywords", ARRAY(sa.Text)),
    columns.required("language", sa.Text, holds=Language),
    columns.required("type", sa.Text, holds=NodeType),
    columns.required("message_seqs", ARRAY(sa.BigInteger), references="message.seq"),
    columns.optional("session_id", sa.Text),
    columns.optional("user_id", sa.Text),
    columns.optional("said_at", columns.Instant),
    # Of a superseded one: since when the other is valid.
    columns.optional("until", columns.Instant),
    columns.moment("replaced_at"),
    columns.optional("said_offset", sa.SmallInteger),
)

trail = columns.agent_table(
    "trail",
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    columns.required("node_id", sa.BigInteger, at_most="lane.last_node_id"),
    columns.required("event", sa.Text, holds=NodeEvent),
    columns.required("pass_number", sa.BigInteger),
    columns.required("details", columns.Json),
    columns.moment("at"),
    no_content=_NUMBERS,
)

# The events that made the network, in order; jobs are pruned, but not these. No text, except the
# names of mentioned entities.
replay_log = columns.agent_table(
    "replay_log",
    sa.Column("place", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    columns.required("event", sa.Text, holds=ReplayEvent),
    columns.optional("job_id", sa.Uuid),
    # The messages of a creation, in its order.
    columns.required("seqs", ARRAY(sa.BigInteger), "'{}'"),
    columns.counter("pass_number"),
    # Of a pass: how many nodes it scanned before the next event, and whether it ended then.
    columns.counter("scanned"),
    columns.required("ended", sa.Boolean, "false"),
    columns.required("details", columns.Json, "'{}'"),
    columns.moment("at"),
)

pass_log = columns.agent_table(
    "pass_log",
    columns.key("number", sa.BigInteger, at_most="lane.pass_number"),
    # The position in the messages at which it ran (M18).
    columns.required("message_seq", sa.BigInteger),
    columns.moment("started_at"),
    columns.optional("finished_at", columns.Instant),
    *columns.counters("scanned", "compressed", "forgotten", "broken", "given_up"),
    # The usage of language models.
    columns.optional("models", columns.Json, holds=archive_values.ModelUses),
    no_content=_NUMBERS,
)

# The network after a pass: ids and numbers, no text. Arrays of one kind are parallel.
pass_snapshot = columns.agent_table(
    "pass_snapshot",
    columns.key("number", sa.BigInteger, at_most="lane.pass_number"),
    columns.moment("taken_at"),
    # Nodes, ascending; which of them are entities, and which focus points, latest mention first.
    columns.required("node_ids", ARRAY(sa.BigInteger)),
    columns.required("lengths", ARRAY(sa.Integer)),
    columns.required("original_lengths", ARRAY(sa.Integer)),
    columns.required("importances", ARRAY(sa.REAL)),
    columns.required("entities", ARRAY(sa.BigInteger)),
    columns.required("focus", ARRAY(sa.BigInteger)),
    # Links, ascending by source and target.
    columns.required("sources", ARRAY(sa.BigInteger)),
    columns.required("targets", ARRAY(sa.BigInteger)),
    columns.required("strengths", ARRAY(sa.REAL)),
    no_content=_NUMBERS,
)

edition = columns.agent_table(
    "edition",
    columns.key("number", sa.BigInteger),
    columns.required("state", sa.Text),
    columns.optional("up_to_seq", sa.BigInteger),
    # Positions in the replay log: its end when this edition was begun, the first entry that takes a
    # message after up_to_seq, and the last replayed entry with the progress in it.
    columns.required("begun_at", sa.BigInteger),
    columns.optional("cut_at", sa.BigInteger),
    columns.counter("place"),
    columns.counter("scanned"),
    columns.required("settled", sa.Boolean, "true"),
    columns.moment(),
    columns.optional("finished_at", columns.Instant),
    left_out="a network that is rebuilt beside the current one: rebuild it anew",
    no_content="numbers; a network that is rebuilt is dropped at any erasure",
)

# The schema of the tables of a rebuilt network, until it is switched to or dropped.
EDITION_SCHEMA = "memci_edition"
# The same tables again, in that schema: statements find them by the search path.
EDITION_TABLES = (
    node,
    node_vector,
    node_term,
    link,
    focus,
    ended_fact,
    node_version,
    trail,
    pass_log,
    replay_log,
)
for _table in EDITION_TABLES:
    _table.to_metadata(columns.metadata, schema=EDITION_SCHEMA)
