"""Runs Flower with a password and on loopback, as the settings say: ``python -m workers.flower``.

Its page can see every job and its operations could stop workers, so it is read-only and never
without a password. The password goes in by the environment, not by the command line.
"""

import os
import sys

from celery.bin.celery import main as celery
from flower.views.monitor import Metrics
from tornado.web import authenticated

from memci.config.settings import load_settings
from memci.config.unknown_names import misspelt_settings
from memci.errors import ConfigurationError

USER = "memci"


def main() -> None:
    """Run Flower until a signal ends it, and then end at once."""
    try:
        settings = load_settings()
    except ConfigurationError as error:
        sys.exit(f"flower: {error}")
    for each in misspelt_settings():
        sys.stderr.write(f"flower: warning: {each}\n")
    if settings.flower_password is None:
        sys.exit("flower: set MEMCI_FLOWER_PASSWORD; Flower is not started without one")
    Metrics.get = authenticated(Metrics.get)  # Flower would show it to everybody
    os.environ["FLOWER_BASIC_AUTH"] = f"{USER}:{settings.flower_password.get_secret_value()}"
    sys.argv = [
        "celery", "-A", "workers", "flower",
        f"--address={settings.host}", f"--port={settings.flower_port}",
        "--max_tasks=20000", "--read_only",
    ]  # fmt: skip
    try:
        celery()
    except SystemExit as ended:
        _leave(ended.code)


def _leave(code: int | str | None) -> None:
    """End without waiting for Flower's threads: they ask the broker, which may not answer.

    Python would join them, half a minute long while the broker is silent; Flower keeps nothing
    that could be lost.
    """
    if isinstance(code, str):
        sys.stderr.write(f"{code}\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    main()
