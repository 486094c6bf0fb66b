"""The walk over the memory network in a search's statement (R11, ``bfs``).

It begins at the nodes that the question finds best, entities among them, and at the focus where
the question goes on; it goes two links out. Strength is shared among all links of a node, so that
what everything is linked to says little; where ways meet, they add up.
"""

from __future__ import annotations

from collections.abc import Collection

from memci.domain.context.candidate import Channel
from memci.storage.search_restrictions import message_filters, node_filters

# Restrictions on what may be known at all, and not only on what is looked for.
SIGHT = frozenset({"user", "as_of", "tier"})
SEEDS = 10  # of each channel
NEAR = 60  # nodes from which the walk goes on
LINKED_MEMORIES = 30  # whose messages are offered, too
DECAY = 0.5  # of each link beyond the first
FOCUS_WEIGHT = 0.5  # beside 1 for the best of a channel

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
# An entity is common ground; a memory that is out of sight leads nowhere.
_SIGHT = """
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
    "seeds": SEEDS,
    "near": NEAR,
    "linked_memories": LINKED_MEMORIES,
    "decay": DECAY,
    "focus_weight": FOCUS_WEIGHT,
}


def walk(
    channels: Collection[Channel], restricted: Collection[str], *, focus: bool, says: bool
) -> str:
    """Write the walk: what it begins at is read from the memories' own ``channels``, and ``focus``.

    ``restricted`` as in ``Restriction.values``; ``says``: messages of what it leads to as well.
    """
    seeds = [_SEED.format(channel=each.value) for each in channels]
    if focus:
        seeds.append(_FOCUS.format(sight=_sight(restricted)))
    whole = _WALK.format(
        seeds=" UNION ALL ".join(seeds),
        near_step=_STEP.format(origin="walk_seed", sight=_sight(restricted)),
        far_step=_STEP.format(origin="walk_near", sight=_sight(restricted)),
        filters=node_filters(restricted),
    )
    if not says:
        return whole
    return f"{whole},{_SAID.format(filters=message_filters(restricted))}"


def _sight(restricted: Collection[str]) -> str:
    conditions = node_filters(SIGHT.intersection(restricted)).strip()
    return _SIGHT.format(conditions=conditions) if conditions else ""
