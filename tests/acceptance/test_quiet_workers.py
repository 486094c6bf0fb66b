"""Logs and Flower's events contain no texts of messages and questions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest

from memci.broker.app import make_app
from memci.broker.names import READ_QUEUE, agent_queue_name, queue, read_task
from memci.testing import wait_until
from tests.support import fleet as fleets


@contextmanager
def collected_events(app: Any) -> Iterator[list[dict[str, Any]]]:
    """Collect the events of all workers."""
    events: list[dict[str, Any]] = []
    with app.connection_for_read() as connection:
        receiver = app.events.Receiver(connection, handlers={"*": events.append})

        def listen() -> None:
            for _ in receiver.consume(limit=None, timeout=None, wakeup=False):
                pass

        thread = Thread(target=listen, daemon=True)
        thread.start()
        try:
            yield events
        finally:
            receiver.should_stop = True
            thread.join(10)


def types_of(events: list[dict[str, Any]], task_id: str) -> set[str]:
    return {event["type"] for event in events if event.get("uuid") == task_id}


@pytest.mark.long
@pytest.mark.timeout(120)
def test_texts_of_tasks_are_in_no_log_and_no_event(producer, database_url, broker_url, tmp_path):
    producer.append("ada", text="HUSH is what was said")
    with (
        fleets.fleet(database_url, broker_url, tmp_path) as fleet,
        make_app(broker_url) as app,
        collected_events(app) as events,
    ):
        fleet.app = "workers"
        queues = f"{READ_QUEUE},{agent_queue_name('ada')}"
        worker = fleet.start(queues, MEMCI_LOG_LEVEL="debug")

        def ask(**fields: Any) -> Any:
            return app.send_task(
                read_task("assemble"), kwargs={"agent_id": "ada", "v": 1, **fields},
                queue=queue(READ_QUEUE), ignore_result=False,
            )  # fmt: skip

        good = ask(query="HUSH is what is asked", budget_tokens=500)
        bad = ask(query="HUSH " * 50, budget_tokens=20)
        assert "HUSH is what was said" in json.dumps(good.get(timeout=60))
        with pytest.raises(Exception, match="tokens"):
            bad.get(timeout=60)

        message = {"role": "user", "content": "HUSH is said again"}
        sent = app.send_task(
            "memci.memory.create", kwargs={"agent_id": "ada", "messages": [message]},
            queue=queue(agent_queue_name("ada")), ignore_result=True,
        )  # fmt: skip
        producer.wait_drained(["ada"])
        wait_until(lambda: "task-succeeded" in types_of(events, sent.id), "the job was told of")
        wait_until(lambda: "task-failed" in types_of(events, bad.id), "the failed read was told of")
        assert {"task-received", "task-succeeded"} <= types_of(events, good.id)
        received = next(e for e in events if e["type"] == "task-received" and e["uuid"] == good.id)
        assert json.loads(received["kwargs"]) == {"agent_id": "ada"}
        assert "HUSH" not in json.dumps(events)
        assert "HUSH" not in worker.log_text
        assert good.id in worker.log_text
