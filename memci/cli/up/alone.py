"""One `memci up` for a data folder: a second one is told so before anything else is wrong."""

from __future__ import annotations

import fcntl

from memci.config import Settings
from memci.errors import ConfigurationError


def check_alone(settings: Settings) -> None:
    """Raise ``ConfigurationError`` while another process owns the servers of the data folder.

    It only says so early: who owns them is settled when they are started.
    """
    if settings.database_url is not None and settings.broker_url is not None:
        return  # then the folder has no servers to own
    try:
        with (settings.data_dir / "lock").open(encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConfigurationError(
                    f"process {lock.read().strip() or '(unknown)'} already runs memci in "
                    f"{settings.data_dir}: use that one, or stop it first; for one more, set "
                    "MEMCI_DATA_DIR, MEMCI_PORT and MEMCI_FLOWER_PORT to others"
                ) from None
    except OSError:
        return  # nobody was ever there, or what is there is told by who starts the servers
