"""``MemciBlock``: a memory block of LlamaIndex, kept and searched by memci (``llama-index``).

::

    block = MemciBlock(agent=Memci("http://127.0.0.1:8000").agent("alice"))
    memory = Memory.from_defaults(session_id="monday", memory_blocks=[block])
"""

from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock
from pydantic import Field, PrivateAttr

from memci.client import Agent, AsyncAgent
from memci.client.requests import Flow
from memci.integrations.client import FlowRunner
from memci.schemas.reads import SearchAnswer

_ROLES = {"user": "user", "assistant": "assistant", "chatbot": "assistant", "model": "assistant"}
_CHARACTERS = 3  # of a token, at least in most texts


class MemciBlock(BaseMemoryBlock[str]):
    """Long-term memory: what leaves LlamaIndex's own history, found again by the last question.

    Messages become memories when the history is full. A read waits for what was written. Raises the
    errors of ``memci.errors``.
    """

    name: str = "memci"
    description: str | None = "What was said before."
    priority: int = 1
    agent: Agent | AsyncAgent = Field(exclude=True)
    user_id: str | None = None
    budget_tokens: int = Field(1_000, ge=1, description="Tokens of what is found, at most")
    _runner: FlowRunner = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Make the runner of the agent."""
        super().model_post_init(context)
        self._runner = FlowRunner(self.agent)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        """Return what the last message of the user leads to, one text on a line, best first."""
        asked = next((each for each in reversed(messages or []) if _role(each) == "user"), None)
        if asked is None or not asked.content:
            return ""
        return await self._runner.arun(self._found(asked.content))

    def _found(self, query: str) -> Flow[str]:
        options = {"budget_tokens": self.budget_tokens, "user_id": self.user_id}
        answer = yield from self._runner.read("/search", SearchAnswer, options, query=query)
        return "\n".join(" ".join(hit.text.split()) for hit in answer.hits)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store what users and the assistant said."""
        by_session: dict[str | None, list[dict[str, str]]] = {}
        for each in messages:
            if (role := _role(each)) and each.content:
                session = each.additional_kwargs.get("session_id")
                by_session.setdefault(session, []).append({"role": role, "content": each.content})
        for session, said in by_session.items():
            options = {"session_id": session, "user_id": self.user_id}
            await self._runner.arun(self._runner.append(said, options))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out the last lines, so many tokens of them."""
        left = len(content) - _CHARACTERS * tokens_to_truncate
        return content[: max(left, 0)].rpartition("\n")[0] or None


def _role(message: ChatMessage) -> str | None:
    return _ROLES.get(message.role.value)
