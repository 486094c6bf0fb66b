"""Starts Flower with a password and on loopback, as the settings say: ``python -m workers.flower``.

Its page can see every job and its operations could stop workers, so it is read-only and never
without a password. The password goes in by the environment, not by the command line.
"""

from __future__ import annotations

import os
import sys

from memci.config import load_settings
from memci.errors import ConfigurationError
from memci.misspelt import misspelt_settings


def main() -> None:
    """Replace this process by Flower."""
    try:
        settings = load_settings()
    except ConfigurationError as error:
        sys.exit(f"flower: {error}")
    for each in misspelt_settings():
        sys.stderr.write(f"flower: warning: {each}\n")
    if settings.flower_password is None:
        sys.exit("flower: set MEMCI_FLOWER_PASSWORD; Flower is not started without one")
    login = f"{settings.flower_user}:{settings.flower_password.get_secret_value()}"
    environment = {**os.environ, "FLOWER_BASIC_AUTH": login}
    arguments = [
        sys.executable, "-m", "celery", "-A", "workers", "flower",
        f"--address={settings.host}", f"--port={settings.flower_port}",
        "--max_tasks=20000", "--read_only",
    ]  # fmt: skip
    os.execve(sys.executable, arguments, environment)  # noqa: S606 - literal arguments


if __name__ == "__main__":
    main()
