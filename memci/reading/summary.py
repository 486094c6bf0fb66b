"""``memci.read.summarise``: what was said, in short (R20)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from memci.domain.context.token_budget import Count
from memci.message import Message, Role, note_metadata
from memci.reading.deferred_writes import use_of
from memci.reading.reader import Reader
from memci.schemas.memory_tools import Summary, SummaryRequest
from memci.storage.agents import check_there
from memci.storage.reading.messages import messages_at
from memci.storage.reading.snapshot_state import progress

_LONGEST = 16_000  # characters; no text of so few tokens has more


class Summarise(Reader):
    """Sums up by the summarizer; its call is made outside of any transaction."""

    def run(self, agent_id: str, request: SummaryRequest) -> Summary:
        """Return a summary of at most ``max_tokens`` tokens; raises ``NotFoundError``: no agent.

        It is never longer than what it sums up.
        """
        with self._database.agent_snapshot(agent_id) as connection:
            check_there(connection, agent_id)
            now = progress(connection, agent_id)
            said = messages_at(connection, agent_id, request.seqs)
        count = self._models.tokenizers.count(self._defaults.tokenizer)
        messages = [each for each in (*said, *map(_note, request.texts)) if each.text.strip()]
        previous = request.previous.strip()
        source = "\n".join([*([previous] if previous else []), *map(_line, messages)])
        of_tokens = count(source)
        text = self._summary(messages, previous, request.max_tokens, (of_tokens, count))
        if not text or count(text) >= of_tokens:
            text = _cut(source, request.max_tokens, count)
        ids = {each.seq: each.id for each in said}
        use = use_of(agent_id, "summarise", now, (ids.keys(), []), ids)
        self._activity.note(agent_id, use=use)
        return Summary(text=text, tokens=count(text), of_tokens=of_tokens)

    def _summary(
        self,
        messages: Sequence[Message],
        previous: str,
        max_tokens: int,
        counted: tuple[int, Count],
    ) -> str:
        """Ask for as many characters as so many tokens of these texts are; then drop last lines."""
        of_tokens, count = counted
        if not of_tokens:
            return ""
        characters = len(previous) + sum(len(each.text) for each in messages)
        target = min(_LONGEST, max(1, max_tokens * characters // of_tokens))
        text = self._models.summarizer.summarize(messages, previous, target).strip()
        lines = text.splitlines()
        while len(lines) > 1 and count("\n".join(lines)) > max_tokens:
            lines.pop()
        return _cut("\n".join(lines), max_tokens, count)


def _cut(text: str, max_tokens: int, count: Count) -> str:
    """Return so much of a text, from its beginning, as has at most so many tokens."""
    while (tokens := count(text)) > max_tokens:
        text = text[: min(len(text) - 1, len(text) * max_tokens // tokens)].rstrip()
    return text


def _line(message: Message) -> str:
    """Return what was said, and who said it: of what an agent noted, nobody did."""
    speaker = message.name or message.role
    return message.text if message.is_note else f"{speaker}: {message.text}"


def _note(text: str) -> Message:
    """Return a text of the agent's own, which it said to nobody."""
    return Message(0, "", Role.ASSISTANT, text, datetime.now(UTC), metadata=note_metadata())
