"""Erasures for good: tombstones, and receipts that say what they speak of (M25, M26)."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# A tombstone holds no content: the SHA-256 of the id that the message's producer gave it.
TOMBSTONES = """
CREATE TABLE erased_message (
    agent_id TEXT NOT NULL,
    digest BYTEA NOT NULL,
    erased_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, digest)
);
ALTER TABLE erased_message ENABLE ROW LEVEL SECURITY;
ALTER TABLE erased_message FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON erased_message
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON erased_message TO memci_app;
ALTER TABLE lane ADD COLUMN erased_messages BIGINT DEFAULT 0 NOT NULL;
"""
# Whoever inserts, by whatever way, and whatever it knew when its statement began: the function
# looks anew at its end. Once a statement, since a call for each row costs a third of its insert;
# by the index, however many tombstones there are: OFFSET 0 makes sure of that.
GUARD = """
CREATE FUNCTION refuse_erased_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM added CROSS JOIN LATERAL (
           SELECT FROM erased_message AS erased
            WHERE erased.agent_id = added.agent_id
              AND erased.digest = sha256(convert_to(added.id, 'UTF8')) OFFSET 0) AS hit) THEN
        RAISE restrict_violation USING MESSAGE = 'this message was erased for good';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER message_erased AFTER INSERT ON message REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_erased_message();
"""
# Receipts that are there say nothing in these columns: an erasure takes them all.
RECEIPTS = """
ALTER TABLE receipt ADD COLUMN at_seq BIGINT;
ALTER TABLE receipt ADD COLUMN seqs BIGINT[];
ALTER TABLE receipt ADD COLUMN given BIGINT[];
ALTER TABLE receipt ADD COLUMN nodes BIGINT[];
CREATE INDEX receipt_given ON receipt (agent_id, at_seq) WHERE at_seq IS NOT NULL;
"""
DOWNGRADE = """
DROP INDEX receipt_given;
ALTER TABLE receipt DROP COLUMN nodes;
ALTER TABLE receipt DROP COLUMN given;
ALTER TABLE receipt DROP COLUMN seqs;
ALTER TABLE receipt DROP COLUMN at_seq;
DROP TRIGGER message_erased ON message;
DROP FUNCTION refuse_erased_message;
ALTER TABLE lane DROP COLUMN erased_messages;
DROP TABLE erased_message;
"""


def upgrade() -> None:
    """Make room for tombstones, and let the database itself refuse what was erased."""
    for statements in (TOMBSTONES, GUARD, RECEIPTS):
        op.execute(statements)


def downgrade() -> None:
    """Forget what was erased."""
    op.execute(DOWNGRADE)
