"""Every table with an agent's rows, and how each gives up what is erased: the one list (M25).

A test holds it against the tables that there are: a table that is not named here fails it.

Statements on erased messages take these values:

``%(agent)s``    the agent
``%(seqs)s``     the messages
``%(nodes)s``    living nodes that go with them, memories and entities
``%(again)s``    messages that stay, and of which memories are made anew
``%(gone)s``     nodes made of them that were forgotten before: links may still tell of them
``%(names)s``    entities that somebody has mentioned, and that go or are named by them alone
``%(named)s``    entities that stay because somebody still names them, and in the same order
``%(named_by)s`` the messages that do so, one for each
``%(session)s``  the session, when all of it goes; else null
``%(said)s``     SHA-256 of what the messages said, as hexadecimal digits
``%(pages)s``    pages that go: of no other messages, or notes that were named
``%(reworded)s`` pages that stay and say something else from now on
``%(pins)s``     texts that are pinned, by their numbers

Arrays may be long, so each stands in ``= ANY`` alone, which PostgreSQL hashes.
"""

from __future__ import annotations

from dataclasses import dataclass

from memci.storage.search_index import RENEW_ABOUT


@dataclass(frozen=True, slots=True)
class Entry:
    """How one table gives up rows.

    ``of_messages``: statements that remove what a table says of erased messages, run in order;
    none, where ``why`` says that there is nothing to remove. ``of_agent``: which rows go with the
    whole agent, as a condition on the table; None, where ``why`` says that they stay.
    """

    table: str
    of_messages: tuple[str, ...] = ()
    of_agent: str | None = "true"
    why: str = ""


def _by(table: str, column: str, value: str) -> str:
    """Return the statement that removes the rows of some messages or nodes."""
    return (
        f"DELETE FROM {table} WHERE agent_id = %(agent)s"  # noqa: S608 - names of this module
        f" AND {column} = ANY(%({value})s::bigint[])"
    )


