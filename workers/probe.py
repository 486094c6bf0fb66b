"""Asks the worker of this machine whether it answers: ``python -m workers.probe lane [--ready]``.

For health checks of containers. Alive: the worker answers, or the broker does not and so nobody
can ask; a worker outlives the broker, and restarting it would only make the outage longer.
Ready: the worker answers.
"""

import argparse
import socket
import sys

from celery.utils.nodenames import nodename

from memci.broker.app import BROKER_ERRORS
from workers.app import app

# A busy machine answers late; the callers' own time-outs are longer.
_PATIENCE_S = 5.0


def main() -> int:
    """Return 0 when all is well, else 1."""
    parser = argparse.ArgumentParser(prog="workers.probe", description="Does this worker answer?")
    parser.add_argument("worker", help="its name before the @, as in the Procfile")
    parser.add_argument("--ready", action="store_true", help="fail while the broker is away, too")
    arguments = parser.parse_args()
    worker = nodename(arguments.worker, socket.gethostname())
    try:
        if app.control.ping(destination=[worker], timeout=_PATIENCE_S, limit=1):
            return 0
    except BROKER_ERRORS as error:
        return _fail(f"the broker does not answer: {type(error).__name__}", int(arguments.ready))
    return _fail(f"{worker} does not answer", 1)


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"{message}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
