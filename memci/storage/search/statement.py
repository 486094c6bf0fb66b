"""The one SQL statement of a search, with its walk over the network (R11, R11b).

The walk begins at the best nodes of the query, entities among them, and at the focus if the
conversation continues. It follows two links. Strength is divided among all links of a node, so that
a node with very many links adds little; the strengths of paths to one node add up.

Each channel materializes its best rows, and the cosines of rows that only other channels found are
looked up. All are grouped by key, and their texts are read row by row. There are no joins of sizes
that the planner would have to guess, numbers are float8 throughout, and unused parts are left out.
The statement consists of constants; all values are bound.
"""

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memci.domain.search.candidate import KEPT, WRITTEN, Source
from memci.storage.search.sources import (
    CHAT,
    CHUNK,
    HIDDEN,
    MEMORY,
    chunk_filters,
    memory_filters,
    message_filters,
    node_filters,
    unindexed_rows,
)

# Restrictions on visibility.
_SIGHT = frozenset({"user", "as_of", "tier"})

_SEED = """
(SELECT key, {channel} / (max({channel}) OVER ()) AS weight FROM memory_{channel}
  WHERE {channel} > 0 ORDER BY {channel} DESC LIMIT %(seeds)s)
"""
_FOCUS = """
(SELECT k.target AS key, %(focus_weight)s::float8 AS weight
   FROM (SELECT agent_id, node_id AS target FROM focus WHERE agent_id = %(agent)s) k {sight})
"""
_STEP = """
SELECT l.key, sum(s.weight * l.strength) AS weight
  FROM {origin} s CROSS JOIN LATERAL (
           SELECT k.target AS key, k.strength / sqrt(count(*) OVER ()) AS strength
             FROM link k {sight} WHERE k.agent_id = %(agent)s AND k.source = s.key
            ORDER BY k.strength DESC, k.target DESC LIMIT %(near)s) l
 GROUP BY l.key ORDER BY weight DESC, l.key DESC LIMIT %(near)s
"""
# Entities are visible to all; the walk does not pass through invisible memories.
_IF_VISIBLE = """
JOIN node m ON m.agent_id = k.agent_id AND m.id = k.target
               AND (m.kind = 'entity' OR true {conditions})
"""
_WALK = """
walk_seed AS MATERIALIZED (
    SELECT key, max(weight) AS weight FROM ({seeds}) each GROUP BY key),
walk_near AS MATERIALIZED ({near_step}),
walk_far AS MATERIALIZED ({far_step}),
memory_linked AS MATERIALIZED (
    SELECT w.key, w.linked
      FROM (SELECT key, sum(weight) AS linked
              FROM (SELECT key, weight FROM walk_near UNION ALL
                    SELECT key, weight * %(decay)s::float8 FROM walk_far) ways GROUP BY key) w
     CROSS JOIN LATERAL (SELECT m.id FROM node m
                          WHERE m.agent_id = %(agent)s AND m.id = w.key AND m.kind = 'memory'
                                {filters} OFFSET 0) m
     ORDER BY w.linked DESC, w.key DESC LIMIT %(best)s)
"""
_SAID = """
chat_linked AS MATERIALIZED (
    SELECT said.key, max(w.linked) AS linked
      FROM (SELECT key, linked FROM memory_linked
             ORDER BY linked DESC, key DESC LIMIT %(linked_memories)s) w
     CROSS JOIN LATERAL (SELECT unnest(n.message_seqs) AS key FROM node n
                          WHERE n.agent_id = %(agent)s AND n.id = w.key OFFSET 0) said
     CROSS JOIN LATERAL (SELECT m.seq FROM message m
                          WHERE m.agent_id = %(agent)s AND m.seq = said.key {filters} OFFSET 0) m
     GROUP BY said.key ORDER BY linked DESC, said.key DESC LIMIT %(best)s)
"""
VALUES = {
    "seeds": 10,  # of each channel
    "near": 60,  # nodes at which the walk starts
    "linked_memories": 30,  # whose messages are candidates, too
    "decay": 0.5,  # of each link beyond the first
    "focus_weight": 0.5,  # relative to 1 for the best of a channel
    "passage_loss": 0.02,  # cosine
}


