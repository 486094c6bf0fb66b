"""What an agent says, and what it asks of its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack
from urllib.parse import quote
from uuid import uuid4

from memci.client.flow import Flow, ask, exchange
from memci.client.options import (
    AppendOptions,
    ContextOptions,
    HandoverOptions,
    MessageLike,
    RecallOptions,
    SearchOptions,
)
from memci.client.verbs.asking import AnswerT, Asking
from memci.domain.message import Remember
from memci.shapes.agent import CompressAnswer, FocusList
from memci.shapes.belief import ConsolidateAnswer, SessionEndAnswer
from memci.shapes.edition import RestoreAnswer
from memci.shapes.message import AppendAnswer
from memci.shapes.read import ContextAnswer, RecallAnswer, RecallText, SearchAnswer
from memci.shapes.summary import HandoverAnswer


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
