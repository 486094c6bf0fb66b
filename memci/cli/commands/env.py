"""``memci env``."""

from __future__ import annotations

from memci.cli.options import JsonOption


def env(*, as_json: JsonOption = False) -> None:
    """Print where broker and database are: eval "$(memci env)".

    As set, else where the embedded servers of a running `memci up` are. The addresses hold
    passwords: this prints secrets.
    """
    import shlex
    import sys

    from memci.addresses import broker_url, database_url
    from memci.cli.output import print_json
    from memci.cli.settings import read_settings

    settings = read_settings()
    found = {
        "MEMCI_BROKER_URL": broker_url(settings),
        "MEMCI_DATABASE_URL": _plain(database_url(settings)),
    }
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")


def _plain(url: str) -> str:
    """Return the address without SQLAlchemy's driver in it, which psql and others refuse."""
    scheme, separator, rest = url.partition("://")
    return scheme.partition("+")[0] + separator + rest
