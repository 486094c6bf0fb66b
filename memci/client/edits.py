"""Adds, corrects, pins and deletes single memories."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack
from uuid import uuid4

from memci.client import keyword_arguments as options
from memci.client.method import Methods, TransportT, method
from memci.client.requests import Flow
from memci.schemas.memories import AddAnswer, DeleteAnswer, EditAnswer, NewMemory, NumberedEdit


class EditMethods(Methods[TransportT]):
    """Changes single memories, by the ids that ``nodes`` lists."""

    @method
    def add_memory(self, text: str, **options: Unpack[options.AddOptions]) -> Flow[AddAnswer]:
        """Remember one fact as it is; it is pinned."""
        memory: dict[str, Any] = {"text": text, **options}
        scope = {name: memory.pop(name, None) for name in ("session_id", "user_id")}
        return self._add_all([memory], **scope)

    @method
    def add_memories(
        self,
        memories: Sequence[NewMemory | Mapping[str, Any]],
        *,
        session_id: str | None = None,
        user_id: str | None = None,
    ) -> Flow[AddAnswer]:
        """Remember several facts, all or none: ``{"text": …}``, and options of ``add_memory``."""
        return self._add_all(memories, session_id=session_id, user_id=user_id)

    @method
    def correct_memory(
        self, node_id: int, text: str, **options: Unpack[options.EditOptions]
    ) -> Flow[EditAnswer]:
        """Replace the text of a memory: it becomes another, pinned memory."""
        return self._edit([{"node_id": node_id, "text": text, **options}])

    @method
    def pin_memory(self, node_id: int) -> Flow[EditAnswer]:
        """Pin a memory: it neither fades nor is forgotten."""
        return self._edit([{"node_id": node_id, "pinned": True}])

    @method
    def unpin_memory(self, node_id: int) -> Flow[EditAnswer]:
        """Unpin a memory: it fades as any other."""
        return self._edit([{"node_id": node_id, "pinned": False}])

    @method
    def edit_memories(
        self, memories: Sequence[NumberedEdit | Mapping[str, Any]]
    ) -> Flow[EditAnswer]:
        """Change several memories, all or none: each has a ``node_id`` and what changes."""
        return self._edit(memories)

    @method
    def delete_memory(self, node_id: int) -> Flow[DeleteAnswer]:
        """Delete a memory; its messages stay, but reads do not show what it told."""
        return self._fetch("DELETE", f"/nodes/{node_id}", DeleteAnswer)

    @method
    def delete_memories(self, node_ids: Sequence[int]) -> Flow[DeleteAnswer]:
        """Delete several memories, all or none."""
        return self._fetch("DELETE", "/nodes", DeleteAnswer, params={"id": list(node_ids)})

    def _add_all(
        self, memories: Sequence[NewMemory | Mapping[str, Any]], **scope: str | None
    ) -> Flow[AddAnswer]:
        body = {"memories": list(memories), **scope}
        # One key for all attempts: a request that arrived without an answer is not stored twice.
        answer = yield from self._fetch(
            "POST", "/nodes", AddAnswer, json=body, headers={"Idempotency-Key": str(uuid4())}
        )
        self._options.latest_seqs.note(self.id, answer.seq)
        return answer

    def _edit(self, memories: Sequence[NumberedEdit | Mapping[str, Any]]) -> Flow[EditAnswer]:
        body = {"memories": list(memories)}
        # A second request would not find a corrected memory.
        answer = yield from self._fetch("PATCH", "/nodes", EditAnswer, json=body, repeatable=False)
        if answer.seq is not None:
            self._options.latest_seqs.note(self.id, answer.seq)
        return answer
