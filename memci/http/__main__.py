"""``python -m memci.http``: one API process."""

import sys
from contextlib import closing

from memci.config.settings import check_shared, load_settings
from memci.errors import ConfigurationError
from memci.http.app import create_app, serve
from memci.runtime import Runtime
from memci.telemetry.logs import configure_logs, warn_of_misspelt_settings


def main() -> int:
    """Serve until told to stop; returns the exit code."""
    try:
        settings = load_settings()
        configure_logs(settings.log_level)
        warn_of_misspelt_settings()
        check_shared(settings)
        with closing(Runtime(settings, service="memci-api")) as runtime:
            serve(create_app(runtime), host=settings.host, port=settings.port)
    except ConfigurationError as error:
        sys.stderr.write(f"memci: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
