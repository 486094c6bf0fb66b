"""A log of what made each network, and a place for one that is rebuilt beside it (M24)."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE replay_log (
    agent_id TEXT NOT NULL,
    place BIGINT GENERATED ALWAYS AS IDENTITY,
    event TEXT NOT NULL,
    job_id UUID,
    seqs BIGINT[] DEFAULT '{}' NOT NULL,
    pass_number BIGINT DEFAULT 0 NOT NULL,
    scanned BIGINT DEFAULT 0 NOT NULL,
    ended BOOLEAN DEFAULT false NOT NULL,
    details JSONB DEFAULT '{}' NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, place)
);

CREATE TABLE edition (
    agent_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    state TEXT NOT NULL,
    up_to_seq BIGINT,
    begun_at BIGINT NOT NULL,
    cut_at BIGINT,
    place BIGINT DEFAULT 0 NOT NULL,
    scanned BIGINT DEFAULT 0 NOT NULL,
    settled BOOLEAN DEFAULT true NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (agent_id, number)
);
CREATE UNIQUE INDEX edition_open ON edition (agent_id)
    WHERE state IN ('building', 'ready', 'switching');
"""
# An administrator may have made it, where the owner of the tables may not.
SCHEMA = """
DO $$
BEGIN
    IF to_regnamespace('memci_edition') IS NULL THEN
        CREATE SCHEMA memci_edition;
    END IF;
END $$;
"""
SECURE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON {table}
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO memci_app;
"""

# Every table that a network is written to, once more: same names, columns and indexes.
TWINS = (
    "node",
    "node_vector",
    "node_term",
    "link",
    "focus",
    "claim",
    "node_version",
    "trail",
    "pass_log",
    "replay_log",
)
TWIN = """
CREATE TABLE memci_edition.{table} (LIKE public.{table} INCLUDING ALL EXCLUDING INDEXES);
DO $$
DECLARE definition TEXT;
BEGIN
    FOR definition IN SELECT replace(indexdef, ' ON public.', ' ON memci_edition.')
        FROM pg_indexes WHERE schemaname = 'public' AND tablename = '{table}'
        AND indexname <> '{table}_pkey'
    LOOP EXECUTE definition; END LOOP;
    SELECT 'ALTER TABLE memci_edition.{table} ADD CONSTRAINT {table}_pkey '
           || pg_get_constraintdef(oid)
      INTO definition FROM pg_constraint
     WHERE conrelid = 'public.{table}'::regclass AND contype = 'p';
    EXECUTE definition;
END $$;
"""
# What made the networks that are there, as far as trails and logs of passes tell: whole passes
# between creations, by their times. Agent by agent, since nobody sees the rows of all.
BACKFILL = """
DO $$
DECLARE agent TEXT;
BEGIN
    FOR agent IN SELECT agent_id FROM lane LOOP
        PERFORM set_config('memci.agent', agent, true);
        INSERT INTO replay_log (agent_id, event, job_id, seqs, pass_number, scanned, ended, at)
        SELECT agent, event, job_id, seqs, pass_number, scanned, ended, at FROM (
            SELECT 'created' AS event, job_id, array_agg(DISTINCT seq ORDER BY seq) AS seqs,
                   min(pass_number) AS pass_number, 0 AS scanned, false AS ended,
                   min(at) AS at, 1 AS turn
              FROM (SELECT (details->>'job')::uuid AS job_id, pass_number, at,
                           jsonb_array_elements_text(details->'messages')::bigint AS seq
                      FROM trail WHERE event = 'created' AND details ? 'job') AS made
             GROUP BY job_id
            UNION ALL
            SELECT 'scanned', NULL, '{}', number, scanned, finished_at IS NOT NULL, started_at, 2
              FROM pass_log
        ) AS logged ORDER BY at, turn, pass_number;
    END LOOP;
    PERFORM set_config('memci.agent', '', true);
END $$;
"""


def upgrade() -> None:
    """Create them, secure them, and note what has made the networks so far."""
    op.execute(TABLES)
    op.execute(SCHEMA)
    for table in ("replay_log", "edition"):
        op.execute(SECURE.format(table=table))
    for table in TWINS:
        op.execute(TWIN.format(table=table))
        op.execute(SECURE.format(table=f"memci_edition.{table}"))
    op.execute("GRANT USAGE ON SCHEMA memci_edition TO memci_app")
    op.execute(BACKFILL)


def downgrade() -> None:
    """Drop them; the schema stays, since the owner of the tables may be unable to make it."""
    for table in TWINS:
        op.execute(f"DROP TABLE memci_edition.{table}")
    op.execute("DROP TABLE edition")
    op.execute("DROP TABLE replay_log")
