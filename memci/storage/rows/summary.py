"""Rolling summaries of sessions (R8)."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, Text, false, text
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.rows.metadata import agent_column, made_at, metadata

_ZERO = text("0")
_EMPTY = text("''")

# One row a session, made with the first thing that is said in it, and replaced each time that the
# summary goes on; its text is empty until there is one. Where several users speak in a session,
# each has a row besides, of what is in that user's sight.
summary = Table(
    "summary",
    metadata,
    agent_column(),
    Column("session_id", Text, primary_key=True),  # '': what was said in no session
    Column("user_id", Text, primary_key=True),  # '': of all that was said in it
    # Whose words are in it.
    Column("users", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("from_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("through_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("text", Text, nullable=False, server_default=_EMPTY),
    Column("tokens", Integer, nullable=False, server_default=_ZERO),
    Column("model", Text, nullable=False, server_default=_EMPTY),
    # The session has ended, and all of it is covered.
    Column("final", Boolean, nullable=False, server_default=false()),
    # So many tokens were said after through_seq, up to here: nothing is counted twice.
    Column("counted_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("counted_tokens", BigInteger, nullable=False, server_default=_ZERO),
    made_at("made_at"),
    # Sessions that may end.
    Index("summary_open", "agent_id", "session_id",
          postgresql_where=text("NOT final AND user_id = '' AND session_id <> ''")),
    postgresql_with={"fillfactor": 70},
)  # fmt: skip
