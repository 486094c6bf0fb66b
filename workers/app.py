"""The Celery app of workers, beat and Flower; its logs and events never hold content.

Celery writes results and errors into its log, and arguments, results and tracebacks into the
events that Flower shows. Of what others send, all of these may hold text.
"""

import json
import sys
from typing import Any

import structlog
from celery import Task
from celery.worker.request import Request

from beat_schedule import beat_schedule
from memci.broker.app import make_app
from memci.config.settings import load_settings
from memci.domain.documents import check_owner
from memci.embedded.server_addresses import broker_url
from memci.errors import ConfigurationError, InvalidInputError, MemciError

_log = structlog.get_logger(__name__)


class QuietRequest(Request):  # type: ignore[misc]
    """A task's message as Celery reports it: of its arguments only the agent's id."""

    @property
    def argsrepr(self) -> str:
        """Arguments by place; we take none."""
        return "()"

    @property
    def kwargsrepr(self) -> str:
        """Arguments by name, as JSON."""
        return json.dumps(self._shown())

    def info(self, *, safe: bool = False) -> dict[str, Any]:
        """Return what a remote look at the worker shows."""
        del safe
        return {**super().info(safe=True), "args": [], "kwargs": self._shown()}

    def _shown(self) -> dict[str, str]:
        try:
            return {"agent_id": check_owner(self.kwargs.get("agent_id"))}
        except InvalidInputError:
            return {}


class QuietTask(Task):  # type: ignore[misc]
    """A task whose result stays untold, and of whose errors only our own words get out."""

    Request = QuietRequest
    resultrepr_maxsize = 0
    throws = (MemciError,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run; any other error becomes a ``MemciError``, and stands in the log without its words.

        Other libraries' errors quote rows, parameters and addresses.
        """
        try:
            return super().__call__(*args, **kwargs)
        except InvalidInputError as error:
            raise error from None
        except Exception as error:
            _log.exception("task failed", task=self.name)
            if isinstance(error, MemciError):
                raise error from None
            raise MemciError("the worker failed; its log says why") from None


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
