"""All tools in one hand, whatever they work on (P15, R20).

What is asked of a tool, checked: models get names, types and limits wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from memci.broker.wakeup import Wakeups
from memci.commands.pages.perform import PageCommands, ToolRequest, perform
from memci.commands.pages.workspace import OperationContext, TreeVersion
from memci.commands.tools.memory_reads import MemoryTools
from memci.commands.tools.memory_writes import MemoryWrites
from memci.domain.pages.block import Format
from memci.domain.pages.permission import Actor
from memci.errors import InvalidInputError, NotFoundError, RefusedError, shown_name
from memci.queue.mailbox import lock_agent, lock_lane
from memci.schemas.base import Answer, Request
from memci.schemas.memory_tools import Remember
from memci.schemas.problems import describe_misuse, field_path
from memci.schemas.tools import BY_NAME, About
from memci.storage.pages.tree import begin_agent
from memci.storage.session import Connection
from memci.validation_messages import own_faults


def parse_tool_request(
    name: str, arguments: Mapping[str, Any] | Request, actor: Actor
) -> ToolRequest:
    """Return a validated call of the tool of this name.

    Raises ``NotFoundError`` for no such tool, ``RefusedError`` for one that is for developers
    alone, ``InvalidInputError`` for arguments that it does not take.
    """
    tool = BY_NAME.get(name)
    if tool is None:
        raise NotFoundError(f"there is no tool '{shown_name(name)}'")
    if actor is Actor.AGENT and not tool.for_agents:
        raise RefusedError(f"{tool.name} is for developers alone")
    if isinstance(arguments, tool.request):
        return ToolRequest(tool, arguments)
    try:
        return ToolRequest(tool, tool.request.model_validate(arguments))
    except ValidationError as error:
        first = own_faults(error.errors(include_input=False, include_url=False))[0]
        raise InvalidInputError(
            f"{tool.name}: {describe_misuse(error, tool.arguments)}",
            field=field_path(first["loc"]) or None,
        ) from None


@dataclass(frozen=True, slots=True)
class Tools:
    """Runs tools for agents and developers.

    ``run`` runs one call. A program of calls that takes effect as a whole (ATTP) first runs each
    with ``dry_run`` on a context of ``pages.dry_run``, and keeps every ``ToolRequest`` whose tool
    changes something. Then ``run_all`` runs these in one transaction with the context's ``mark``;
    it raises ``ConflictError`` and changes nothing if the pages have changed since. Tools that are
    not ``in_code`` cannot be part of a program.
    """

    pages: PageCommands
    memory: MemoryTools
    writes: MemoryWrites
    tokens: Wakeups

    def run(
        self,
        agent_id: str,
        actor: Actor,
        tool: str,
        arguments: Mapping[str, Any] | Request,
        *,
        session_id: str | None = None,
        form: Format = Format.MARKDOWN,
    ) -> Answer:
        """Use a tool, in a session (None: that of the last message), whose window is ``form``.

        Raises ``NotFoundError`` for no such tool, agent or thing, ``InvalidInputError`` for
        arguments that the tool does not take, ``RefusedError`` and ``ConflictError`` for what may
        not or cannot be done, ``UnavailableError`` when a part does not answer. Nothing is then
        changed.
        """
        asked = parse_tool_request(tool, arguments, actor)
        if asked.tool.about is About.PAGES or _writes(asked):
            return self.run_all(agent_id, actor, [asked], session_id=session_id, form=form)[0]
        return self.memory.run(agent_id, asked, session_id=session_id)

    def dry_run(self, context: OperationContext, asked: ToolRequest) -> Answer:
        """Answer as ``run`` would, changing only the context; raises as ``run``.

        Discard the context after an error of a tool that changes something.
        """
        if asked.tool.about is About.PAGES:
            return perform(context, asked)
        session = context.opened.workspace.rendering.session_id
        if _writes(asked):
            connection, agent_id = context.connection, context.agent_id
            return self.writes.prepare(connection, agent_id, asked, session_id=session)
        return self.memory.run(context.agent_id, asked, session_id=session)

    def run_all(
        self,
        agent_id: str,
        actor: Actor,
        asked: Sequence[ToolRequest],
        *,
        session_id: str | None = None,
        mark: TreeVersion | None = None,
        form: Format = Format.MARKDOWN,
    ) -> list[Answer]:
        """Run calls on pages and calls that change memory, in order: all of them or none.

        Raises as ``run``, and ``ConflictError`` when the pages are not those of ``mark`` any more.
        """
        if not any(_writes(each) for each in asked):
            return self.pages.run(
                agent_id, actor, asked, session_id=session_id, mark=mark, form=form
            )
        only_memory = mark is None and all(_writes(each) for each in asked)
        pages = None if only_memory else self.pages.prefetched(agent_id, asked, session_id)
        with self.pages.database.agent_transaction(agent_id) as connection:
            # The lane's row first: whoever locks the tree as well does so in this order (P16).
            if any(isinstance(each.request, Remember) for each in asked):
                # What is remembered first makes an agent, and so does a page beside it.
                begin_agent(connection, agent_id)
                lock_lane(connection, agent_id)
            else:
                lock_agent(connection, agent_id)
            if pages is None:
                done = [self._write(connection, agent_id, each, session_id) for each in asked]
            else:
                editing = pages.editing(
                    connection, agent_id, actor, session_id, mark=mark, form=form
                )
                done = self._mixed(editing, asked, session_id)
        # Always: a worker that looked while the lane was locked has gone again.
        self.tokens.wake_lane(agent_id)
        return done

    def _mixed(
        self,
        editing: AbstractContextManager[OperationContext],
        asked: Sequence[ToolRequest],
        session_id: str | None,
    ) -> list[Answer]:
        def one(context: OperationContext, each: ToolRequest) -> Answer:
            if _writes(each):
                return self._write(context.connection, context.agent_id, each, session_id)
            return perform(context, each)

        with editing as context:
            return [one(context, each) for each in asked]

    def _write(
        self, connection: Connection, agent_id: str, asked: ToolRequest, session_id: str | None
    ) -> Answer:
        return self.writes.apply_in(connection, agent_id, asked, session_id=session_id)


def _writes(asked: ToolRequest) -> bool:
    """Tell whether a tool changes memory, in a transaction that others can share."""
    tool = asked.tool
    return tool.about is About.MEMORY and tool.changes and tool.in_code
