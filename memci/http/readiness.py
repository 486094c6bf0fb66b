"""Whether the parts that the API needs are as they must be."""

from __future__ import annotations

from collections.abc import Callable

from memci.broker.health import check_broker
from memci.errors import MemciError
from memci.runtime import Runtime
from memci.storage.migrate import check_database, check_migrations

OK = "ok"


def check(runtime: Runtime) -> dict[str, str]:
    """Return for each part ``OK``, or what is wrong with it; all are asked."""
    checks: dict[str, Callable[[], None]] = {
        "database": lambda: check_database(runtime.database),
        "broker": lambda: check_broker(runtime.celery),
        "migrations": lambda: check_migrations(runtime.database),
    }
    said = {}
    for name, ask in checks.items():
        try:
            ask()
        except MemciError as error:
            said[name] = str(error)
        else:
            said[name] = OK
    return said
