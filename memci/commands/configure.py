"""Give an agent memory parameters of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from memci.domain.memory.parameters import MemoryParameters
from memci.shapes.settings import SettingsAnswer
from memci.storage.erasure.gone import check_there
from memci.storage.parameters import own_parameters, replace_parameters
from memci.storage.session import Database


def show(database: Database, agent_id: str, defaults: MemoryParameters) -> SettingsAnswer:
    """Return what holds for an agent that is there, or was configured before its first message.

    Raises ``NotFoundError`` for any other.
    """
    with database.agent_snapshot(agent_id) as connection:
        own = own_parameters(connection, agent_id)
        if not own:
            check_there(connection, agent_id)
    return _answer(agent_id, own, defaults)


def run(
    database: Database, agent_id: str, values: Mapping[str, object], defaults: MemoryParameters
) -> SettingsAnswer:
    """Replace all of an agent's own parameters by ``values``, also before its first message.

    Raises ``InvalidInputError`` that names the parameter, with nothing written.
    """
    answer = _answer(agent_id, values, defaults)
    with database.agent_transaction(agent_id) as connection:
        replace_parameters(connection, agent_id, values)
    return answer


def _answer(
    agent_id: str, values: Mapping[str, object], defaults: MemoryParameters
) -> SettingsAnswer:
    return SettingsAnswer(
        agent_id=agent_id,
        parameters=asdict(defaults.with_values(dict(values))),
        changed=sorted(values),
    )
