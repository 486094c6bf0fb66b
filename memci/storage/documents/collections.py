"""Collections: which there are, and how a transaction gets to see some."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection

from memci.domain.documents.owner import COLLECTION_PREFIX, collection_owner, nobody

# Lanes hold no content: anybody may look at them, and the caller's key says at which.
_LIST = """
SELECT substr(agent_id, length(%(prefix)s) + 1) AS name, documents, indexed_chunks AS chunks
  FROM lane WHERE starts_with(agent_id, %(prefix)s) AND documents > 0
   AND agent_id > %(prefix)s || %(after)s ORDER BY agent_id
"""
_IS_THERE = "SELECT FROM lane WHERE agent_id = %s AND documents > 0"
_THERE = "SELECT agent_id FROM lane WHERE agent_id = ANY(%s) AND documents > 0"
_SEE = "SELECT set_config('memci.collections', %s, true)"


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection, its documents, and the chunks that can be found."""

    name: str
    documents: int
    chunks: int


def list_collections(connection: Connection, *, after: str) -> list[Collection]:
    """Return collections after one name, by name; there are few."""
    values = {"prefix": COLLECTION_PREFIX, "after": after}
    return [Collection(*row) for row in connection.exec_driver_sql(_LIST, values)]


def is_collection_there(connection: Connection, owner: str) -> bool:
    """Tell whether a collection has a document."""
    return connection.exec_driver_sql(_IS_THERE, (owner,)).first() is not None


def see_collections(
    connection: Connection, names: Iterable[str], *, must_be_there: bool = True
) -> list[str]:
    """Let the rest of a transaction read these collections beside its agent; return their owners.

    Whoever asked must be allowed to read them. Raises ``InvalidInputError`` for no name of one. One
    that ``must_be_there`` and has no document is more likely a slip than a wish: ``NotFoundError``.
    """
    owners = [collection_owner(name) for name in dict.fromkeys(names)]
    if must_be_there:
        there = set(connection.exec_driver_sql(_THERE, (owners,)).scalars())
        for owner in owners:
            if owner not in there:
                raise nobody(owner)
    connection.exec_driver_sql(_SEE, (" ".join(owners),))
    return owners