_SYMBOL = """
{name}_symbol AS MATERIALIZED (
    SELECT m.id AS key FROM chunk m
     WHERE m.agent_id = {owner} AND m.symbol_key = ANY(%(symbols)s) AND m.indexed {filters}
     ORDER BY length(m.symbol), m.id DESC LIMIT 20)
"""

_DENSE = """
{name}_dense AS MATERIALIZED (
    SELECT key, -far AS dense FROM (
        SELECT v.{key} AS key, {embedding} <#> %(vector)s::halfvec AS far
          FROM {table}_vector v {join}
         WHERE v.agent_id = {owner} AND v.model = %(model)s {dimension} {filters} {hidden}
         ORDER BY far LIMIT %(best)s) AS nearest)
"""
# What lies beyond the text that a long message's vector covers. The best of many passages is closer
# than one vector by chance, so they count for a little less.
_PASSAGE = """
chat_passage AS MATERIALIZED (
    SELECT key, max(-far) - %(passage_loss)s::float8 AS dense FROM (
        SELECT v.seq AS key, v.embedding <#> %(vector)s::halfvec AS far
          FROM message_passage v {join}
         WHERE v.agent_id = {owner} AND v.model = %(model)s {filters}
         ORDER BY far LIMIT %(best)s) AS nearest
     GROUP BY key)
"""
# Of the terms, the rarest whose postings are not too many to read; always the rarest one, by its
# newest postings. A term in a fifth of all texts hardly distinguishes them. Postings are read as
# columns: there are thousands of them. How often a frequent term occurs is estimated from its
# newest postings.
_RARE = """
{name}_df AS MATERIALIZED (
    SELECT asked.term, p.total, {df} AS df
      FROM unnest(%(terms)s::text[]) AS asked(term) CROSS JOIN LATERAL (
        SELECT count(*)::float8 AS df, sum(length)::float8 AS total,
               max(key) - min(key) + 1::float8 AS reach
          FROM (SELECT v.length, v.{key} AS key FROM {table}_term v
                 WHERE v.agent_id = {owner} AND v.term = asked.term
                 ORDER BY v.{key} DESC LIMIT {counted}) newest OFFSET 0) p
     WHERE p.df > 0),
{name}_size AS MATERIALIZED ({size}),
{name}_rare AS MATERIALIZED (
    SELECT term, s.length AS mean,
           ln(1 + (greatest(s.texts - df, 0) + 0.5::float8) / (df + 0.5::float8)) AS idf
      FROM (SELECT *, sum(df) OVER (ORDER BY df, term) AS postings FROM {name}_df) ranked
     CROSS JOIN {name}_size s
     WHERE postings <= greatest(%(postings)s::float8, least(s.texts / 5, %(most)s::float8))
           OR postings = df
     ORDER BY df, term LIMIT %(scored)s),
{name}_postings AS MATERIALIZED (
    SELECT r.*, p.* FROM {name}_rare r CROSS JOIN LATERAL (
        SELECT array_agg(key) AS keys, array_agg(tf) AS counts, array_agg(length) AS lengths
               {as_positions}
          FROM (SELECT v.{key} AS key, v.tf, v.length {position} FROM {table}_term v {sight_join}
                 WHERE v.agent_id = {owner} AND v.term = r.term {sight}
                 ORDER BY v.{key} DESC LIMIT {most}) posting
        OFFSET 0) p
     WHERE p.keys IS NOT NULL)
"""
# As often as in the newest texts with the term, which reach back so far. The keys of one agent's
# texts may have gaps.
_ESTIMATE = """
CASE WHEN p.df < %(counted)s THEN p.df
     ELSE greatest(p.df, p.df * (SELECT texts FROM ({size}) whole) / p.reach) END
"""
_LEXICAL = """
{name}_lexical AS MATERIALIZED (
    SELECT v.key,
           sum(r.idf * v.tf * (%(k1)s::float8 + 1)
               / (v.tf + %(k1)s::float8
                         * (1 - %(b)s::float8 + %(b)s::float8 * v.length / r.mean))) AS lexical
           {any_position}
      FROM {name}_postings r
     CROSS JOIN LATERAL unnest(r.keys, r.counts, r.lengths {positions})
                     AS v(key, tf, length {position_name}) {posting_join}
     WHERE true {filters} {posting_hidden}
     GROUP BY v.key ORDER BY lexical DESC, v.key DESC LIMIT %(best)s)
"""
# A message that adds words to its neighbours only has to be visible, not meet the other filters.
_ANCHORS = (
    _LEXICAL.replace("{name}_lexical", "chat_anchors")
    .replace("{posting_join}", "")
    .replace("{filters}", "")
    .replace("%(best)s", "%(anchors)s")
)
_AND_ANCHORS = "UNION SELECT position FROM chat_anchors"
# A message is also found by its neighbours: domain/ scores all of it.
_BY_WORDS = """
SELECT position FROM (SELECT position FROM chat_lexical
                       ORDER BY lexical DESC LIMIT %(anchors)s) best {anchors}
"""
_BY_VECTOR = """
SELECT m.position FROM (SELECT key FROM chat_dense ORDER BY dense DESC LIMIT %(anchors)s) best
 CROSS JOIN LATERAL (SELECT position FROM message
                      WHERE agent_id = %(agent)s AND seq = best.key
                            AND withheld IS NULL OFFSET 0) m
"""
_NEIGHBOURS = """
chat_beside AS MATERIALIZED (
    SELECT n.seq AS key
      FROM ({origins}) o
     CROSS JOIN (VALUES (-2), (-1), (1), (2)) AS away(steps)
     CROSS JOIN LATERAL (SELECT m.seq FROM message m WHERE m.agent_id = %(agent)s
                            AND m.position = o.position + away.steps {filters} OFFSET 0) n)
"""
# Messages of the requested times, regardless of their words: spread evenly over each time, at most
# a share of the candidates for each. Remaining places go to neighbouring times.
_TIMED = """
chat_timed AS MATERIALIZED (
    SELECT key FROM (
        SELECT DISTINCT ON (said.key) said.key, asked.place, said.nth
          FROM unnest(%(begins)s::text[]::timestamptz[], %(ends)s::text[]::timestamptz[],
                      %(asked_sessions)s::text[])
               WITH ORDINALITY AS asked(begins, ends, session, place)
         CROSS JOIN LATERAL (
               SELECT seq AS key, row_number() OVER (ORDER BY said_at DESC, seq DESC) - 1 AS nth,
                      greatest(count(*) OVER (), %(share)s::bigint) AS many
                 FROM (SELECT m.seq, m.said_at FROM message m
                        WHERE m.agent_id = %(agent)s AND m.indexed
                          AND m.said_at >= asked.begins AND m.said_at < asked.ends
                          AND (asked.session IS NULL OR m.session_id = asked.session
                               OR (asked.session = '' AND m.session_id IS NULL)) {filters}
                        ORDER BY m.said_at DESC, m.seq DESC LIMIT %(most_timed)s) newest) said
         -- Those with which the share of them, cut off to a whole number, grows by one.
         WHERE said.nth = 0 OR said.nth * %(share)s::bigint / said.many
                               <> (said.nth - 1) * %(share)s::bigint / said.many
         ORDER BY said.key, asked.place) each
     ORDER BY place, nth LIMIT %(best)s)
"""
# Of the messages of the requested times, those that no other channel has found.
_TIME_ONLY = """
SELECT 'alone', NULL, NULL::float8, NULL::float8, NULL::float8, NULL,
       {nothing}, array_agg(key), NULL::bigint, NULL::integer[], NULL::smallint
  FROM (SELECT key FROM chat_timed {but_others}) alone
"""
# Cosines of the results of other channels, looked up at once.
_COSINE = """
{name}_cosine AS MATERIALIZED (
    SELECT v.{key} AS key, -(v.embedding <#> %(vector)s::halfvec) AS dense FROM {table}_vector v
     WHERE v.agent_id = {owner} AND v.model = %(model)s
       AND v.{key} = ANY(ARRAY(SELECT key FROM ({others}) other)))
"""
_TEXTS = """
SELECT '{name}' AS source, k.key, k.dense, k.lexical, k.linked, t.*
  FROM (SELECT key, max(dense) AS dense, max(lexical) AS lexical, max(linked) AS linked
          FROM ({parts}) each GROUP BY key) k
 CROSS JOIN LATERAL (SELECT {columns} FROM {table} m
                      WHERE m.agent_id = {owner} AND m.{entry} = k.key {where} OFFSET 0) t
"""
_TAIL = """
(SELECT 'tail' AS source, m.seq AS key, NULL::float8 AS dense, NULL::float8 AS lexical,
        NULL::float8 AS linked, {columns}
   FROM message m WHERE m.agent_id = %(agent)s AND NOT m.indexed {filters}
  ORDER BY m.seq DESC LIMIT %(tail)s)
"""
_NOTHING = """NULL, NULL, NULL::jsonb, NULL, NULL::timestamptz"""
_SIZE = f"""
SELECT 'size', NULL, s.texts, s.length, NULL::float8,
       (SELECT json_object_agg(term, df)::text FROM chat_df),
       {_NOTHING}, NULL::bigint[], NULL::bigint, NULL::integer[], NULL::smallint
  FROM chat_size s
"""  # noqa: S608 - constants of this module
_POSTINGS = f"""
SELECT 'postings', NULL, NULL::float8, NULL::float8, NULL::float8, term, {_NOTHING},
       positions, NULL::bigint, counts, NULL::smallint
  FROM chat_postings
"""  # noqa: S608 - constants of this module


