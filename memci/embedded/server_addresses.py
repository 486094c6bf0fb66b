"""The addresses of database and broker: from the settings, or of a running ``memci up``."""

from memci import embedded
from memci.config.settings import Settings
from memci.errors import ConfigurationError


def broker_url(settings: Settings) -> str:
    """Return the broker's address: from the settings, or of the embedded one."""
    return addresses(settings)[1]


def database_url(settings: Settings) -> str:
    """Return the database's address: from the settings, or of the embedded one."""
    return addresses(settings)[0]


def addresses(settings: Settings) -> tuple[str, str]:
    """Return the addresses of database and broker."""
    database, broker = settings.database_url, settings.broker_url
    if database is not None and broker is not None:
        return database.get_secret_value(), broker.get_secret_value()
    running = embedded.connect(settings.data_dir)
    if running is None:
        raise ConfigurationError(
            "no database and broker: set MEMCI_DATABASE_URL and MEMCI_BROKER_URL, or start the "
            "embedded ones with `memci up` in another terminal"
        )
    return (
        database.get_secret_value() if database else running.database_url,
        broker.get_secret_value() if broker else running.broker_url,
    )
