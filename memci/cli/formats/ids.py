"""Ids for messages that have none, from what the file says up to them.

The same file sent again gives the same ids, so nothing is stored twice; a file that has grown
keeps the ids of what it began with. Two files that begin alike share the ids of that beginning:
it is the same conversation, unless it is said to be of another session.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any


def with_ids(
    messages: Iterable[dict[str, Any]], session_id: str | None
) -> Iterator[dict[str, Any]]:
    """Yield the messages, each with an id; one that it brought along stays."""
    chain = hashlib.sha256(json.dumps(session_id).encode())
    for message in messages:
        written = json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        chain.update(written.encode() + b"\n")
        yield {"id": f"file-{chain.hexdigest()[:32]}", **message}
