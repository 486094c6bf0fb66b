"""Which agents exist, and the parameters that each has of its own (M1, M25)."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from memci.domain.agent_id import no_agent
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.parameters import PageRules
from memci.domain.parameter_definitions import P, replaced, settings_of
from memci.storage.session import Connection, Database

# A condition on ``lane``. The lane of an erased agent stays, so that its ids are never reused; the
# next message or page creates the agent again.
IS_THERE = "NOT (epoch > 0 AND message_seq = erased_messages AND written_at IS NULL)"
# The same, for lanes that were not made by a claim or an unreadable broker message alone.
IS_AGENT = f"message_seq > 0 AND {IS_THERE}"
_FIND = f"SELECT FROM lane WHERE agent_id = %s AND {IS_THERE}"


def check_there(connection: Connection, agent_id: str) -> None:
    """Raise ``NotFoundError`` if the agent does not exist."""
    if not is_there(connection, agent_id):
        raise no_agent(agent_id)


def is_there(connection: Connection, agent_id: str) -> bool:
    """Return True if the agent exists."""
    return connection.exec_driver_sql(_FIND, (agent_id,)).first() is not None


@contextmanager
def snapshot_of(database: Database, agent_id: str) -> Iterator[Connection]:
    """Open a snapshot of an agent; raises ``NotFoundError`` if it does not exist."""
    with database.agent_snapshot(agent_id) as connection:
        check_there(connection, agent_id)
        yield connection


_READ = "SELECT parameters FROM agent_setting WHERE agent_id = %s"
_WRITE = """
INSERT INTO agent_setting (agent_id, parameters) VALUES (%s, %s::jsonb)
ON CONFLICT (agent_id) DO UPDATE SET parameters = excluded.parameters, changed_at = now()
"""


def own_parameters(connection: Connection, agent_id: str) -> dict[str, Any]:
    """Return the parameters that differ from the defaults; empty if none was ever set."""
    row = connection.exec_driver_sql(_READ, (agent_id,)).first()
    return dict(row[0]) if row else {}


def parameters_of(
    connection: Connection, agent_id: str, defaults: MemoryParameters
) -> MemoryParameters:
    """Return the agent's memory parameters: its own values over the defaults."""
    own = own_parameters(connection, agent_id)
    return own_of(defaults, own)


def page_rules_of(connection: Connection, agent_id: str, defaults: PageRules) -> PageRules:
    """Return the rules of the agent's pages: its own values over the defaults."""
    return own_of(defaults, own_parameters(connection, agent_id))


def own_of(defaults: P, own: Mapping[str, Any]) -> P:
    """Return the defaults with the values in ``own`` that name one of their fields."""
    mine = settings_of(defaults).keys() & own.keys()
    return replaced(defaults, {name: own[name] for name in mine}) if mine else defaults


def replace_parameters(connection: Connection, agent_id: str, values: Mapping[str, Any]) -> None:
    """Replace all of the agent's own parameters by these."""
    connection.exec_driver_sql(_WRITE, (agent_id, json.dumps(values)))
