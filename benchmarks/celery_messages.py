"""Puts many Celery messages into a queue at one moment.

Publishing thousands one by one would take longer than processing them, and a worker would begin
with the first. So they are prepared under another name, and one RENAME publishes them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from contextlib import closing
from uuid import uuid4

import redis

from memci.broker.app import make_app
from memci.broker.names import queue

_TEMPLATE = "bench.template"
_PREPARED = "bench.prepared"


class CeleryMessages:
    """Messages of one task that differ in id and agent."""

    def __init__(self, broker_url: str, task: str) -> None:
        """Use one message made by Celery as the template."""
        self._broker_url = broker_url
        with (
            make_app(broker_url) as app,
            closing(redis.Redis.from_url(broker_url)) as client,
        ):
            app.send_task(task, kwargs={"agent_id": "x"}, queue=queue(_TEMPLATE))
            raw = client.rpop(_TEMPLATE)
        assert isinstance(raw, bytes)
        self._pattern = json.loads(raw)

    def prepare(self, agents: Sequence[str]) -> None:
        """Make one message for each agent, in this order."""
        with closing(redis.Redis.from_url(self._broker_url)) as client:
            client.delete(_PREPARED)
            for start in range(0, len(agents), 1000):
                client.lpush(_PREPARED, *map(self._message, agents[start : start + 1000]))

    def release(self, queue_name: str) -> None:
        """Publish them in the queue, which must be empty."""
        with closing(redis.Redis.from_url(self._broker_url)) as client:
            client.rename(_PREPARED, queue_name)

    def _message(self, agent_id: str) -> bytes:
        task_id = str(uuid4())
        body = json.dumps([[], {"agent_id": agent_id}, {}]).encode()
        headers = {**self._pattern["headers"], "id": task_id, "root_id": task_id}
        properties = {
            **self._pattern["properties"],
            "correlation_id": task_id,
            "delivery_tag": str(uuid4()),
        }
        message = {
            **self._pattern,
            "body": base64.b64encode(body).decode(),
            "headers": headers,
            "properties": properties,
        }
        return json.dumps(message).encode()