# The counters of the index (R11b): a message's postings all say how many terms it has.
_COUNT_TERMS = """
UPDATE lane SET indexed_messages = indexed_messages - texts.messages,
                indexed_terms = indexed_terms - texts.terms
FROM (SELECT count(*) AS messages, coalesce(sum(length), 0) AS terms
        FROM (SELECT DISTINCT seq, length FROM message_term
               WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[])) AS each) AS texts
WHERE agent_id = %(agent)s AND texts.messages > 0
"""
# Numbers all, but they would name what is no more.
_FORGET_SEQS = """
UPDATE job SET payload = jsonb_set(payload, '{{{name}}}', coalesce(
    (SELECT jsonb_agg(seq) FROM jsonb_array_elements(payload->'{name}') AS kept(seq)
      WHERE NOT seq::bigint = ANY(%(seqs)s::bigint[])), '[]'))
WHERE agent_id = %(agent)s AND jsonb_typeof(payload->'{name}') = 'array'
  AND EXISTS (SELECT FROM jsonb_array_elements(payload->'{name}') AS named(seq)
               WHERE seq::bigint = ANY(%(seqs)s::bigint[]))
"""
# Those that do not say what they speak of are from before they did. A receipt of an erasure
# itself is what remains of it.
_RECEIPTS = """
DELETE FROM receipt WHERE agent_id = %(agent)s AND kind <> 'erasure'
  AND (seqs IS NULL OR session_id = %(session)s OR body->>'query_sha256' = ANY(%(said)s)
       OR EXISTS (SELECT FROM unnest(seqs) AS named(seq) WHERE seq = ANY(%(seqs)s::bigint[])))
"""
_VERSIONS = """
DELETE FROM node_version WHERE agent_id = %(agent)s
  AND EXISTS (SELECT FROM unnest(message_seqs) AS named(seq) WHERE seq = ANY(%(seqs)s::bigint[]))
"""
# Of memories that go, and of those that were merged into living ones, there were no versions, and
# they took no one's place: messages of theirs that stay are remembered again. What was forgotten is
# not, so there it still counts what the others said.
_REPLACED = """
WITH RECURSIVE merged AS (
    SELECT id FROM unnest(%(nodes)s::bigint[]) AS each(id)
     UNION
    SELECT v.node_id FROM node_version v JOIN merged ON v.replaced_by = merged.id
     WHERE v.agent_id = %(agent)s AND v.reason = 'merged'),
going AS (
    SELECT id FROM merged UNION ALL SELECT id FROM unnest(%(gone)s::bigint[]) AS each(id))
DELETE FROM node_version WHERE agent_id = %(agent)s
  AND (node_id IN (SELECT id FROM going) OR replaced_by IN (SELECT id FROM going))
"""
# What was superseded by a memory that goes is believed again (R6), unless another did so too.
_HOLDS_AGAIN = """
UPDATE node SET (superseded_by, superseded_at) = (
    SELECT v.replaced_by, v.until FROM node_version v
     WHERE v.agent_id = node.agent_id AND v.node_id = node.id AND v.reason = 'superseded'
     ORDER BY v.until, v.replaced_by LIMIT 1)
WHERE agent_id = %(agent)s AND (superseded_by = ANY(%(nodes)s::bigint[])
                                OR superseded_by = ANY(%(gone)s::bigint[]))
"""
# An entity that stays is one of the message that still names it, not of one that is no more: it is
# never left without any, or it would be its agent's own. Its trail tells the same, should it be
# forgotten before that message is erased, too.
_NAMED_BY = """
WITH kept AS (
    UPDATE node SET message_seqs = ARRAY(
        SELECT seq FROM unnest(node.message_seqs || named.by) AS origin(seq)
         WHERE NOT seq = ANY(%(seqs)s::bigint[]) GROUP BY seq ORDER BY seq)
      FROM unnest(%(named)s::bigint[], %(named_by)s::bigint[]) AS named(id, by)
     WHERE node.agent_id = %(agent)s AND node.id = named.id
       AND EXISTS (SELECT FROM unnest(node.message_seqs) AS origin(seq)
                    WHERE seq = ANY(%(seqs)s::bigint[]))
    RETURNING node.id, node.message_seqs)
UPDATE trail SET details = jsonb_set(details, '{messages}', to_jsonb(kept.message_seqs))
  FROM kept WHERE trail.agent_id = %(agent)s AND trail.node_id = kept.id AND event = 'created'
"""
# What is remembered anew is so by a job of its own, which the log will name.
_NOT_REPLAYED = """
UPDATE replay_log SET seqs = ARRAY(
    SELECT seq FROM unnest(seqs) AS kept(seq)
    WHERE NOT seq = ANY(%(seqs)s::bigint[]) AND NOT seq = ANY(%(again)s::bigint[]) ORDER BY seq)
WHERE agent_id = %(agent)s AND event = 'created'
  AND seqs && (%(seqs)s::bigint[] || %(again)s::bigint[])
"""
_NOT_RESTORED = """
DELETE FROM replay_log WHERE agent_id = %(agent)s AND event = 'restored'
  AND seqs && (%(seqs)s::bigint[] || %(again)s::bigint[])
"""
_NOT_MENTIONED = """
DELETE FROM replay_log WHERE agent_id = %(agent)s AND event = 'mentioned'
  AND details->>'entity' = ANY(%(names)s::text[])
"""
# Its name goes with the last message of a session.
_ENDED = """
DELETE FROM session_end WHERE agent_id = %(agent)s AND NOT EXISTS (
    SELECT FROM message m WHERE m.agent_id = %(agent)s AND m.session_id = session_end.session_id
    AND NOT m.seq = ANY(%(seqs)s::bigint[]))
"""
# What was said cannot be taken out of what sums it up: that is made anew of what is left. What was
# counted towards the next one is counted anew, too.
_GONE_OF_SESSIONS = """
(SELECT coalesce(m.session_id, '') AS session, min(m.seq) AS first FROM message m
  WHERE m.agent_id = %(agent)s AND m.seq = ANY(%(seqs)s::bigint[]) GROUP BY 1) AS gone
"""
_SUMMARIES = f"""
DELETE FROM summary USING {_GONE_OF_SESSIONS}
WHERE agent_id = %(agent)s AND session_id = gone.session AND through_seq >= gone.first
"""  # noqa: S608 - a constant of this module
_COUNT_ANEW = f"""
UPDATE summary SET counted_seq = through_seq, counted_tokens = 0 FROM {_GONE_OF_SESSIONS}
WHERE agent_id = %(agent)s AND session_id = gone.session AND counted_seq >= gone.first
"""  # noqa: S608 - a constant of this module
# Its name goes with the last message of a session.
_UNSAID = """
DELETE FROM summary WHERE agent_id = %(agent)s AND session_id <> '' AND NOT EXISTS (
    SELECT FROM message m WHERE m.agent_id = %(agent)s AND m.session_id = summary.session_id
    AND NOT m.seq = ANY(%(seqs)s::bigint[]))
"""
# The place of a forgotten memory's text is known in all its messages alone.
_NOT_TO_RESTORE = """
UPDATE job SET payload = jsonb_set(payload - '{quoted,parts}'::text[], '{seqs}', '[]')
WHERE agent_id = %(agent)s AND payload ?| '{span,quoted,parts}'
  AND jsonb_typeof(payload->'seqs') = 'array'
  AND EXISTS (SELECT FROM jsonb_array_elements(payload->'seqs') AS named(seq)
               WHERE seq::bigint = ANY(%(seqs)s::bigint[]))
"""
# What was undone or redone would bring back names that pages have no more.
_STEPS = """
DELETE FROM page_step WHERE agent_id = %(agent)s AND EXISTS (
    SELECT FROM jsonb_array_elements(changes) AS change
     WHERE change->>'index' = ANY(%(pages)s::text[])
        OR change->>'index' = ANY(%(reworded)s::text[]))
"""
# What it says of them, and what segments are called after their roots.
_TREE = """
UPDATE page_tree SET version = version + 1, notice = array(
        SELECT index FROM unnest(notice) WITH ORDINALITY AS told(index, place)
         WHERE NOT index = ANY(%(pages)s::text[]) ORDER BY place),
    segments = coalesce((SELECT jsonb_agg(
        CASE WHEN segment->>'id' || '-0' = ANY(%(reworded)s::text[])
             THEN jsonb_set(segment, '{name}', '""') ELSE segment END ORDER BY place)
        FROM jsonb_array_elements(segments) WITH ORDINALITY AS each(segment, place)), '[]')
WHERE agent_id = %(agent)s AND version > 0
    AND cardinality(%(pages)s::text[] || %(reworded)s::text[]) > 0
"""
_PAGES = "DELETE FROM page WHERE agent_id = %(agent)s AND id = ANY(%(pages)s::text[])"
# Other page stores give them up when this is committed.
_BODIES = "DELETE FROM page_text WHERE agent_id = %(agent)s AND page_id = ANY(%(pages)s::text[])"
# Its number is not given again. Of what the detector pinned the message is known when it was taken
# down, too.
PINNED_OF_MESSAGES = "message_seq = ANY(%(seqs)s::bigint[])"
_PINS = f"""
UPDATE pin SET text = '', message_seq = NULL, span_start = NULL, span_end = NULL, user_id = NULL,
    unpinned_at = coalesce(unpinned_at, now())
WHERE agent_id = %(agent)s AND ({PINNED_OF_MESSAGES}
    OR number = ANY(%(pins)s::bigint[]) AND unpinned_at IS NULL)
"""  # noqa: S608 - a constant of this module
# A plan goes with the message that made it, and a step with that whose words it is; how far others
# have come stays, in numbers.
STEPS_OF_MESSAGES = "(made_seq = ANY(%(seqs)s::bigint[]) OR said_seq = ANY(%(seqs)s::bigint[]))"
_PLAN_STEPS = f"DELETE FROM plan_step WHERE agent_id = %(agent)s AND {STEPS_OF_MESSAGES}"  # noqa: S608
_NO_STEPS = """
DELETE FROM plan WHERE agent_id = %(agent)s AND NOT EXISTS (
    SELECT FROM plan_step s WHERE s.agent_id = plan.agent_id AND s.made_seq = plan.made_seq)
"""
# A framework calls a conversation a thread: that of the session's name is the same one.
OF_THREAD = "thread = %(session)s"
_THREADS = f"DELETE FROM {{table}} WHERE agent_id = %(agent)s AND {OF_THREAD}"  # noqa: S608
_NUMBERS = "ids and numbers alone"
# Somebody has sent them as files, and removes them as such.
_OF_FILES = "made of documents, and not of messages"


