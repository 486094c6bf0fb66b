"""Short-term and long-term memories (R3, R5)."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# What was remembered before there were tiers has outlived any short term.
UPGRADE = """
ALTER TABLE node ADD COLUMN tier TEXT DEFAULT 'long' NOT NULL;
ALTER TABLE node ADD COLUMN expires_at timestamptz;
CREATE INDEX node_short ON node (agent_id, expires_at) WHERE tier = 'short';
"""
DOWNGRADE = """
DROP INDEX node_short;
ALTER TABLE node DROP COLUMN expires_at;
ALTER TABLE node DROP COLUMN tier;
"""


def upgrade() -> None:
    """Give nodes a tier; those that are there are long-term memories."""
    op.execute(UPGRADE)


def downgrade() -> None:
    """Forget the tiers."""
    op.execute(DOWNGRADE)
