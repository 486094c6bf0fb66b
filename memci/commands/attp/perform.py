"""Do what a model asks for by ATTP: all of it in one transaction, or nothing (P15, P17).

The code is run on a bench that is thrown away, without a lock, and then what it asked for is done
again for good. Only a tree that is still the same takes it; if it has changed meanwhile, the code
is run again, as long as its time allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from memci.commands.attp.functions import NOTHING_DONE, Functions
from memci.commands.attp.outcome import Outcome
from memci.commands.attp.plain import Plain
from memci.commands.attp.protocol import ToolCall, read_answer
from memci.commands.attp.sandbox import Sandbox
from memci.commands.attp.toml import to_toml
from memci.commands.pages.bench import Mark
from memci.commands.pages.perform import Asked
from memci.commands.tools.tools import Tools
from memci.domain.pages.permission import Actor
from memci.errors import ConflictError, InvalidInputError, MemciError
from memci.shapes.attp import AttpAnswer, AttpChanges, AttpStatus
from memci.shapes.base import Answer
from memci.shapes.pages import CollapseAnswer, PageChange
from memci.shapes.pins import PinChange


@dataclass(frozen=True, slots=True)
class _Rehearsed:
    """What code came to on a bench that was thrown away.

    ``tokens``: of the window before; ``over``: by how many what stays then is over a limit.
    """

    outcome: Outcome
    asked: Sequence[Asked]
    mark: Mark
    tokens: int
    over: int


@dataclass(frozen=True, slots=True)
class AttpCommands:
    """Answers models that speak ATTP."""

    tools: Tools
    sandbox: Sandbox

    def run(self, agent_id: str, text: str, *, session_id: str | None = None) -> AttpAnswer:
        """Do what a model's answer asks for, on the window of a session (None: the latest).

        What is wrong with the answer, its code or what it wants is in our answer. Raises
        ``NotFoundError`` for no agent, ``UnavailableError`` when all sandboxes are at work, and
        ``ConfigurationError`` without a sandbox.
        """
        try:
            call = read_answer(text)
        except InvalidInputError as error:
            return _failed("", str(error))
        if call.status is AttpStatus.FAIL:
            return _failed(call.target, call.message)
        # First, so that whoever waits holds no connection to the database.
        with self.sandbox.place():
            return self._call(agent_id, call, session_id)

    def _call(self, agent_id: str, call: ToolCall, session_id: str | None) -> AttpAnswer:
        end = monotonic() + self.sandbox.limits.seconds
        begun = now = monotonic()
        # As long as another run would be done in time.
        while now + (now - begun) < end:
            begun = now
            answer = self._tried(agent_id, call, session_id, end - begun)
            if answer is not None:
                return answer
            now = monotonic()
        return _failed(
            call.target,
            f"the pages were changed by others meanwhile: look at the window and try again. "
            f"{NOTHING_DONE}",
        )

    def _tried(
        self, agent_id: str, call: ToolCall, session_id: str | None, seconds: float
    ) -> AttpAnswer | None:
        """Run the code and do what it asked for; None: the pages have changed meanwhile."""
        rehearsed = self._rehearsed(agent_id, call.code, session_id, seconds)
        fault = rehearsed.outcome.fault
        if fault is not None:
            error = str(fault)
            if NOTHING_DONE not in error:
                error = f"{error} {NOTHING_DONE}"
            return _failed(call.target, error, rehearsed.outcome.printed)
        try:
            done = self._done(agent_id, rehearsed, session_id)
        except ConflictError:
            return None
        except MemciError as error:
            return _failed(call.target, f"{error}. {NOTHING_DONE}", rehearsed.outcome.printed)
        return succeeded(call.target, rehearsed.outcome, _changes(done, rehearsed))

    def _rehearsed(
        self, agent_id: str, code: str, session_id: str | None, seconds: float
    ) -> _Rehearsed:
        with self.tools.pages.rehearsal(agent_id, Actor.AGENT, session_id=session_id) as bench:
            functions, tokens = (
                Functions(self.tools, bench, self.sandbox.limits.notes),
                bench.tokens,
            )
            outcome = self.sandbox.run(code, functions.by_name(), seconds=seconds)
            # What went wrong may have left the tree half changed.
            over = bench.desk.hold() if outcome.fault is None else 0
            return _Rehearsed(outcome, functions.asked, bench.mark, tokens, over)

    def _done(
        self, agent_id: str, rehearsed: _Rehearsed, session_id: str | None
    ) -> Sequence[Answer]:
        if not rehearsed.asked:
            return []
        return self.tools.run_all(
            agent_id, Actor.AGENT, rehearsed.asked, session_id=session_id, mark=rehearsed.mark
        )


def _changes(done: Sequence[Answer], rehearsed: _Rehearsed) -> AttpChanges:
    pages: dict[str, None] = {}
    collapsed: dict[str, None] = {}
    after = rehearsed.tokens
    for each in done:
        if isinstance(each, PageChange):
            pages |= dict.fromkeys(each.changed)
        if isinstance(each, (PageChange, PinChange, CollapseAnswer)):
            collapsed |= dict.fromkeys(each.collapsed)
            after = each.tokens_after
    return AttpChanges(
        pages=list(pages),
        collapsed=list(collapsed),
        tokens_before=rehearsed.tokens,
        tokens_after=after,
        over=rehearsed.over,
    )


def succeeded(target: str, outcome: Outcome, changes: AttpChanges) -> AttpAnswer:
    """Return what a model is told of code that came to its end."""
    shown: dict[str, Plain] = {
        "status": AttpStatus.SUCCESS.value,
        "target": target or None,
        "printed": outcome.printed or None,
        "result": outcome.result,
        "changes": changes.model_dump(mode="json"),
    }
    return AttpAnswer(
        text=to_toml(shown),
        status=AttpStatus.SUCCESS,
        target=target,
        result=outcome.result,
        printed=outcome.printed,
        changes=changes,
    )


def _failed(target: str, error: str, printed: str = "") -> AttpAnswer:
    shown = {
        "status": AttpStatus.FAIL.value,
        "target": target or None,
        "error": error,
        "printed": printed or None,
    }
    return AttpAnswer(
        text=to_toml(shown), status=AttpStatus.FAIL, target=target, error=error, printed=printed
    )
