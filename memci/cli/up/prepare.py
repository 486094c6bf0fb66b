"""``python -m memci.cli.up.prepare``: what has to be done before the parts start.

It upgrades the schema of the database, and checks its keys, and that its vectors are of the chosen
embedder. A process of its own, so that ``memci up`` itself holds none of the libraries for that.
"""

import os
import sys
from contextlib import closing

from memci.commands.keys import Keys, check_host
from memci.config.settings import Settings, load_settings
from memci.embedded.owner import addresses_of
from memci.errors import MemciError, UnavailableError
from memci.smallmodel.registry import build_small_models
from memci.storage.diagnosis import database_state
from memci.storage.migrate import upgrade
from memci.storage.search.vectors import VectorModel, check_model
from memci.storage.session import Database


def check_embedder(settings: Settings, database_url: str) -> None:
    """Raise ``WrongEmbedderError`` if the database's vectors are of another embedder."""
    embedder = build_small_models(settings).embedder
    with closing(Database(database_url)) as database, database.lane_transaction() as connection:
        check_model(connection, VectorModel(embedder.model, embedder.dimension))


def check_keys(settings: Settings, database_url: str) -> None:
    """Raise ``ConfigurationError`` if other machines would be served without keys."""
    with closing(Database(database_url)) as database:
        check_host(settings.host, has_keys=bool(Keys(database, settings.api_keys).list()))


def main() -> None:
    """Do all; the exit status says what is wrong."""
    try:
        settings = load_settings()
        urls = addresses_of(settings)
        if not database_state(urls.database_url).revisions.fits:
            upgrade(urls.migration_url, urls.database_url)
        check_keys(settings, urls.database_url)
        check_embedder(settings, urls.database_url)
    except MemciError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(os.EX_TEMPFAIL if isinstance(error, UnavailableError) else 1)


if __name__ == "__main__":
    main()