def _part(materialized: str, *scores: str) -> str:
    """Return a query that reads the keys and some scores of a materialized query."""
    columns = (
        name if name in scores else f"NULL::float8 AS {name}"
        for name in ("dense", "lexical", "linked")
    )
    return f"SELECT key, {', '.join(columns)} FROM {materialized}"  # noqa: S608 - constants


_TIMED_PART = _part("chat_timed")


@dataclass(frozen=True, slots=True)
class Shape:
    """The parts of a search statement."""

    sources: frozenset[Source]
    restricted: frozenset[str]  # names of ``Restriction.values``
    dense: bool
    lexical: bool
    owners: tuple[str, ...] = ()  # names of the values of owners whose documents are searched
    symbols: bool = False  # the query has names of code
    walks: bool = False  # over links
    focus: bool = False  # … also from the focus
    timed: bool = False  # the query has times
    indexed: int | None = None  # the dimension of messages' vectors, if they have an index
    hides: bool = False  # some messages were corrected or deleted


@functools.lru_cache(maxsize=256)
def search_statement(shape: Shape) -> str:
    """Return the statement of a shape."""
    channels: list[str] = []
    cosines: list[str] = []
    selects: list[str] = []
    for source, owner in _indexes(shape):
        names = _names(source, owner, shape)
        parts = list(_parts(source, shape))
        channels += [channel.format_map(names) for channel, _ in parts if channel]
        found = [part.format_map(names) for _, part in parts]
        time_only = _time_only(part for part in found if part != _TIMED_PART)
        if shape.dense and len(found) > 1:
            others = " UNION ALL ".join(found[1:])
            cosines.append(_COSINE.format_map({**names, "others": others}))
            found.append(_part("{name}_cosine", "dense").format_map(names))
        selects.append(_TEXTS.format_map({**names, "parts": " UNION ALL ".join(found)}))
        if source is Source.CHAT and shape.timed:
            selects.append(time_only)
        if source is Source.CHAT and (shape.lexical or shape.timed):
            selects.append(_TAIL.format_map(names))
        if source is Source.CHAT and shape.lexical:
            selects += [_SIZE, _POSTINGS]
    if shape.walks:
        channels.append(_walk(shape))
    selects += unindexed_rows(shape.sources, shape.restricted)
    indexes = ["WITH", ",".join(channels + cosines)] if channels else []
    return " ".join([*indexes, " UNION ALL ".join(selects)])


