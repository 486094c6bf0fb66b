"""What candidates have to be like, as conditions of a search's statement (R5, R6, R11)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memci.domain.context.candidate import WRITTEN, Source

# Restrictions on messages, and on memories: one of a memory's messages has to be so.
_ON_MESSAGE = {
    "since": "m.said_at >= %(since)s",
    "until": "m.said_at < %(until)s",
    "roles": "m.role = ANY(%(roles)s)",
    "names": "m.name = ANY(%(names)s)",
    "sessions": "m.session_id = ANY(%(sessions)s)",
    "user": "m.user_id = %(user)s",
    "as_of": "m.said_at <= %(as_of)s",
    "tags": "jsonb_exists_any(m.metadata->'tags', %(tags)s::text[])",
    "metadata": "m.metadata @> %(metadata)s::jsonb",
}
_OF_ITS_MESSAGES = (
    "EXISTS (SELECT 1 FROM message o"
    " WHERE o.agent_id = m.agent_id AND o.seq = ANY(m.message_seqs) AND {})"
)
_ON_NODE = {
    "since": "m.said_at >= %(since)s",
    "until": "m.said_at < %(until)s",
    "roles": _OF_ITS_MESSAGES.format("o.role = ANY(%(roles)s)"),
    "names": _OF_ITS_MESSAGES.format("o.name = ANY(%(names)s)"),
    "sessions": "m.session_id = ANY(%(sessions)s)",
    "types": "m.type = ANY(%(types)s)",
    "user": "m.user_id = %(user)s",
    "as_of": "m.said_at <= %(as_of)s",
    "tags": _OF_ITS_MESSAGES.format("jsonb_exists_any(o.metadata->'tags', %(tags)s::text[])"),
    "metadata": _OF_ITS_MESSAGES.format("o.metadata @> %(metadata)s::jsonb"),
}
# Short-term memories of other sessions are out of sight (R5). They are few: what hides them is
# read once, and the nodes themselves need not be joined. "": of no session.
HIDDEN = """AND {} NOT IN (
    SELECT h.id FROM node h WHERE h.agent_id = %(agent)s AND h.tier = 'short'
       AND h.session_id IS DISTINCT FROM %(tier)s)"""
_ON_CHUNK = {
    "code": "AND m.kind = 'code'",
    "document": "AND m.kind <> 'code'",
    "as_of": "AND m.created_at <= %(as_of)s",
}


def node_filters(restricted: Iterable[str]) -> str:
    """Return the conditions on a ``node m`` for what ``Restriction.values`` names."""
    hidden = [HIDDEN.format("m.id")] if "tier" in restricted else []
    return " ".join([memory_filters(restricted), *hidden])


def message_filters(restricted: Iterable[str]) -> str:
    """Return the conditions on a ``message m`` for what ``Restriction.values`` names."""
    return " ".join(
        f"AND {_ON_MESSAGE[name]}" for name in sorted(restricted) if name in _ON_MESSAGE
    )


def memory_filters(restricted: Iterable[str]) -> str:
    """Return those of them that are not about what is in sight."""
    return " ".join(f"AND {_ON_NODE[name]}" for name in sorted(restricted) if name in _ON_NODE)


def chunk_filters(sources: Collection[Source], restricted: Collection[str]) -> str:
    """Return the conditions on a ``chunk m`` where only some ``sources`` are asked for."""
    wanted = WRITTEN.intersection(sources)
    conditions = [_ON_CHUNK[each.value] for each in wanted] if len(wanted) == 1 else []
    if "as_of" in restricted:
        conditions.append(_ON_CHUNK["as_of"])
    return " ".join(conditions)
