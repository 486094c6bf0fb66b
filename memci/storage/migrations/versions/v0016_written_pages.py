"""An index that finds what somebody wrote into a tree of pages, removed or not (R11)."""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

# Notes and folders: few among the pages of many interactions.
INDEX = "CREATE INDEX page_written ON page (agent_id) WHERE first_seq IS NULL"


def upgrade() -> None:
    """Create it."""
    op.execute(INDEX)


def downgrade() -> None:
    """Drop it."""
    op.execute("DROP INDEX page_written")
