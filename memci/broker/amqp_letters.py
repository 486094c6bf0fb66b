"""Messages of an AMQP queue as one piece of bytes, in the form that kombu gives them on Redis."""

from __future__ import annotations

import base64
import json
from typing import Any

from memci.broker.oversized import end_bytes, note

# What RabbitMQ adds differs from one delivery to the next; a letter without an id is known by
# its bytes.
_BROKER_HEADERS = "x-"


def raw_letter(message: Any, most_bytes: int) -> bytes:
    """Return an ``amqp.Message`` in its envelope, or the note on one that is too large."""
    body = message.body.encode() if isinstance(message.body, str) else bytes(message.body)
    size = len(body)
    if size <= most_bytes:
        return _envelope(message, body)
    end = end_bytes(most_bytes)
    # The body of two messages may be the same; their headers say which is which.
    return note(size, body[:end], body[-end:] + _envelope(message, b""))


def _envelope(message: Any, body: bytes) -> bytes:
    """Wrap a message: the same one gives the same bytes however often it comes."""
    properties = message.properties
    headers = properties.get("application_headers") or {}
    return json.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-encoding": properties.get("content_encoding"),
            "content-type": properties.get("content_type"),
            "headers": {
                name: value
                for name, value in headers.items()
                if not name.startswith(_BROKER_HEADERS)
            },
            "properties": {
                "body_encoding": "base64",
                "correlation_id": properties.get("correlation_id"),
                "reply_to": properties.get("reply_to"),
            },
        },
        # AMQP knows times, decimals and bytes; none of them is in a header that we read.
        default=str,
        # A message that comes again may bring its headers in another order.
        sort_keys=True,
    ).encode()
