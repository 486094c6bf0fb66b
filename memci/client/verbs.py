"""What can be asked of memci, each verb once (see flow.py)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar, Unpack
from urllib.parse import quote
from uuid import UUID, uuid4

from pydantic import BaseModel

from memci.client.files import read_manifest
from memci.client.flow import Flow, Pause, Retries, answered, ask, exchange
from memci.client.latest import LatestSeqs
from memci.client.options import (
    AppendOptions,
    ContextOptions,
    ErasureOptions,
    FadingOptions,
    JobOptions,
    LinkOptions,
    MessageLike,
    MessageOptions,
    NetworkOptions,
    NodeOptions,
    Page,
    PreviewOptions,
    RecallOptions,
    SearchOptions,
)
from memci.domain.agent import check_agent_id
from memci.domain.lane.job import JobState
from memci.domain.message import Remember
from memci.errors import ConflictError, InvalidInputError, UnavailableError
from memci.shapes.agent import (
    AgentAnswer,
    AgentList,
    CompressAnswer,
    FocusList,
    JobAnswer,
    JobList,
    LaneAnswer,
    LinkList,
    NodeAnswer,
    NodeList,
    ReceiptAnswer,
    TrailList,
)
from memci.shapes.archive import ArchiveManifest, ImportAnswer
from memci.shapes.belief import (
    ConsolidateAnswer,
    HistoryAnswer,
    SessionEndAnswer,
    SessionList,
)
from memci.shapes.edition import ComparisonAnswer, EditionAnswer, RestoreAnswer
from memci.shapes.erasure import ErasurePreview
from memci.shapes.health import ReadyAnswer
from memci.shapes.message import AppendAnswer, MessageList
from memci.shapes.network import FadingAnswer, NetworkAnswer, PassList
from memci.shapes.read import ContextAnswer, RecallAnswer, RecallText, SearchAnswer
from memci.shapes.settings import SettingsAnswer
from memci.shapes.usage import UsageAnswer

AnswerT = TypeVar("AnswerT", bound=BaseModel)
_POLL_S = 0.2
# A large agent takes its time.
_ERASING_S = 300.0
_TRANSFER_S = 1_800.0


@dataclass(frozen=True, slots=True)
class Habits:
    """How one client behaves; its seqs are shared by all its agents, sync and async."""

    # How long a read waits for what this client has written; then it answers anyway.
    wait_ms: int = 2_000
    retries: Retries = field(default_factory=Retries)
    latest: LatestSeqs = field(default_factory=LatestSeqs)


class ServiceVerbs:
    """What concerns no single agent."""

    def __init__(self, habits: Habits) -> None:
        """Take the client's habits."""
        self._retries = habits.retries

    def agents(self, **page: Unpack[Page]) -> Flow[AgentList]:
        """List the agents that the key is for, by id."""
        return ask(exchange("GET", "/v1/agents", params=page), AgentList, self._retries)

    def ready(self) -> Flow[ReadyAnswer]:
        """Return what the server is ready with, or raise ``UnavailableError`` at once."""
        return ask(exchange("GET", "/readyz"), ReadyAnswer, Retries(attempts=1))


