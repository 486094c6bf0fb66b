"""One `memci up` for a data folder: a second one is told so before anything else is wrong."""

from __future__ import annotations

from memci.config import Settings
from memci.embedded.owner import owner_of
from memci.errors import ConfigurationError


def check_alone(settings: Settings) -> None:
    """Raise ``ConfigurationError`` while another process owns the servers of the data folder."""
    if settings.database_url is not None and settings.broker_url is not None:
        return  # then the folder has no servers to own
    process = owner_of(settings.data_dir)
    if process is not None:
        raise ConfigurationError(
            f"process {process} already runs memci in {settings.data_dir}: use that one, or stop "
            "it first; for one more, set MEMCI_DATA_DIR, MEMCI_PORT and MEMCI_FLOWER_PORT to others"
        )