def _time_only(parts: Iterable[str]) -> str:
    exclusions = "".join(f" EXCEPT SELECT key FROM ({part}) other" for part in parts)  # noqa: S608 - constants
    return _TIME_ONLY.format(nothing=_NOTHING, but_others=exclusions)


def _walk(shape: Shape) -> str:
    """Return the walk from the best memories of each channel, and from the focus."""
    visible = node_filters(_SIGHT.intersection(shape.restricted)).strip()
    sight = _IF_VISIBLE.format(conditions=visible) if visible else ""
    scored = {"dense": shape.dense, "lexical": shape.lexical}
    seeds = [_SEED.format(channel=channel) for channel, is_on in scored.items() if is_on]
    if shape.focus:
        seeds.append(_FOCUS.format(sight=sight))
    walk = _WALK.format(
        seeds=" UNION ALL ".join(seeds),
        near_step=_STEP.format(origin="walk_seed", sight=sight),
        far_step=_STEP.format(origin="walk_near", sight=sight),
        filters=node_filters(shape.restricted),
    )
    if Source.CHAT not in shape.sources:
        return walk
    return f"{walk},{_SAID.format(filters=message_filters(shape.restricted))}"


def _indexes(shape: Shape) -> Iterator[tuple[Source, str]]:
    """Yield the indexes to search, by source and name of the owner's value."""
    for source in sorted(shape.sources - WRITTEN - KEPT):
        yield source, "agent"
    if shape.sources & WRITTEN:
        for owner in shape.owners:
            yield Source.DOCUMENT, owner


