"""Which embedder made the vectors of this database."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# Row-level security is forced on the owner, too: it is lifted for the one look at what is there.
UPGRADE = """
CREATE TABLE vector_model (
    only_one BOOLEAN DEFAULT true NOT NULL CHECK (only_one),
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    change INTEGER DEFAULT 1 NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (only_one)
);
GRANT SELECT, INSERT, UPDATE ON vector_model TO memci_app;
GRANT SELECT ON vector_model TO memci_upkeep;
ALTER TABLE message_vector NO FORCE ROW LEVEL SECURITY;
INSERT INTO vector_model (model, dimension)
SELECT model, vector_dims(embedding) FROM message_vector LIMIT 1;
ALTER TABLE message_vector FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    """Note the model of the vectors that are there, if there are any."""
    op.execute(UPGRADE)


def downgrade() -> None:
    """Forget it; every vector still names its own model."""
    op.execute("DROP TABLE vector_model")
