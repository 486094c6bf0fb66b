"""An index that finds the last memory of each session (M7); no clocks of erased agents (M25)."""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

# Where a network lives, and where one is rebuilt.
SCHEMAS = ("public", "memci_edition")
# The last message of a memory ends its list.
INDEX = """
CREATE INDEX node_session ON {schema}.node
    (agent_id, session_id, (message_seqs[cardinality(message_seqs)]), id) WHERE kind = 'memory'
"""
STOP_CLOCKS = """
UPDATE lane SET new_memories = 0, expire_at = NULL
WHERE epoch > 0 AND message_seq = erased_messages
"""


def upgrade() -> None:
    """Create it twice, and stop the clocks."""
    for schema in SCHEMAS:
        op.execute(INDEX.format(schema=schema))
    op.execute(STOP_CLOCKS)


def downgrade() -> None:
    """Drop it twice."""
    for schema in SCHEMAS:
        op.execute(f"DROP INDEX {schema}.node_session")
