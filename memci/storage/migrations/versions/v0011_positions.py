"""Positions of messages, in postings too, and vectors summed with their neighbours' (R11b).

Workers of the release before cannot index while they run beside it: their jobs wait and are tried
again by new ones.
"""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

COLUMNS = """
ALTER TABLE message ADD COLUMN position BIGINT;
ALTER TABLE message_term ADD COLUMN position BIGINT;
CREATE TABLE message_around (
    agent_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    position BIGINT NOT NULL,
    embedding HALFVEC NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (agent_id, seq)
);
ALTER TABLE message_around ALTER COLUMN embedding SET STORAGE PLAIN;
CREATE UNIQUE INDEX message_position ON message (agent_id, position) INCLUDE (seq)
    WHERE position IS NOT NULL;
"""
SECURE = """
ALTER TABLE message_around ENABLE ROW LEVEL SECURITY;
ALTER TABLE message_around FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON message_around
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON message_around TO memci_app;
"""
# Sessions count by their first message, ranks by seq. Agent by agent, since nobody sees the rows
# of all.
BACKFILL = """
DO $$
DECLARE agent TEXT;
BEGIN
    FOR agent IN SELECT agent_id FROM lane LOOP
        PERFORM set_config('memci.agent', agent, true);
        UPDATE message SET position = (placed.session - 1) * 4294967296 + placed.rank - 1
          FROM (SELECT m.seq, s.session,
                       row_number() OVER (PARTITION BY m.session_id ORDER BY m.seq) AS rank
                  FROM message m
                  JOIN (SELECT session_id, row_number() OVER (ORDER BY min(seq)) AS session
                          FROM message WHERE agent_id = agent AND indexed GROUP BY session_id) s
                    ON s.session_id IS NOT DISTINCT FROM m.session_id
                 WHERE m.agent_id = agent AND m.indexed) AS placed
         WHERE message.agent_id = agent AND message.seq = placed.seq;
        UPDATE message_term SET position = message.position FROM message
         WHERE message_term.agent_id = agent AND message.agent_id = agent
           AND message.seq = message_term.seq;
        INSERT INTO message_around (agent_id, seq, position, embedding, model)
        SELECT agent, c.seq, c.position, l2_normalize(sum(n.embedding * array_fill(
                   away.times, ARRAY[vector_dims(v.embedding)])::halfvec)), v.model
          FROM message c
          JOIN message_vector v ON v.agent_id = agent AND v.seq = c.seq
         CROSS JOIN (VALUES (-2, 1.0::real), (-1, 2.5::real), (0, 5.0::real), (1, 2.5::real),
                            (2, 1.0::real)) AS away(steps, times)
          JOIN message o ON o.agent_id = agent AND o.position = c.position + away.steps
                        AND coalesce(o.user_id = c.user_id, true)
          JOIN message_vector n ON n.agent_id = agent AND n.seq = o.seq AND n.model = v.model
                               AND vector_dims(n.embedding) = vector_dims(v.embedding)
         WHERE c.agent_id = agent AND c.position IS NOT NULL
         GROUP BY c.seq, c.position, v.model;
    END LOOP;
    PERFORM set_config('memci.agent', '', true);
END $$;
"""
POSTINGS = """
ALTER TABLE message_term DROP CONSTRAINT message_term_pkey;
ALTER TABLE message_term
    ADD PRIMARY KEY (agent_id, term, seq) INCLUDE (tf, length, position);
ALTER TABLE message_term ALTER COLUMN position SET NOT NULL;
"""
EARLIER_POSTINGS = """
ALTER TABLE message_term DROP CONSTRAINT message_term_pkey;
ALTER TABLE message_term DROP COLUMN position;
ALTER TABLE message_term ADD PRIMARY KEY (agent_id, term, seq) INCLUDE (tf, length);
"""


def upgrade() -> None:
    """Place what is indexed, and sum the vectors that there are."""
    op.execute(COLUMNS)
    op.execute(SECURE)
    op.execute(BACKFILL)
    op.execute(POSTINGS)


def downgrade() -> None:
    """Take both away."""
    op.execute("DROP TABLE message_around")
    op.execute(EARLIER_POSTINGS)
    op.execute("ALTER TABLE message DROP COLUMN position")
