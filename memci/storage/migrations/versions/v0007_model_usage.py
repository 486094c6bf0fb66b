"""What language models took: by agent and day, by job, by pass, and altogether."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_COUNTS = """
    calls BIGINT DEFAULT 0 NOT NULL,
    failures BIGINT DEFAULT 0 NOT NULL,
    prompt_tokens BIGINT DEFAULT 0 NOT NULL,
    completion_tokens BIGINT DEFAULT 0 NOT NULL,
    cost double precision,
    unpriced BIGINT DEFAULT 0 NOT NULL,
    over_budget BIGINT DEFAULT 0 NOT NULL,
    fell_back BIGINT DEFAULT 0 NOT NULL,
"""
TABLES = f"""
CREATE TABLE model_usage (
    agent_id TEXT NOT NULL,
    day DATE NOT NULL,
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    {_COUNTS}
    PRIMARY KEY (agent_id, day, task, model)
) WITH (fillfactor = 50);

CREATE TABLE model_total (
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    {_COUNTS}
    PRIMARY KEY (task, model)
) WITH (fillfactor = 20);

ALTER TABLE job ADD COLUMN models JSONB;
ALTER TABLE pass_log ADD COLUMN models JSONB;
"""
SECURE = """
ALTER TABLE model_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE model_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON model_usage
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON model_usage TO memci_app;
GRANT SELECT, INSERT, UPDATE ON model_total TO memci_app;
GRANT SELECT ON model_total TO memci_upkeep;
"""


def upgrade() -> None:
    """Add them."""
    op.execute(TABLES)
    op.execute(SECURE)


def downgrade() -> None:
    """Drop them."""
    op.execute("ALTER TABLE pass_log DROP COLUMN models")
    op.execute("ALTER TABLE job DROP COLUMN models")
    op.execute("DROP TABLE model_total")
    op.execute("DROP TABLE model_usage")
