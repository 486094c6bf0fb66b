"""Give an agent parameters of its own: of its memory and of its pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from memci.commands.pages.fitting import warnings_of
from memci.commands.pages.perform import PageCommands
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.rules import PageRules
from memci.errors import InvalidInputError
from memci.shapes.settings import SettingsAnswer
from memci.storage.erasure.gone import check_there, is_there
from memci.storage.page_lock import hold_lane, lock_tree
from memci.storage.parameters import own_of, own_parameters, replace_parameters


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds where an agent has nothing of its own."""

    memory: MemoryParameters
    pages: PageRules

    def with_values(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return all parameters by name; ``InvalidInputError`` names one that is wrong."""
        known = asdict(self.memory) | asdict(self.pages)
        for name in values:
            if name not in known:
                raise InvalidInputError(
                    f"unknown parameter; known are {', '.join(sorted(known))}", field=name
                )
        return asdict(own_of(self.memory, values)) | asdict(own_of(self.pages, values))


def show(pages: PageCommands, agent_id: str, defaults: Defaults) -> SettingsAnswer:
    """Return what holds for an agent that is there, or was configured before its first message.

    Raises ``NotFoundError`` for any other.
    """
    with pages.database.agent_snapshot(agent_id) as connection:
        own = own_parameters(connection, agent_id)
        if not own:
            check_there(connection, agent_id)
    return _answer(agent_id, own, defaults, warnings_of(pages, agent_id))


def run(
    pages: PageCommands, agent_id: str, values: Mapping[str, object], defaults: Defaults
) -> SettingsAnswer:
    """Replace all of an agent's own parameters by ``values``, also before its first message.

    What was said until then is on pages as the former rules have it: it may have been seen so.
    Raises ``InvalidInputError`` that names the parameter, with nothing written.
    """
    defaults.with_values(values)
    pages.settle(agent_id)  # so that little is left to be done with the lane locked
    with pages.database.agent_transaction(agent_id) as connection:
        hold_lane(connection, agent_id)
        if is_there(connection, agent_id):
            lock_tree(connection, agent_id)
            pages.settle_in(connection, agent_id)
        replace_parameters(connection, agent_id, values)
    return _answer(agent_id, values, defaults, warnings_of(pages, agent_id))


def _answer(
    agent_id: str, values: Mapping[str, object], defaults: Defaults, warnings: list[str]
) -> SettingsAnswer:
    return SettingsAnswer(
        agent_id=agent_id,
        parameters=defaults.with_values(values),
        changed=sorted(values),
        warnings=warnings,
    )
