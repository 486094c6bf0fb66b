"""What schemathesis is told; it runs in a process of its own."""

from __future__ import annotations

from typing import Any

import schemathesis

LONGEST_MS = 30_000


@schemathesis.serializer("application/zip")
def archive(_context: Any, value: Any) -> bytes:
    """Send what stands for an archive as it is: random bytes, which are none."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@schemathesis.hook
def map_body(_context: Any, body: Any) -> Any:
    """Let no read wait for messages that never come; a wait that is refused stays as it is."""
    if isinstance(body, dict) and type(body.get("wait_ms")) is int:
        wait_ms = body["wait_ms"]
        return body | {"wait_ms": 0 if 0 <= wait_ms <= LONGEST_MS else wait_ms}
    return body


@schemathesis.hook
def filter_body(_context: Any, body: Any) -> bool:
    """Pass over forms with a name of another type: a form holds nothing but text."""
    is_form = isinstance(body, dict) and "file" in body and "name" in body
    return not is_form or isinstance(body["name"], str)
