"""Code found by the names of its symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from memci.domain.documents import last_part, qualified

_LONGEST_NAME = 200
# The last part leads through the index, the rest of a qualified name decides. A name as it is
# written comes before one in other letters, the outer one before the inner, then the newest.
# Name by name: joined, all symbols of the owners could be read, which row-level security has the
# planner believe to be few.
_FIND = """
SELECT c.agent_id, c.id, c.symbol, wanted.place,
       right(c.symbol, length(wanted.name)) = wanted.name AS exact
  FROM unnest(%(names)s::text[], %(keys)s::text[]) WITH ORDINALITY AS wanted(name, key, place)
 CROSS JOIN LATERAL (
    SELECT agent_id, id, document_id, place, symbol FROM chunk
     WHERE agent_id = ANY(%(owners)s) AND symbol_key = wanted.key AND symbol_key IS NOT NULL
       AND (lower(symbol) = lower(wanted.name)
            OR right(lower(symbol), length(wanted.name) + 1) = '.' || lower(wanted.name))
    OFFSET 0) AS c
 ORDER BY exact DESC, length(c.symbol), c.document_id DESC, c.place LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class FoundSymbol:
    """A chunk of the code that a name means; ``exact``: in the same letters, great and small."""

    owner: str
    chunk_id: int
    symbol: str
    exact: bool


def find_symbols(
    connection: Connection, owners: Sequence[str], names: Sequence[str], *, limit: int = 50
) -> list[FoundSymbol]:
    """Return chunks of code that define one of the names, best first.

    A name is whole (``Parser.read``) or the end of one (``read``), as any language writes it. A
    long symbol is several chunks, in order. ``owners`` must be seen (``see_collections``).
    """
    wanted = {qualified(each)[:_LONGEST_NAME]: None for each in names}
    known = [each for each in wanted if each]
    if not known or not owners:
        return []
    values = {
        "names": known,
        "keys": [last_part(each) for each in known],
        "owners": list(owners),
        "limit": limit,
    }
    rows = connection.exec_driver_sql(_FIND, values)
    return [FoundSymbol(row.agent_id, row.id, row.symbol, row.exact) for row in rows]
