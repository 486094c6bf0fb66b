"""The plan of a session, set by whoever makes it (R7).

What changes an agent's memory by a tool (R20), in a transaction of its caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from memci.commands.memory import bring_into_focus
from memci.commands.pages.perform import ToolRequest
from memci.commands.tools.caller import Caller, session_caller
from memci.domain.job import JobSource
from memci.domain.memory.node import NodeKind
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.tree import Viewer
from memci.domain.session.plan import Plan, whole_text, with_states
from memci.domain.session.plan_tracker import item_of, listed
from memci.errors import ConflictError, NotFoundError, TooLargeError
from memci.language.detection import language_of
from memci.language.key_messages.detector import words_of
from memci.message import AppendLimits, Corrected, NewMessage, Remember, Role, note_metadata
from memci.queue.intake import Append, append_in
from memci.schemas import memory_tools as shapes
from memci.schemas.base import Answer, Request
from memci.schemas.pages import PlanAnswer, UpdatePlan
from memci.storage.network.node_history import origin_of
from memci.storage.plans import last_seq, read_plan, save_plan
from memci.storage.reading.nodes import list_focus, read_node
from memci.storage.reading.recall import Visibility, seen
from memci.storage.session import Connection


@dataclass(frozen=True, slots=True)
class PlanChange:
    """A changed plan; ``said``: new words, which a message must hold."""

    plan: Plan
    said: str | None


def change_plan(connection: Connection, caller: Caller, asked: UpdatePlan, seq: int) -> PlanChange:
    """Return the changed plan as of the message ``seq``; writes nothing.

    Raises ``ConflictError`` for no plan, ``NotFoundError`` for no such step.
    """
    plan = read_plan(connection, caller.agent_id, Viewer(caller.session_id, caller.user_id))
    if asked.steps is not None:
        items = [item_of(each) for each in asked.steps]
        known = {words_of(each.text) for each in plan.steps} if plan else set()
        after = listed(plan, items, seq, caller.session_id, caller.user_id)
        is_new = plan is None or after.made_seq != plan.made_seq
        if not is_new and all(words_of(each.text) in known for each in items):
            return PlanChange(after, None)
        return PlanChange(after, whole_text(after, language_of(" ".join(i.text for i in items))))
    if plan is None:
        raise ConflictError("there is no plan in this session yet: give its steps")
    step, state = asked.step or 0, asked.state
    if step > len(plan.steps) or state is None:
        raise NotFoundError(f"there is no step {step}: the plan has {len(plan.steps)}")
    return PlanChange(with_states(plan, [(step, state)], seq), None)


def update_plan(
    connection: Connection, caller: Caller, asked: UpdatePlan, note: Callable[[str], int]
) -> PlanAnswer:
    """Change the plan; ``note`` stores a message with these words and returns its seq.

    The lane must be locked. Words of a plan are always a message's, and are erased with it (M25).
    """
    seq = last_seq(connection, caller.agent_id)
    change = change_plan(connection, caller, asked, seq)
    if change.said is not None:
        change = change_plan(connection, caller, asked, note(change.said))
    save_plan(connection, caller.agent_id, change.plan)
    return PlanAnswer.of(change.plan, caller.session_id)


_Write: TypeAlias = Callable[[Connection, Caller, Any, str], Answer]


@dataclass(frozen=True, slots=True)
class MemoryWrites:
    """Runs ``remember``, ``update``, ``focus`` and ``update_plan``."""

    defaults: MemoryParameters
    limits: AppendLimits

    def apply_in(
        self, connection: Connection, agent_id: str, asked: ToolRequest, *, session_id: str | None
    ) -> Answer:
        """Run a call. The lane's row must be locked; publish a wakeup after COMMIT."""
        caller = session_caller(connection, agent_id, session_id)
        return self._writes[type(asked.request)](connection, caller, asked.request, asked.id)

    def prepare(
        self, connection: Connection, agent_id: str, asked: ToolRequest, *, session_id: str | None
    ) -> Answer:
        """Answer as ``apply_in`` would, from a snapshot, and write nothing; raises likewise."""
        match asked.request:
            case shapes.Remember(text=text):
                self._check_size(text)
                return shapes.Noted(message=asked.id)
            case shapes.Update(memory=memory, text=text):
                self._check_size(text)
                _correctable(connection, session_caller(connection, agent_id, session_id), memory)
                return shapes.Noted(message=asked.id, corrects=memory)
            case shapes.Focus(entity=entity):
                names = [row["name"] for row in list_focus(connection, agent_id)]
                return shapes.InFocus(focus=[entity, *(each for each in names if each != entity)])
            case UpdatePlan() as request:
                caller = session_caller(connection, agent_id, session_id)
                change = change_plan(connection, caller, request, last_seq(connection, agent_id))
                return PlanAnswer.of(change.plan, caller.session_id)
            case _:
                raise AssertionError(f"{asked.tool.name} writes nothing into memory")

    @property
    def _writes(self) -> Mapping[type[Request], _Write]:
        return {
            shapes.Remember: self._remember,
            shapes.Update: self._update,
            shapes.Focus: self._focus,
            UpdatePlan: self._update_plan,
        }

    def _remember(
        self, connection: Connection, caller: Caller, asked: shapes.Remember, message_id: str
    ) -> Answer:
        self._note(connection, caller, message_id, asked.text, None)
        return shapes.Noted(message=message_id)

    def _update(
        self, connection: Connection, caller: Caller, asked: shapes.Update, message_id: str
    ) -> Answer:
        corrected = _correctable(connection, caller, asked.memory)
        self._note(connection, caller, message_id, asked.text, corrected)
        return shapes.Noted(message=message_id, corrects=asked.memory)

    def _focus(self, connection: Connection, caller: Caller, asked: shapes.Focus, _: str) -> Answer:
        points = bring_into_focus(connection, caller.agent_id, asked.entity, self.defaults)
        return shapes.InFocus(focus=[each.name for each in points.focus])

    def _update_plan(
        self, connection: Connection, caller: Caller, asked: UpdatePlan, message_id: str
    ) -> Answer:
        def note(said: str) -> int:
            # It is found in the chat, and no memory is made of it: the plan itself is shown.
            return self._append(connection, caller, message_id, said, Remember.NEVER)

        return update_plan(connection, caller, asked, note)

    def _note(
        self,
        connection: Connection,
        caller: Caller,
        message_id: str,
        text: str,
        corrected: Corrected | None,
    ) -> None:
        self._check_size(text)
        self._append(connection, caller, message_id, text, Remember.NOW, corrected)

    def _append(
        self,
        connection: Connection,
        caller: Caller,
        message_id: str,
        text: str,
        remember: Remember,
        corrected: Corrected | None = None,
    ) -> int:
        note = NewMessage(Role.ASSISTANT, text, id=message_id, metadata=note_metadata(corrected))
        request = Append(
            caller.agent_id,
            [note],
            session_id=caller.session_id,
            user_id=caller.user_id,
            remember=remember,
            source=JobSource.HTTP,
        )
        answer, _ = append_in(connection, request)
        return answer.seq

    def _check_size(self, text: str) -> None:
        if len(text.encode()) > self.limits.message_bytes:
            raise TooLargeError(
                f"expected at most {self.limits.message_bytes} bytes in one message", field="text"
            )


def _correctable(connection: Connection, caller: Caller, memory: int) -> Corrected:
    """Return what a memory is known by; raises when there is none that could be corrected."""
    caller.check_visible(connection)
    row = read_node(connection, caller.agent_id, memory)
    origin = origin_of(connection, caller.agent_id, memory)
    sight = Visibility(caller.session_id, caller.user_id)
    unseen = row is not None and not seen(connection, caller.agent_id, [memory], sight)
    if origin is None or origin.kind is not NodeKind.MEMORY or unseen:
        raise NotFoundError(f"there is no memory {memory}: search or recall tells their numbers")
    if row is None:
        raise ConflictError(f"memory {memory} is forgotten: remember what holds now")
    if row["superseded_by"] is not None:
        raise ConflictError(
            f"memory {memory} was replaced by memory {row['superseded_by']}: correct that one"
        )
    span = None if origin.span is None else tuple(origin.span)
    return Corrected(tuple(origin.seqs), span)
