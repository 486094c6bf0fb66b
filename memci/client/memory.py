"""Writes messages, reads memory; erases, exports, imports and rebuilds it."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack
from uuid import uuid4

from memci.client import keyword_arguments as options
from memci.client.agent_state import WaitingMethods
from memci.client.archive_files import read_manifest
from memci.client.keyword_arguments import Messages
from memci.client.method import Methods, TransportT, method
from memci.client.requests import AnswerT, ClientRequest, Flow, path_of_name, send
from memci.domain.job import JobState
from memci.errors import ConflictError, InvalidInputError
from memci.message import Remember
from memci.schemas.agents import CompressAnswer, FocusList, ReceiptAnswer
from memci.schemas.archive import ArchiveManifest, ErasurePreview, ImportAnswer
from memci.schemas.messages import AppendAnswer
from memci.schemas.network_editions import ComparisonAnswer, EditionAnswer, RestoreAnswer
from memci.schemas.reads import ContextAnswer, RecallAnswer, RecallText, SearchAnswer
from memci.schemas.sessions import ConsolidateAnswer, HandoverAnswer, SessionEndAnswer


class MemoryMethods(Methods[TransportT]):
    """Writes messages, and reads from memory."""

    @method
    def remember(
        self, messages: Messages, **options: Unpack[options.AppendOptions]
    ) -> Flow[AppendAnswer]:
        """Store messages, and make memories of them now."""
        return self._append(messages, Remember.NOW, options)

    @method
    def record(
        self,
        messages: Messages,
        *,
        remember: Remember = Remember.AUTO,
        **options: Unpack[options.AppendOptions],
    ) -> Flow[AppendAnswer]:
        """Store messages; memories are made of them when they leave the window, or never."""
        return self._append(messages, remember, options)

    @method
    def compress(self, *, reason: str | None = None) -> Flow[CompressAnswer]:
        """Ask for one more pass; asking again while one waits changes nothing."""
        return self._post("/compress", CompressAnswer, {"reason": reason})

    @method
    def recall(
        self, keywords: str | Sequence[str], **options: Unpack[options.RecallOptions]
    ) -> Flow[RecallAnswer]:
        """Search the network from what the agent is talking about; for programs."""
        return self._read("/recall", RecallAnswer, options, keywords=keywords, format="structured")

    @method
    def recall_text(
        self, keywords: str | Sequence[str], **options: Unpack[options.RecallOptions]
    ) -> Flow[RecallText]:
        """Search as ``recall`` does; for a model."""
        return self._read("/recall", RecallText, options, keywords=keywords, format="text")

    @method
    def search(self, query: str, **options: Unpack[options.SearchOptions]) -> Flow[SearchAnswer]:
        """Search messages and memories by meaning and by words."""
        return self._read("/search", SearchAnswer, options, query=query)

    @method
    def context(
        self,
        query: str | None = None,
        **options: Unpack[options.ContextOptions],
    ) -> Flow[ContextAnswer]:
        """Assemble the messages that a model should see, within ``budget_tokens``."""
        return self._read("/context", ContextAnswer, options, query=query)

    @method
    def handover(self, **options: Unpack[options.HandoverOptions]) -> Flow[HandoverAnswer]:
        """Write one document with all that another agent needs to continue a session."""
        return self._read("/handover", HandoverAnswer, options)

    @method
    def consolidate(self) -> Flow[ConsolidateAnswer]:
        """Merge short-term memories that say the same; requests that wait are one."""
        return self._post("/consolidate", ConsolidateAnswer)

    @method
    def end_session(self, session_id: str) -> Flow[SessionEndAnswer]:
        """End a session; ending it again changes nothing, until something is said in it."""
        return self._post(f"/sessions/{path_of_name(session_id)}/end", SessionEndAnswer)

    @method
    def mention(self, entity: str) -> Flow[FocusList]:
        """Bring an entity into the focus."""
        return self._post("/focus", FocusList, {"entity": entity})

    @method
    def restore(self, node_id: int) -> Flow[RestoreAnswer]:
        """Make a forgotten memory again; asking twice is asking once."""
        return self._post(f"/nodes/{node_id}/restore", RestoreAnswer)

    def _append(
        self,
        messages: Messages,
        remember: Remember,
        options: options.AppendOptions,
    ) -> Flow[AppendAnswer]:
        body: dict[str, Any] = {**options, "messages": messages, "remember": remember}
        # One key for all attempts: a request that arrived without an answer is not stored twice.
        key = body.pop("idempotency_key", None) or str(uuid4())
        answer = yield from self._fetch(
            "POST", "/messages", AppendAnswer, json=body, headers={"Idempotency-Key": key}
        )
        self._options.latest_seqs.note(self.id, answer.seq)
        return answer

    def _read(
        self, path: str, answer: type[AnswerT], options: Mapping[str, Any], **body: Any
    ) -> Flow[AnswerT]:
        own_seq = self._options.latest_seqs.get(self.id)
        fresh = {} if own_seq is None else {"min_seq": own_seq, "wait_ms": self._options.wait_ms}
        body = {**fresh, **options, **body}
        wait_s = body.get("wait_ms", 0) / 1000
        return self._fetch("POST", path, answer, json=body, extra_timeout_s=wait_s)


_TRANSFER_S = 1_800.0


class TransferMethods(Methods[TransportT]):
    """Erases, exports and imports."""

    @method
    def preview_erasure(self, **which: Unpack[options.PreviewOptions]) -> Flow[ErasurePreview]:
        """Return what an erasure would remove; erases nothing."""
        body = {**which, "preview": True}
        return self._fetch_slowly("POST", "/erase", ErasurePreview, json=body)

    @method
    def erase(self, **which: Unpack[options.ErasureOptions]) -> Flow[ReceiptAnswer]:
        """Erase messages or a session for good, with all that was made of them."""
        return self._fetch_slowly("POST", "/erase", ReceiptAnswer, json=which)

    @method
    def erase_agent(self) -> Flow[ReceiptAnswer]:
        """Erase all that the agent holds, for good."""
        # A second request would not find it.
        return self._fetch_slowly("DELETE", "", ReceiptAnswer, repeatable=False)

    @method
    def export(self, path: Path | str, *, overwrite: bool = False) -> Flow[ArchiveManifest]:
        """Save the agent as one archive; return its manifest.

        Raises ``InvalidInputError`` for an existing file, unless ``overwrite``.
        """
        target = Path(path)
        if target.exists() and not overwrite:
            raise InvalidInputError(f"{target} is there already: name another file", field="path")
        request = ClientRequest(
            "POST", f"{self._path}/export", extra_timeout_s=_TRANSFER_S, save_to=target
        )
        yield from send(request, self._options.retries)
        return read_manifest(target)

    @method
    def import_(self, path: Path | str) -> Flow[ImportAnswer]:
        """Fill this agent, which must hold nothing yet, from an archive."""
        source = Path(path)
        read_manifest(source)
        return self._fetch(
            "POST",
            "/import",
            ImportAnswer,
            body=source,
            headers={
                "Content-Type": "application/zip",
                "Content-Length": str(source.stat().st_size),
            },
            extra_timeout_s=_TRANSFER_S,
            repeatable=False,  # a second request would find the agent of the first
        )


class RebuildMethods(WaitingMethods[TransportT]):
    """Rebuilds a network, compares it, then switches to it or drops it."""

    @method
    def rebuild(self, *, up_to_seq: int | None = None) -> Flow[EditionAnswer]:
        """Rebuild the network from its messages, beside the current one."""
        body = {"up_to_seq": up_to_seq}
        return self._post("/rebuild", EditionAnswer, body, repeatable=False)

    @method
    def rebuilt(self) -> Flow[EditionAnswer]:
        """Return the progress of the rebuild, or the result of the last one."""
        return self._get("/rebuild", EditionAnswer)

    @method
    def compare_rebuilt(
        self, probes: Sequence[Sequence[str]] = (), *, limit: int = 20
    ) -> Flow[ComparisonAnswer]:
        """Compare the rebuilt network with the current one; ``probes`` are keywords of recalls."""
        body = {"probes": [list(keywords) for keywords in probes], "limit": limit}
        return self._post("/rebuild/compare", ComparisonAnswer, body)

    @method
    def switch_rebuilt(self) -> Flow[EditionAnswer]:
        """Replace the current network by the rebuilt one."""
        return self._post("/rebuild/switch", EditionAnswer, repeatable=False)

    @method
    def drop_rebuilt(self) -> Flow[EditionAnswer]:
        """Delete the rebuilt network."""
        return self._post("/rebuild/drop", EditionAnswer, repeatable=False)

    @method
    def wait_rebuilt(self, *, timeout_s: float = 60.0) -> Flow[EditionAnswer]:
        """Return the rebuilt network as soon as no job works on it; raises as ``wait``."""
        deadline = time.monotonic() + timeout_s
        while (rebuilt := (yield from self._get("/rebuild", EditionAnswer))).job is not None:
            if rebuilt.job.state is JobState.DEAD:
                raise ConflictError(
                    f"job {rebuilt.job.id} is dead ({rebuilt.job.error}): "
                    "replay that job, or drop the rebuilt network"
                )
            late = f"edition {rebuilt.edition} is still {rebuilt.state} after {timeout_s:g} s"
            yield from self._pause(deadline, late)
        return rebuilt
