"""The memory parameters that one agent has of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from memci.domain.memory.parameters import MemoryParameters

_READ = "SELECT parameters FROM agent_setting WHERE agent_id = %s"
_WRITE = """
INSERT INTO agent_setting (agent_id, parameters) VALUES (%s, %s::jsonb)
ON CONFLICT (agent_id) DO UPDATE SET parameters = excluded.parameters, changed_at = now()
"""


def own_parameters(connection: Connection, agent_id: str) -> dict[str, Any]:
    """Return what differs from the defaults; empty for an agent that was never configured."""
    row = connection.exec_driver_sql(_READ, (agent_id,)).first()
    return dict(row[0]) if row else {}


def parameters_of(
    connection: Connection, agent_id: str, defaults: MemoryParameters
) -> MemoryParameters:
    """Return the agent's memory parameters: its own values over the defaults."""
    own = own_parameters(connection, agent_id)
    return defaults.with_values(own) if own else defaults


def replace_parameters(connection: Connection, agent_id: str, values: Mapping[str, Any]) -> None:
    """Keep these and no others."""
    connection.exec_driver_sql(_WRITE, (agent_id, json.dumps(values)))
