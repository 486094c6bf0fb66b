"""Hooks of schemathesis, which runs in a separate process."""

from __future__ import annotations

from typing import Any

import schemathesis

LONGEST_MS = 30_000


@schemathesis.serializer("application/zip")
def archive(_context: Any, value: Any) -> bytes:
    """Send the generated value as it is: random bytes, not a real archive."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@schemathesis.hook
def map_body(_context: Any, body: Any) -> Any:
    """Set a valid wait_ms to 0, so that no read waits; keep an invalid one."""
    if isinstance(body, dict) and type(body.get("wait_ms")) is int:
        wait_ms = body["wait_ms"]
        return body | {"wait_ms": 0 if 0 <= wait_ms <= LONGEST_MS else wait_ms}
    return body


@schemathesis.hook
def filter_body(_context: Any, body: Any) -> bool:
    """Skip forms whose name is not text: a form can only hold text."""
    is_form = isinstance(body, dict) and "file" in body and "name" in body
    return not is_form or isinstance(body["name"], str)
