"""Runs any tool for agents and developers, after a check of its arguments (P15, R20)."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from memci.broker.wakeup import Wakeups
from memci.commands.audit import changing
from memci.commands.pages import perform
from memci.commands.pages.perform import PageCommands, ToolRequest, charge_calls
from memci.commands.pages.workspace import OperationContext, TreeVersion
from memci.commands.tools.memory_reads import MemoryTools
from memci.commands.tools.memory_writes import MemoryWrites
from memci.domain.pages.permission import Actor
from memci.domain.pages.window_text import Format
from memci.errors import InvalidInputError, NotFoundError, RefusedError, shown_name
from memci.language.redaction import Redactor, kinds_of
from memci.queue.mailbox import lock_agent, lock_lane
from memci.schemas.base import Answer, Request
from memci.schemas.problems import describe_misuse, field_path
from memci.schemas.tools.memory import Update
from memci.schemas.tools.table import BY_NAME, About
from memci.storage.agents import redaction_of
from memci.storage.key_usage import Charge
from memci.storage.pages.tree import begin_agent
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
    wakeups: Wakeups

    def run(
        self,
        agent_id: str,
        actor: Actor,
        tool: str,
        arguments: Mapping[str, Any] | Request,
        *,
        session_id: str | None = None,
        form: Format = Format.MARKDOWN,
        paying: Charge | None = None,
    ) -> Answer:
        """Use a tool, in a session (None: that of the last message), whose window is ``form``.

        Raises ``NotFoundError`` for no such tool, agent or thing, ``InvalidInputError`` for
        arguments that the tool does not take, ``RefusedError`` and ``ConflictError`` for what may
        not or cannot be done, ``QuotaError`` of the key that is ``paying``, ``UnavailableError``
        when a part does not answer. Nothing is then changed.
        """
        call = parse_tool_request(tool, arguments, actor)
        if call.tool.about is About.PAGES or call.writes:
            return self.run_all(
                agent_id, actor, [call], session_id=session_id, form=form, paying=paying
            )[0]
        return self.memory.run(agent_id, call, session_id=session_id)

    def dry_run(self, context: OperationContext, call: ToolRequest) -> Answer:
        """Answer as ``run`` would, changing only the context; raises as ``run``.

        Discard the context after an error of a tool that changes something.
        """
        if call.tool.about is About.PAGES:
            return perform.perform(context, call)
        session = context.rendering.session_id
        if call.writes:
            connection, agent_id = context.connection, context.agent_id
            return self.writes.run(connection, agent_id, call, session_id=session, writes=False)
        return self.memory.run(context.agent_id, call, session_id=session)

    def run_all(
        self,
        agent_id: str,
        actor: Actor,
        calls: Sequence[ToolRequest],
        *,
        session_id: str | None = None,
        mark: TreeVersion | None = None,
        form: Format = Format.MARKDOWN,
        paying: Charge | None = None,
    ) -> list[Answer]:
        """Run calls on pages and calls that change memory, in order: all of them or none.

        Raises as ``run``, and ``ConflictError`` when the pages are not those of ``mark`` any more.
        """
        calls = self._redacted(agent_id, actor, calls)
        corrected = [each.request.memory for each in calls if isinstance(each.request, Update)]
        with ExitStack() as recording:
            if corrected:
                database = self.pages.database
                recording.enter_context(changing(database, "tool_update", agent_id, *corrected))
            answers = self._run_all(agent_id, actor, calls, session_id, mark, form, paying)
        if any(each.writes for each in calls):
            # Always: a worker that found the lane locked has given up.
            self.wakeups.wake_lane(agent_id)
        return answers

    def _run_all(
        self,
        agent_id: str,
        actor: Actor,
        calls: Sequence[ToolRequest],
        session_id: str | None,
        mark: TreeVersion | None,
        form: Format,
        paying: Charge | None,
    ) -> list[Answer]:
        if mark is None and all(each.writes for each in calls):
            with self.pages.database.agent_transaction(agent_id) as connection:
                charge_calls(connection, paying, agent_id, calls)
                if any(each.tool.begins for each in calls):
                    begin_agent(connection, agent_id)
                    lock_lane(connection, agent_id)
                else:
                    lock_agent(connection, agent_id)
                return [
                    self.writes.run(connection, agent_id, each, session_id=session_id)
                    for each in calls
                ]

        def performer(context: OperationContext, call: ToolRequest) -> Answer:
            if not call.writes:
                return perform.perform(context, call)
            return self.writes.run(context.connection, agent_id, call, session_id=session_id)

        return self.pages.run(
            agent_id,
            actor,
            calls,
            session_id=session_id,
            mark=mark,
            form=form,
            performer=performer,
            paying=paying,
        )

    def _redacted(
        self, agent_id: str, actor: Actor, calls: Sequence[ToolRequest]
    ) -> Sequence[ToolRequest]:
        """Return calls with placeholders in what they store."""
        if not any(each.tool.changes for each in calls):
            return calls
        with self.pages.database.agent_snapshot(agent_id) as connection:
            kinds = kinds_of(redaction_of(connection, agent_id, self.writes.defaults.redact))
        if not kinds:
            return calls
        redacted = []
        for call in calls:
            given = Redactor(kinds).value(call.request.model_dump(mode="json", exclude_unset=True))
            parsed = parse_tool_request(call.tool.name, given, actor)
            redacted.append(replace(call, request=parsed.request))
        return redacted
