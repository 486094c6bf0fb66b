"""An index that finds what was said at a time (R11)."""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

INDEX = "CREATE INDEX message_said ON message (agent_id, said_at, seq) WHERE indexed"


def upgrade() -> None:
    """Create it."""
    op.execute(INDEX)


def downgrade() -> None:
    """Drop it."""
    op.execute("DROP INDEX message_said")
