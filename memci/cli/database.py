"""The database itself, for commands that work without a running memci."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from memci import embedded
from memci.config.settings import Settings
from memci.errors import ConfigurationError
from memci.storage.diagnosis import check_migrations
from memci.storage.migrate import upgrade
from memci.storage.session import Database


@contextmanager
def opened_database(settings: Settings) -> Iterator[Database]:
    """Open the database; start the embedded server meanwhile if it does not run.

    Raises ``UnavailableError`` when the database is not at the schema of this release.
    """
    with database_at(settings) as url, closing(Database(url)) as database:
        check_migrations(database)
        yield database


@contextmanager
def database_at(settings: Settings, *, migrates: bool = False) -> Iterator[str]:
    """Yield the URL of the database; start the embedded server meanwhile if it does not run.

    ``migrates``: for the login that may change the schema.
    """
    if settings.database_url is not None:
        migration_url = settings.migration_url if migrates else None
        yield (migration_url or settings.database_url).get_secret_value()
        return
    running = embedded.connect(settings.data_dir)
    if running is not None:
        yield running.migration_url if migrates else running.database_url
        return
    with embedded.own(settings.data_dir) as servers:
        upgrade(servers.addresses.migration_url)  # as `memci up` does
        yield servers.addresses.migration_url if migrates else servers.addresses.database_url


@contextmanager
def embedded_servers(settings: Settings, *, create: bool = False) -> Iterator[embedded.Servers]:
    """Yield the embedded servers, started meanwhile if they do not run; ``create``: a new cluster.

    Raises ``ConfigurationError`` if there are none, or, with ``create``, if they run.
    """
    if settings.database_url is not None:
        raise ConfigurationError(
            "MEMCI_DATABASE_URL names a server of your own: use its pg_dump and pg_restore, see "
            "docs/how-to/back-up.md"
        )
    if not create and embedded.connect(settings.data_dir) is not None:
        yield embedded.servers_of(settings.data_dir)
        return
    if not create and not embedded.servers_of(settings.data_dir).postgres.cluster.exists():
        raise ConfigurationError(f"there is no database in {settings.data_dir} (MEMCI_DATA_DIR)")
    with embedded.own(settings.data_dir) as servers:
        yield servers
