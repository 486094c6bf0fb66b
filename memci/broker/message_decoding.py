"""Decodes the messages in an agent's Celery queue; anyone may have put them there."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid5

from memci.broker.intake_queues import noted_size
from memci.errors import InvalidInputError
from memci.telemetry.traces import valid_traceparent

# Job ids of messages whose task id is no UUID, or that have none.
_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000002")


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """One message of a Celery producer."""

    id: UUID
    task: str
    arguments: Mapping[str, Any]
    traceparent: str | None
    positional: bool = False  # had positional arguments, which are dropped


def decode(raw: bytes, *, limit_bytes: int) -> IncomingMessage:
    """Decode a kombu envelope with a Celery body, protocol 1 or 2, JSON only.

    Raises ``InvalidInputError``, which quotes nothing of the message, also for a body over
    ``limit_bytes``; the reader of the queue limits the rest.
    """
    size = noted_size(raw)
    if size is not None:
        raise InvalidInputError(
            f"{size} bytes are too many to be read, and only the ends are kept: send fewer messages"
            " at once, or raise MEMCI_HTTP_MAX_REQUEST_BYTES"
        )
    envelope = _envelope(raw)
    properties = envelope.get("properties")
    encoding = properties.get("body_encoding") if isinstance(properties, dict) else None
    headers = envelope.get("headers")
    body = _body(envelope, encoding)
    # Not the envelope: its base64 is a third larger than what the producer has sent.
    if len(body) > limit_bytes:
        raise InvalidInputError(f"larger than {limit_bytes} bytes; send fewer messages at once")
    content_type = str(envelope.get("content-type") or "application/json")
    return _decode_body(raw, body, headers if isinstance(headers, dict) else {}, content_type)


def _decode_body(
    raw: bytes, body: bytes, headers: Mapping[str, Any], content_type: str
) -> IncomingMessage:
    if content_type != "application/json":
        raise InvalidInputError("only JSON is accepted: set the producer's task_serializer to json")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInputError("the body is not JSON") from None
    if isinstance(content, dict):  # protocol 1
        task, task_id, arguments = content.get("task"), content.get("id"), content.get("kwargs")
        unnamed = content.get("args")
    elif isinstance(content, list) and len(content) == 3:  # noqa: PLR2004 - protocol 2
        task, task_id, arguments = headers.get("task"), headers.get("id"), content[1]
        unnamed = content[0]
    else:
        raise InvalidInputError("the body is not a Celery task message")
    if not isinstance(task, str) or not isinstance(arguments, dict):
        raise InvalidInputError("expected a task name and keyword arguments")
    traceparent = headers.get("traceparent")
    return IncomingMessage(
        id=job_id_of(task_id if isinstance(task_id, str) else None, raw),
        task=task,
        arguments=arguments,
        traceparent=valid_traceparent(traceparent) if isinstance(traceparent, str) else None,
        positional=bool(unnamed),
    )


def encode(
    task: str, task_id: str, arguments: Mapping[str, Any], traceparent: str | None = None
) -> bytes:
    """Return the envelope of a message that a worker got decoded."""
    body = json.dumps([[], dict(arguments), {}]).encode()
    return json.dumps(
        {
            "headers": {"task": task, "id": task_id, "traceparent": traceparent},
            "content-type": "application/json",
            "body": base64.b64encode(body).decode(),
            "properties": {"body_encoding": "base64"},
        }
    ).encode()


def job_id_of(task_id: str | None, raw: bytes) -> UUID:
    """Return the job id of a message: from its task id, or from its bytes if it has none."""
    if task_id is None:
        return uuid5(_NAMESPACE, sha256(raw).hexdigest())
    try:
        return UUID(task_id)
    except ValueError:
        return uuid5(_NAMESPACE, task_id.encode(errors="surrogatepass").hex())


def _body(envelope: Mapping[str, Any], encoding: object) -> bytes:
    body = envelope.get("body")
    if not isinstance(body, str):
        raise InvalidInputError("the envelope has no body")
    if encoding != "base64":
        return body.encode(errors="replace")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInputError("the body is not base64") from None


def _envelope(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidInputError("the envelope is not JSON") from None
    if not isinstance(value, dict):
        raise InvalidInputError("the envelope is not a JSON object")
    return value