def _threads(table: str) -> tuple[str, ...]:
    return (_THREADS.format(table=table),)


# What is looked at to find rows of other tables comes after them.
REGISTRY: tuple[Entry, ...] = (
    Entry("message_term", (_COUNT_TERMS, _by("message_term", "seq", "seqs"))),
    Entry("message_vector", (_by("message_vector", "seq", "seqs"),)),
    # Their neighbours must not go on meaning what they said.
    Entry("message_around", (RENEW_ABOUT, _by("message_around", "seq", "seqs"))),
    Entry("node_term", (_by("node_term", "node_id", "nodes"),)),
    Entry("node_vector", (_by("node_vector", "node_id", "nodes"),)),
    Entry(
        "link",
        (_by("link", "source", "nodes"), _by("link", "target", "nodes"),
         _by("link", "target", "gone")),
    ),
    Entry("focus", (_by("focus", "node_id", "nodes"),)),
    Entry("claim", (_by("claim", "node_id", "nodes"), _by("claim", "seq", "seqs"))),
    Entry("replay_log", (_NOT_REPLAYED, _NOT_RESTORED, _NOT_MENTIONED)),
    Entry("node_version", (_REPLACED, _VERSIONS)),
    Entry("node", (_HOLDS_AGAIN, _NAMED_BY, _by("node", "id", "nodes"))),
    Entry("session_end", (_ENDED,)),
    Entry("summary", (_SUMMARIES, _COUNT_ANEW, _UNSAID)),
    Entry("trail", why=_NUMBERS),
    Entry("pass_log", why=_NUMBERS),
    Entry("edition", why="numbers; a network that is rebuilt is dropped at any erasure"),
    Entry("pass_snapshot", why=_NUMBERS),
    Entry("agent_setting", why=_NUMBERS),
    Entry("model_usage", why="names of models, and numbers"),
    Entry("receipt", (_RECEIPTS,), of_agent="kind <> 'erasure'"),
    Entry("letter", why="bytes: the erasure reads them, and drops those that hold a message"),
    Entry(
        "job",
        (_NOT_TO_RESTORE, *(_FORGET_SEQS.format(name=name) for name in ("seqs", "wanted"))),
    ),
    Entry("pin", (_PINS,)),
    Entry("plan_step", (_PLAN_STEPS,)),
    Entry("plan", (_NO_STEPS,)),
    Entry("tracking", why=_NUMBERS),
    Entry("page_step", (_STEPS,)),
    Entry("page_tree", (_TREE,), of_agent="version > 0", why="else it is only locked"),
    Entry("page_text", (_BODIES,)),
    Entry("page", (_PAGES,)),
    Entry("item", why="of no message: what a program has put there, and takes away itself"),
    Entry("checkpoint", _threads("checkpoint")),
    Entry("checkpoint_value", _threads("checkpoint_value")),
    Entry("checkpoint_write", _threads("checkpoint_write")),
    Entry("chunk_term", why=_OF_FILES),
    Entry("chunk_vector", why=_OF_FILES),
    Entry("chunk", why=_OF_FILES),
    Entry("document_body", why=_OF_FILES),
    Entry("document", why=_OF_FILES),
    Entry("message", (_by("message", "seq", "seqs"),)),
    Entry("erased_message", of_agent=None, why="tombstones, without content"),
    Entry("lane", of_agent=None, why="ids never come back: its counters go on"),
)  # fmt: skip
