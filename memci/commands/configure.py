"""Sets the parameters of one agent; warns if its unhideable pages exceed the window (P13)."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from memci.commands.pages.perform import PageCommands
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.collapse import collapse_to
from memci.domain.pages.parameters import PageRules
from memci.domain.parameter_definitions import values_of
from memci.errors import InvalidInputError, PageStoreError
from memci.schemas.agents import SettingsAnswer
from memci.storage import agents
from memci.storage.pages import texts, tree, workspace


def warnings_of(pages: PageCommands, agent_id: str) -> list[str]:
    """Return a warning if the pages that cannot be hidden exceed ``window_max_tokens``.

    Measured in the session of the last message, also of an agent before its first one; writes
    nothing. Empty as well if the page store does not answer.
    """
    with suppress(PageStoreError):  # the command succeeds without a warning
        store = texts.prefetch_texts(pages.database, pages.store, agent_id)
        with pages.database.agent_snapshot(agent_id) as connection:
            spec = workspace.window_spec(connection, agent_id, pages.counter.count, pages.rules)
            rendering = workspace.open_workspace(connection, agent_id, store, spec).rendering
            least, most = collapse_to(rendering, 0).after, spec.rules.window_max_tokens
        if least > most:
            ways = ["shorten system prompts", "take down pins", "unpin pages"]
            ways += ["turn attp off, whose page of sys is long"] if spec.rules.attp else []
            warning = (
                f"what cannot be hidden takes {least:,} tokens, and window_max_tokens is"
                f" {most:,}: set it to {least} or more, or {', '.join(ways)}"
            )
            return [warning]
    return []


@dataclass(frozen=True, slots=True)
class Defaults:
    """The values for agents without values of their own."""

    memory: MemoryParameters
    pages: PageRules

    def with_values(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return all parameters by name; ``InvalidInputError`` names an invalid one."""
        defaults = values_of(self.memory) | values_of(self.pages)
        for name in values:
            if name not in defaults:
                raise InvalidInputError(
                    f"unknown parameter; known are {', '.join(sorted(defaults))}", field=name
                )
        return values_of(agents.own_of(self.memory, values)) | values_of(
            agents.own_of(self.pages, values)
        )


def show(pages: PageCommands, agent_id: str, defaults: Defaults) -> SettingsAnswer:
    """Return the settings of an agent that is known or configured, or raise ``NotFoundError``."""
    with pages.database.agent_snapshot(agent_id) as connection:
        own = agents.own_parameters(connection, agent_id)
        if not own:
            agents.check_there(connection, agent_id)
    return _answer(pages, agent_id, own, defaults)


def run(
    pages: PageCommands, agent_id: str, values: Mapping[str, object], defaults: Defaults
) -> SettingsAnswer:
    """Replace all of an agent's own parameters by ``values``, also before its first message.

    Earlier messages are first put onto pages by the former rules, since readers may have seen those
    pages. Raises ``InvalidInputError`` that names the parameter, with nothing written.
    """
    defaults.with_values(values)
    pages.settle(agent_id)  # so that little is left to be done with the lane locked
    with pages.database.agent_transaction(agent_id) as connection:
        tree.lock_lane(connection, agent_id)
        if agents.is_there(connection, agent_id):
            tree.lock_tree(connection, agent_id)
            pages.settle_in(connection, agent_id)
        agents.replace_parameters(connection, agent_id, values)
    return _answer(pages, agent_id, values, defaults)


def _answer(
    pages: PageCommands, agent_id: str, values: Mapping[str, object], defaults: Defaults
) -> SettingsAnswer:
    return SettingsAnswer(
        agent_id=agent_id,
        parameters=defaults.with_values(values),
        changed=sorted(values),
        warnings=warnings_of(pages, agent_id),
    )
