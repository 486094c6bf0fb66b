"""Memory tools that write: remember, update, focus and update_plan (R7, R20)."""

from dataclasses import dataclass

from memci.commands.network_changes import add_to_focus
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
from memci.language.sentences import normalized_words
from memci.message import AppendLimits, CorrectedMemory, NewMessage, Remember, Role, note_metadata
from memci.queue.intake import Append, append_in
from memci.schemas.base import Answer
from memci.schemas.pages import PlanAnswer, UpdatePlan
from memci.schemas.tools import memory as shapes
from memci.storage.network.links import list_focus
from memci.storage.network.node_history import origin_of
from memci.storage.plans import last_seq, read_plan, save_plan
from memci.storage.reading.nodes import read_node
from memci.storage.reading.recall import seen
from memci.storage.search.find import Restriction
from memci.storage.session import Connection


def change_plan(
    connection: Connection, caller: Caller, request: UpdatePlan, seq: int
) -> tuple[Plan, str | None]:
    """Return the changed plan as of ``seq``, and new words, which a message must contain.

    Raises ``ConflictError`` and ``NotFoundError``.
    """
    plan = read_plan(connection, caller.agent_id, Viewer(caller.session_id, caller.user_id))
    if request.steps is not None:
        items = [item_of(each) for each in request.steps]
        known = {normalized_words(each.text) for each in plan.steps} if plan else set()
        after = listed(plan, items, seq, caller.session_id, caller.user_id)
        is_new = plan is None or after.made_seq != plan.made_seq
        if not is_new and all(normalized_words(each.text) in known for each in items):
            return after, None
        return after, whole_text(after, language_of(" ".join(i.text for i in items)))
    if plan is None:
        raise ConflictError("there is no plan in this session yet: give its steps")
    step, state = request.step or 0, request.state
    if step > len(plan.steps) or state is None:
        raise NotFoundError(f"there is no step {step}: the plan has {len(plan.steps)}")
    return with_states(plan, [(step, state)], seq), None


@dataclass(frozen=True, slots=True)
class MemoryWrites:
    """Runs ``remember``, ``update``, ``focus`` and ``update_plan``."""

    defaults: MemoryParameters
    limits: AppendLimits

    def run(
        self,
        connection: Connection,
        agent_id: str,
        call: ToolRequest,
        *,
        session_id: str | None,
        writes: bool = True,
    ) -> Answer:
        """Run a call. The lane's row must be locked; publish a wakeup after COMMIT.

        Without ``writes`` the answer and the errors are the same, but nothing is written.
        """
        caller, redact = session_caller(connection, agent_id, session_id), self.defaults.redact
        match call.request:
            case shapes.Remember(text=text):
                self._check_size(text)
                if writes:
                    _append(connection, caller, call.id, text, redact=redact)
                return shapes.Noted(message=call.id)
            case shapes.Update(memory=memory, text=text):
                corrected = _correctable(connection, caller, memory)
                self._check_size(text)
                if writes:
                    _append(connection, caller, call.id, text, redact=redact, corrected=corrected)
                return shapes.Noted(message=call.id, corrects=memory)
            case shapes.Focus(entity=entity):
                if writes:
                    points = add_to_focus(connection, agent_id, entity, self.defaults)
                    return shapes.InFocus(focus=[each.name for each in points.focus])
                names = [row["name"] for row in list_focus(connection, agent_id)]
                return shapes.InFocus(focus=[entity, *(each for each in names if each != entity)])
            case UpdatePlan() as request:
                seq = last_seq(connection, agent_id)
                plan, words = change_plan(connection, caller, request, seq)
                if writes and words is not None:
                    # Words of a plan always come from a message, and are erased with it (M25). No
                    # memory is made of that message: the plan itself is shown.
                    seq = _append(
                        connection,
                        caller,
                        call.id,
                        words,
                        redact=redact,
                        remember=Remember.NEVER,
                    )
                    plan, _ = change_plan(connection, caller, request, seq)
                if writes:
                    save_plan(connection, agent_id, plan)
                return PlanAnswer.of(plan, caller.session_id)
            case _:
                raise AssertionError(f"{call.tool.name} writes nothing into memory")

    def _check_size(self, text: str) -> None:
        if len(text.encode()) > self.limits.message_bytes:
            raise TooLargeError(
                f"expected at most {self.limits.message_bytes} bytes in one message", field="text"
            )


def _append(
    connection: Connection,
    caller: Caller,
    message_id: str,
    text: str,
    *,
    redact: str,
    remember: Remember = Remember.NOW,
    corrected: CorrectedMemory | None = None,
) -> int:
    """Append a note of the agent; return its seq."""
    note = NewMessage(Role.ASSISTANT, text, id=message_id, metadata=note_metadata(corrected))
    append = Append(
        caller.agent_id,
        [note],
        session_id=caller.session_id,
        user_id=caller.user_id,
        remember=remember,
        source=JobSource.HTTP,
        redact=redact,
    )
    answer, _ = append_in(connection, append)
    return answer.seq


def _correctable(connection: Connection, caller: Caller, memory: int) -> CorrectedMemory:
    """Return the identity of a memory; raises an error if it cannot be corrected."""
    caller.check_visible(connection)
    row = read_node(connection, caller.agent_id, memory)
    origin = origin_of(connection, caller.agent_id, memory)
    sight = Restriction(session_id=caller.session_id, user_id=caller.user_id)
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
    return CorrectedMemory(tuple(origin.seqs), span)
