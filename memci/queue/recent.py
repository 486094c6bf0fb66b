"""Which lanes were written to last: where a broker that lists no queues is asked first."""

from __future__ import annotations

from memci.storage.session import Database

_RECENT = "SELECT agent_id FROM lane ORDER BY written_at DESC NULLS LAST LIMIT 1000"


def recent_agents(database: Database) -> list[str]:
    """Return at most a thousand agents, the last written first."""
    with database.upkeep_transaction() as connection:
        return [row[0] for row in connection.exec_driver_sql(_RECENT)]
