"""Messages, listed."""

from __future__ import annotations

from memci.domain.message import Message
from memci.reading.page import page_of, place_after
from memci.shapes.message import MessageList, MessageOut, ToolCall
from memci.storage.erasure.gone import snapshot_of
from memci.storage.reading.messages import list_messages
from memci.storage.session import Database


class MessageListings:
    """Reads the sequence of one agent."""

    def __init__(self, database: Database) -> None:
        """Take where it all is."""
        self._database = database

    def messages(
        self, agent_id: str, *, session_id: str | None, cursor: str | None, limit: int
    ) -> MessageList:
        """List messages by seq, of one session or of all."""
        (after,) = place_after(cursor)
        with snapshot_of(self._database, agent_id) as connection:
            rows = list_messages(
                connection, agent_id, session_id=session_id, after=after, limit=limit + 1
            )
        page, following = page_of(rows, limit, lambda row: row[0].seq)
        return MessageList(messages=[_message(*each) for each in page], next_cursor=following)


def _message(message: Message, memory_state: str, memory_reason: str | None) -> MessageOut:
    calls = [ToolCall.model_validate(call) for call in message.tool_calls]
    return MessageOut.model_validate(
        {
            "seq": message.seq,
            "id": message.id,
            "role": message.role,
            "content": message.content,
            "name": message.name,
            "timestamp": message.said_at,
            "session_id": message.session_id,
            "user_id": message.user_id,
            "tool_calls": calls or None,
            "tool_call_id": message.tool_call_id,
            "metadata": dict(message.metadata) or None,
            "memory_state": memory_state,
            "memory_reason": memory_reason,
        }
    )
