"""An index that finds the last list of a session, or of none, among any number of reads (R16)."""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

INDEX = """
CREATE INDEX receipt_last ON receipt (agent_id, session_id, created_at) WHERE kind = 'context'
"""
BEFORE = "CREATE INDEX receipt_session ON receipt (agent_id, session_id, created_at)"


def upgrade() -> None:
    """Create it in place of the one that held all reads."""
    op.execute(INDEX)
    op.execute("DROP INDEX receipt_session")


def downgrade() -> None:
    """Put the one before in its place."""
    op.execute(BEFORE)
    op.execute("DROP INDEX receipt_last")
