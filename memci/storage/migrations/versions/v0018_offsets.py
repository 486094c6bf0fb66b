"""The offset from UTC that something was said with: its day is the speaker's (R4, R10)."""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

# Minutes east; null, as in all rows that are there, is UTC. Networks that are rebuilt have it as
# well (M24).
TABLES = (
    "public.message",
    "public.node",
    "public.node_version",
    "memci_edition.node",
    "memci_edition.node_version",
)


def upgrade() -> None:
    """Add the columns; no row is rewritten."""
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ADD COLUMN said_offset SMALLINT")


def downgrade() -> None:
    """Drop them."""
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} DROP COLUMN said_offset")