class AgentVerbs:
    """What can be asked about one agent."""

    def __init__(self, agent_id: str, habits: Habits) -> None:
        """Take the agent's id, or raise ``InvalidInputError``."""
        self.id = check_agent_id(agent_id)
        self._path = f"/v1/agents/{quote(agent_id, safe='')}"
        self._habits = habits

    def remember(
        self, messages: Sequence[MessageLike], **options: Unpack[AppendOptions]
    ) -> Flow[AppendAnswer]:
        """Store messages, and make memories of them now."""
        return self._append(messages, Remember.NOW, options)

    def record(
        self,
        messages: Sequence[MessageLike],
        *,
        remember: Remember = Remember.AUTO,
        **options: Unpack[AppendOptions],
    ) -> Flow[AppendAnswer]:
        """Store messages; memories are made of them when they leave the window, or never."""
        return self._append(messages, remember, options)

    def compress(self, *, reason: str | None = None) -> Flow[CompressAnswer]:
        """Ask for one more pass; asking again while one waits changes nothing."""
        return self._post("/compress", CompressAnswer, {"reason": reason})

    def recall(
        self, keywords: Sequence[str], **options: Unpack[RecallOptions]
    ) -> Flow[RecallAnswer]:
        """Search the network from what the agent is talking about; for programs."""
        return self._read("/recall", RecallAnswer, options, keywords=keywords, format="structured")

    def recall_text(
        self, keywords: Sequence[str], **options: Unpack[RecallOptions]
    ) -> Flow[RecallText]:
        """Search as ``recall`` does; for a model."""
        return self._read("/recall", RecallText, options, keywords=keywords, format="text")

    def search(self, query: str, **options: Unpack[SearchOptions]) -> Flow[SearchAnswer]:
        """Search messages and memories by meaning and by words."""
        return self._read("/search", SearchAnswer, options, query=query)

    def context(
        self, query: str | None = None, *, budget_tokens: int, **options: Unpack[ContextOptions]
    ) -> Flow[ContextAnswer]:
        """Assemble the messages that a model should see, within ``budget_tokens``."""
        return self._read(
            "/context", ContextAnswer, options, query=query, budget_tokens=budget_tokens
        )

    def about(self) -> Flow[AgentAnswer]:
        """Return what the agent holds, and what is still to do for it."""
        return self._get("", AgentAnswer)

    def messages(self, **options: Unpack[MessageOptions]) -> Flow[MessageList]:
        """List messages by seq."""
        return self._get("/messages", MessageList, options)

    def nodes(self, **options: Unpack[NodeOptions]) -> Flow[NodeList]:
        """List nodes by id."""
        return self._get("/nodes", NodeList, options)

    def node(self, node_id: int) -> Flow[NodeAnswer]:
        """Return one node."""
        return self._get(f"/nodes/{node_id}", NodeAnswer)

    def trail(self, node_id: int, **page: Unpack[Page]) -> Flow[TrailList]:
        """List what happened to a node, the oldest first."""
        return self._get(f"/nodes/{node_id}/trail", TrailList, page)

    def history(
        self, node_id: int, *, as_of: datetime | str | float | None = None
    ) -> Flow[HistoryAnswer]:
        """List the versions of a memory, before it and after it, the oldest first."""
        return self._get(f"/nodes/{node_id}/history", HistoryAnswer, {"as_of": as_of})

    def sessions(self, **page: Unpack[Page]) -> Flow[SessionList]:
        """List sessions by id."""
        return self._get("/sessions", SessionList, page)

    def end_session(self, session_id: str) -> Flow[SessionEndAnswer]:
        """End a session; ending it again changes nothing, until something is said in it."""
        # Slashes as they are; dots not: "..", as a part of a path, would be resolved on the way.
        return self._post(
            f"/sessions/{quote(session_id, safe='/').replace('.', '%2E')}/end", SessionEndAnswer
        )

    def consolidate(self) -> Flow[ConsolidateAnswer]:
        """Merge short-term memories that say the same; asking again while it waits is no more."""
        return self._post("/consolidate", ConsolidateAnswer)

    def links(self, **options: Unpack[LinkOptions]) -> Flow[LinkList]:
        """List links by source, then target."""
        return self._get("/links", LinkList, options)

    def focus(self) -> Flow[FocusList]:
        """List what the agent is talking about, the latest mention first."""
        return self._get("/focus", FocusList)

    def mention(self, entity: str) -> Flow[FocusList]:
        """Bring an entity into the focus."""
        return self._post("/focus", FocusList, {"entity": entity})

    def restore(self, node_id: int) -> Flow[RestoreAnswer]:
        """Have a forgotten memory made anew; asking twice is asking once."""
        return self._post(f"/nodes/{node_id}/restore", RestoreAnswer)

    def rebuild(self, *, up_to_seq: int | None = None) -> Flow[EditionAnswer]:
        """Have the network made once more, beside the current one."""
        body = {"up_to_seq": up_to_seq}
        return self._post("/rebuild", EditionAnswer, body, repeatable=False)

    def rebuilt(self) -> Flow[EditionAnswer]:
        """Return how far the rebuilt network is, or what became of the last one."""
        return self._get("/rebuild", EditionAnswer)

    def compare_rebuilt(
        self, probes: Sequence[Sequence[str]] = (), *, limit: int = 20
    ) -> Flow[ComparisonAnswer]:
        """Compare the rebuilt network with the current one; ``probes`` are keywords of recalls."""
        body = {"probes": [list(keywords) for keywords in probes], "limit": limit}
        return self._post("/rebuild/compare", ComparisonAnswer, body)

    def switch_rebuilt(self) -> Flow[EditionAnswer]:
        """Let the rebuilt network take the current one's place."""
        return self._post("/rebuild/switch", EditionAnswer, repeatable=False)

    def drop_rebuilt(self) -> Flow[EditionAnswer]:
        """Delete the rebuilt network."""
        return self._post("/rebuild/drop", EditionAnswer, repeatable=False)

    def network(self, **options: Unpack[NetworkOptions]) -> Flow[NetworkAnswer]:
        """Return nodes, links and focus: now, or as the pass ``number`` left them."""
        params = {"pass": options.get("number"), "limit": options.get("limit")}
        return self._get("/network", NetworkAnswer, params)

    def passes(self, **page: Unpack[Page]) -> Flow[PassList]:
        """List passes, the latest first."""
        return self._get("/passes", PassList, page)

    def fading(self, **options: Unpack[FadingOptions]) -> Flow[FadingAnswer]:
        """Return strengths, importance and length of memories over passes."""
        return self._get("/fading", FadingAnswer, options)

    def receipt(self, receipt_id: UUID) -> Flow[ReceiptAnswer]:
        """Return what an operation did."""
        return self._get(f"/receipts/{receipt_id}", ReceiptAnswer)

    def settings(self) -> Flow[SettingsAnswer]:
        """Return the memory parameters that hold for the agent."""
        return self._get("/settings", SettingsAnswer)

    def configure(self, parameters: Mapping[str, float | str]) -> Flow[SettingsAnswer]:
        """Replace the parameters that the agent has of its own."""
        request = exchange("PUT", f"{self._path}/settings", body=parameters)
        return ask(request, SettingsAnswer, self._habits.retries)

    def usage(self, *, days: int = 30) -> Flow[UsageAnswer]:
        """Return what language models took for the agent, and its budget of today."""
        return self._get("/usage", UsageAnswer, {"days": days})

    def jobs(self, **options: Unpack[JobOptions]) -> Flow[JobList]:
        """List jobs in the order of the mailbox."""
        return self._get("/jobs", JobList, options)

    def job(self, job_id: UUID) -> Flow[JobAnswer]:
        """Return one job."""
        return self._get(f"/jobs/{job_id}", JobAnswer)

    def cancel(self, job_id: UUID) -> Flow[JobAnswer]:
        """Take a queued job out of the mailbox."""
        return self._post(f"/jobs/{job_id}/cancel", JobAnswer, repeatable=False)

    def replay(self, job_id: UUID, *, where: Literal["place", "tail"] = "place") -> Flow[JobAnswer]:
        """Run a dead job again: in its place, or anew behind all that waits."""
        return self._post(f"/jobs/{job_id}/replay", JobAnswer, {"where": where}, repeatable=False)

    def discard(self, job_id: UUID) -> Flow[JobAnswer]:
        """Give up a dead job."""
        return self._post(f"/jobs/{job_id}/discard", JobAnswer, repeatable=False)

    def preview_erasure(self, **which: Unpack[PreviewOptions]) -> Flow[ErasurePreview]:
        """Return what would go with these messages; erases nothing."""
        return self._erase("POST", "/erase", ErasurePreview, {**which, "preview": True})

    def erase(self, **which: Unpack[ErasureOptions]) -> Flow[ReceiptAnswer]:
        """Erase messages or a session for good, with everything that was made of them."""
        return self._erase("POST", "/erase", ReceiptAnswer, which)

    def erase_agent(self) -> Flow[ReceiptAnswer]:
        """Erase all that the agent holds, for good."""
        return self._erase("DELETE", "", ReceiptAnswer)

    def pause(self) -> Flow[LaneAnswer]:
        """Let no worker begin another job of the agent."""
        return self._post("/pause", LaneAnswer)

    def cancel_compression(self) -> Flow[LaneAnswer]:
        """Drop the pass under way and the one that waits; what is done stays."""
        return self._post("/compress/cancel", LaneAnswer)

    def resume(self) -> Flow[LaneAnswer]:
        """Let workers go on."""
        return self._post("/resume", LaneAnswer)

    def wait(self, job_id: UUID, *, timeout_s: float = 60.0) -> Flow[JobAnswer]:
        """Return a job as soon as it is no longer queued.

        Raises ``UnavailableError`` after ``timeout_s``; it says if the agent is paused or halted.
        """
        deadline = time.monotonic() + timeout_s
        while (job := (yield from self.job(job_id))).state is JobState.QUEUED:
            if time.monotonic() > deadline:
                reason = _why_late((yield from self.about()))
                raise UnavailableError(
                    f"job {job_id} is still queued after {timeout_s:g} s; {reason}"
                )
            yield Pause(_POLL_S)
        return job

    def wait_rebuilt(self, *, timeout_s: float = 60.0) -> Flow[EditionAnswer]:
        """Return the rebuilt network as soon as no job works at it, or raise likewise."""
        deadline = time.monotonic() + timeout_s
        while (rebuilt := (yield from self.rebuilt())).job is not None:
            if rebuilt.job.state is JobState.DEAD:
                raise ConflictError(
                    f"job {rebuilt.job.id} is dead ({rebuilt.job.error}): "
                    "replay that job, or drop the rebuilt network"
                )
            if time.monotonic() > deadline:
                reason = _why_late((yield from self.about()))
                raise UnavailableError(
                    f"edition {rebuilt.edition} is still {rebuilt.state} after {timeout_s:g} s; "
                    f"{reason}"
                )
            yield Pause(_POLL_S)
        return rebuilt

    def export(self, path: Path | str, *, overwrite: bool = False) -> Flow[ArchiveManifest]:
        """Save the agent as one archive; return what that says about itself.

        Raises ``InvalidInputError`` for a file that is there, unless it may be replaced.
        """
        target = Path(path)
        if target.exists() and not overwrite:
            raise InvalidInputError(f"{target} is there already: name another file", field="path")
        request = exchange("POST", f"{self._path}/export", extra_timeout_s=_TRANSFER_S)
        yield from answered(replace(request, save_to=target), self._habits.retries)
        return read_manifest(target)

    def import_(self, path: Path | str) -> Flow[ImportAnswer]:
        """Make this agent, which must hold nothing yet, of an archive."""
        source = Path(path)
        read_manifest(source)
        request = exchange(
            "POST",
            f"{self._path}/import",
            extra_timeout_s=_TRANSFER_S,
            # What arrived and was not answered has made an agent, which is in its own way now.
            repeatable=False,
        )
        headers = {
            "Content-Type": "application/zip",
            "Content-Length": str(source.stat().st_size),
        }
        sent = replace(request, body=source, headers=headers)
        answer = yield from ask(sent, ImportAnswer, self._habits.retries)
        return answer

    def wait_idle(self, *, timeout_s: float = 60.0) -> Flow[AgentAnswer]:
        """Return the agent as soon as nothing is left to do for it, or raise likewise."""
        deadline = time.monotonic() + timeout_s
        while not (about := (yield from self.about())).idle:
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"agent {self.id} is still busy after {timeout_s:g} s; {_why_late(about)}"
                )
            yield Pause(_POLL_S)
        return about

    def _append(
        self, messages: Sequence[MessageLike], remember: Remember, options: AppendOptions
    ) -> Flow[AppendAnswer]:
        request = exchange(
            "POST",
            f"{self._path}/messages",
            body={
                "messages": messages,
                "remember": remember,
                "session_id": options.get("session_id"),
                "user_id": options.get("user_id"),
                "skip_erased": options.get("skip_erased"),
            },
            # One key for all attempts: what arrived and was not answered is not stored twice.
            idempotency_key=options.get("idempotency_key") or str(uuid4()),
        )
        answer = yield from ask(request, AppendAnswer, self._habits.retries)
        self._habits.latest.note(self.id, answer.seq)
        return answer

    def _read(
        self, path: str, answer: type[AnswerT], options: Mapping[str, Any], **body: Any
    ) -> Flow[AnswerT]:
        own_seq = self._habits.latest.of(self.id)
        fresh = {} if own_seq is None else {"min_seq": own_seq, "wait_ms": self._habits.wait_ms}
        body = {**fresh, **options, **body}
        request = exchange(
            "POST",
            self._path + path,
            body=body,
            extra_timeout_s=body.get("wait_ms", 0) / 1000,
        )
        return ask(request, answer, self._habits.retries)

    def _erase(
        self,
        method: str,
        path: str,
        answer: type[AnswerT],
        body: Mapping[str, Any] | None = None,
    ) -> Flow[AnswerT]:
        request = exchange(
            method,
            self._path + path,
            body=body,
            extra_timeout_s=_ERASING_S,
            repeatable=body is not None,  # what is erased twice was there once
        )
        return ask(request, answer, self._habits.retries)

    def _get(
        self, path: str, answer: type[AnswerT], params: Mapping[str, Any] | None = None
    ) -> Flow[AnswerT]:
        return ask(exchange("GET", self._path + path, params=params), answer, self._habits.retries)

    def _post(
        self,
        path: str,
        answer: type[AnswerT],
        body: Mapping[str, Any] | None = None,
        *,
        repeatable: bool = True,
    ) -> Flow[AnswerT]:
        request = exchange("POST", self._path + path, body=body, repeatable=repeatable)
        return ask(request, answer, self._habits.retries)


def _why_late(about: AgentAnswer) -> str:
    if about.paused:
        return f"agent {about.agent_id} is paused: resume it, and workers go on"
    if about.halted_by is not None:
        return (
            f"agent {about.agent_id} is halted by dead job {about.halted_by}: "
            "replay that job, or resume the agent to go on without it"
        )
    return "do workers run?"
