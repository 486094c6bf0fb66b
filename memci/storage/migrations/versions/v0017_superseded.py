"""An index that finds what other memories have superseded: few of all versions (R6)."""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

# In networks that are rebuilt as well (M24).
SCHEMAS = ("public", "memci_edition")
INDEX = """
CREATE INDEX node_version_superseded ON {schema}.node_version (agent_id)
 WHERE reason = 'superseded'
"""


def upgrade() -> None:
    """Create it."""
    for schema in SCHEMAS:
        op.execute(INDEX.format(schema=schema))


def downgrade() -> None:
    """Drop it."""
    for schema in SCHEMAS:
        op.execute(f"DROP INDEX {schema}.node_version_superseded")
