"""What is installed beside the client."""

import importlib.util

from memci.errors import ConfigurationError


def has_server() -> bool:
    """Return whether the server is."""
    return importlib.util.find_spec("celery") is not None


def check_server() -> None:
    """Raise ``ConfigurationError`` where the server is not."""
    if not has_server():
        raise ConfigurationError(
            'this needs the server, which is not installed: pip install "memci[embedded]" '
            "(memci[server] is without PostgreSQL and Redis)"
        )
