"""What is set for one agent."""

from __future__ import annotations

from sqlalchemy import Connection

from memci.domain.memory.parameters import MemoryParameters


def parameters_of(
    connection: Connection, agent_id: str, defaults: MemoryParameters
) -> MemoryParameters:
    """Return the agent's memory parameters: its own values over the defaults."""
    found = connection.exec_driver_sql(
        "SELECT parameters FROM agent_setting WHERE agent_id = %s", (agent_id,)
    ).scalar()
    return defaults.with_values(found) if found else defaults
