"""The Celery app that workers, beat and Flower load."""

from __future__ import annotations

import sys

from beat_schedule import beat_schedule
from memci.addresses import broker_url
from memci.broker.app import make_app
from memci.config import load_settings
from memci.errors import ConfigurationError
from workers.quiet import QuietTask

try:
    settings = load_settings()
    app = make_app(broker_url(settings))
except ConfigurationError as error:
    sys.exit(f"memci: {error}")

app.Task = QuietTask
app.conf.update(
    include=["workers.lanes", "workers.reads", "workers.upkeep", "workers.lifecycle"],
    beat_schedule=beat_schedule(settings),
    # In memory: a file would need a place to write, and could say nothing that is not in the
    # database.
    beat_scheduler="celery.beat:Scheduler",
    beat_max_loop_interval=1,
)