def _parts(source: Source, shape: Shape) -> Iterator[tuple[str, str]]:
    """Yield (materialized query, query that reads it) of each channel, the dense one first."""
    if shape.dense:
        yield _DENSE, _part("{name}_dense", "dense")
    if shape.dense and source is Source.CHAT:
        yield _PASSAGE, _part("chat_passage", "dense")
    if shape.lexical:
        yield _RARE + "," + _LEXICAL, _part("{name}_lexical", "lexical")
    if source is Source.CHAT and (shape.lexical or shape.dense):
        anchored = shape.lexical and _has_content_filters(shape)
        origins = [_BY_WORDS] * shape.lexical + [_BY_VECTOR] * shape.dense
        neighbours = _NEIGHBOURS.replace("{origins}", " UNION ".join(origins))
        yield (_ANCHORS + "," if anchored else "") + neighbours, _part("chat_beside")
    if shape.timed and source is Source.CHAT:
        yield _TIMED, _TIMED_PART
    if shape.symbols and source is Source.DOCUMENT:
        yield _SYMBOL, _part("{name}_symbol")
    if shape.walks and source not in WRITTEN:
        yield "", _part("{name}_linked", "linked")


def _has_content_filters(shape: Shape) -> bool:
    return bool(message_filters(shape.restricted - _SIGHT))


def _names(source: Source, owner: str, shape: Shape) -> dict[str, str]:
    if source is Source.CHAT:
        index, filters = CHAT, message_filters(shape.restricted)
    elif source is Source.MEMORY:
        index, filters = MEMORY, memory_filters(shape.restricted)
    else:
        index, filters = CHUNK, chunk_filters(shape.sources, shape.restricted)
    value = f"%({owner})s"
    hides = source is Source.MEMORY and "tier" in shape.restricted
    join = f"JOIN {index.table} m ON m.agent_id = {value} AND m.{index.entry} = v."
    chat = source is Source.CHAT
    sight = message_filters(shape.restricted & _SIGHT) if chat else ""
    if chat and shape.hides:
        sight += " AND m.withheld IS NULL"
    size = index.size.format_map({"owner": value})
    indexed = shape.indexed if chat else None
    return {
        "name": index.name if owner == "agent" else f"{index.name}_{owner}",
        "owner": value,
        "table": index.table,
        "key": index.key,
        "entry": index.entry,
        "where": index.where,
        "size": size,
        "columns": index.columns,
        "filters": filters,
        "join": join + index.key if filters else "",
        "posting_join": join + "key" if filters else "",
        "anchors": _AND_ANCHORS if _has_content_filters(shape) else "",
        # Invisible messages add no words to their neighbours; nobody learns that deleted words were
        # said.
        "sight": sight,
        "sight_join": join + index.key if sight else "",
        # As in the index, whose vectors all have one dimension.
        "embedding": f"(v.embedding::halfvec({indexed}))" if indexed else "v.embedding",
        "dimension": f"AND vector_dims(v.embedding) = {indexed}" if indexed else "",
        "hidden": HIDDEN.format(f"v.{index.key}") if hides else "",
        "posting_hidden": HIDDEN.format("v.key") if hides else "",
        "position": ", v.position" if chat else "",
        # The words of memories are not bounded: a network is.
        "df": "p.df" if source is Source.MEMORY else _ESTIMATE.format(size=size),
        "counted": "ALL" if source is Source.MEMORY else "%(counted)s",
        # What is left out by a filter must not displace the rest.
        "most": "ALL" if _has_content_filters(shape) else "%(most)s",
        "as_positions": ", array_agg(position) AS positions" if chat else "",
        "positions": ", r.positions" if chat else "",
        "position_name": ", position" if chat else "",
        "any_position": ", min(v.position) AS position" if chat else "",
    }
