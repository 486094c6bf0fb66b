"""A saver's wishes as requests to memci."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from memci.client.flow import Flow
from memci.client.verbs.asking import Asking
from memci.shapes.checkpoints import CheckpointKept, CheckpointList, ThreadAnswer

# A kind, and bytes: as LangGraph's serializer has them.
Typed = tuple[str, bytes]


class SaverVerbs(Asking):
    """Stores and reads checkpoints, as bytes."""

    def put(self, thread: str, fields: Mapping[str, Any]) -> Flow[CheckpointKept]:
        """Store a checkpoint."""
        return self._post(f"{_named(thread)}/checkpoints", CheckpointKept, fields)

    def put_writes(self, thread: str, fields: Mapping[str, Any]) -> Flow[CheckpointKept]:
        """Store what a task wrote."""
        return self._post(f"{_named(thread)}/writes", CheckpointKept, fields)

    def find(self, fields: Mapping[str, Any]) -> Flow[CheckpointList]:
        """List checkpoints, the latest first."""
        return self._post("/checkpoints/search", CheckpointList, fields)

    def copy(self, thread: str, to: str) -> Flow[ThreadAnswer]:
        """Store a thread under another name, too."""
        return self._post(f"{_named(thread)}/copy", ThreadAnswer, {"to": to})

    def prune(
        self,
        *,
        threads: Sequence[str] = (),
        run_ids: Sequence[str] = (),
        keep_latest: bool = True,
    ) -> Flow[None]:
        """Remove checkpoints of threads, or of runs; nothing, where none is named."""
        if threads or run_ids:
            body = {"threads": threads, "run_ids": run_ids, "keep_latest": keep_latest}
            yield from self._post("/checkpoints/prune", ThreadAnswer, body)


def packed(typed: Typed) -> dict[str, str]:
    """Return typed bytes as JSON has them."""
    kind, body = typed
    return {"kind": kind, "body": base64.b64encode(body).decode()}


def unpacked(kind: str, body: str) -> Typed:
    """Return typed bytes again."""
    return kind, base64.b64decode(body)


def _named(thread: str) -> str:
    # Slashes as they are; dots not: "..", as a part of a path, would be resolved on the way.
    return f"/threads/{quote(thread, safe='/').replace('.', '%2E')}"
