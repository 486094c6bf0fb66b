"""Writing messages, asking memory, moving, erasing and rebuilding it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack
from urllib.parse import quote
from uuid import uuid4

from memci.client.exchange import Flow, Pause, answered, ask, exchange
from memci.client.files import read_manifest
from memci.client.options import (
    AppendOptions,
    ContextOptions,
    ErasureOptions,
    HandoverOptions,
    MessageLike,
    PreviewOptions,
    RecallOptions,
    SearchOptions,
)
from memci.client.verbs.agent_requests import AnswerT, Asking
from memci.client.verbs.agents import LookingVerbs, why_late
from memci.domain.job import JobState
from memci.errors import ConflictError, InvalidInputError, UnavailableError
from memci.message import Remember
from memci.schemas.agents import CompressAnswer, FocusList, ReceiptAnswer
from memci.schemas.archive import ArchiveManifest, ErasurePreview, ImportAnswer
from memci.schemas.editions import ComparisonAnswer, EditionAnswer, RestoreAnswer
from memci.schemas.messages import AppendAnswer
from memci.schemas.reads import ContextAnswer, RecallAnswer, RecallText, SearchAnswer
from memci.schemas.sessions import ConsolidateAnswer, HandoverAnswer, SessionEndAnswer


class MemoryVerbs(Asking):
    """Tells a memory, and asks it."""

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

    def handover(self, **options: Unpack[HandoverOptions]) -> Flow[HandoverAnswer]:
        """Write what another agent needs to go on with a session, as one document."""
        return self._read("/handover", HandoverAnswer, options)

    def consolidate(self) -> Flow[ConsolidateAnswer]:
        """Merge short-term memories that say the same; asking again while it waits is no more."""
        return self._post("/consolidate", ConsolidateAnswer)

    def end_session(self, session_id: str) -> Flow[SessionEndAnswer]:
        """End a session; ending it again changes nothing, until something is said in it."""
        # Slashes as they are; dots not: "..", as a part of a path, would be resolved on the way.
        return self._post(
            f"/sessions/{quote(session_id, safe='/').replace('.', '%2E')}/end", SessionEndAnswer
        )

    def mention(self, entity: str) -> Flow[FocusList]:
        """Bring an entity into the focus."""
        return self._post("/focus", FocusList, {"entity": entity})

    def restore(self, node_id: int) -> Flow[RestoreAnswer]:
        """Have a forgotten memory made anew; asking twice is asking once."""
        return self._post(f"/nodes/{node_id}/restore", RestoreAnswer)

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


# A large agent takes its time.
_ERASING_S = 300.0
_TRANSFER_S = 1_800.0


class MovingVerbs(Asking):
    """Erases, exports and imports."""

    def preview_erasure(self, **which: Unpack[PreviewOptions]) -> Flow[ErasurePreview]:
        """Return what would go with these messages; erases nothing."""
        return self._erase("POST", "/erase", ErasurePreview, {**which, "preview": True})

    def erase(self, **which: Unpack[ErasureOptions]) -> Flow[ReceiptAnswer]:
        """Erase messages or a session for good, with everything that was made of them."""
        return self._erase("POST", "/erase", ReceiptAnswer, which)

    def erase_agent(self) -> Flow[ReceiptAnswer]:
        """Erase all that the agent holds, for good."""
        return self._erase("DELETE", "", ReceiptAnswer)

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


_POLL_S = 0.2


class RebuildingVerbs(LookingVerbs):
    """Rebuilds, compares, then switches or drops."""

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
                reason = why_late((yield from self.about()))
                raise UnavailableError(
                    f"edition {rebuilt.edition} is still {rebuilt.state} after {timeout_s:g} s; "
                    f"{reason}"
                )
            yield Pause(_POLL_S)
        return rebuilt
