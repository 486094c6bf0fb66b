"""Finds names that look like settings and are none, which would silently do nothing."""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from memci.config.settings import Settings, settings_file
from memci.config.toml_tables import TABLES, known_places, unknown_places

_PREFIX = "MEMCI_"
_KNOWN = {*(f"{_PREFIX}{name.upper()}" for name in Settings.model_fields), f"{_PREFIX}CONFIG"}
# Read by the database container of docker/, which is given its variables from the same file.
_OF_CONTAINERS = {f"{_PREFIX}DATABASE_{name}" for name in ("LOGIN", "PASSWORD", "NAME")}
# Kubernetes and Docker tell containers of services by such variables: of a service "memci-api"
# MEMCI_API_SERVICE_HOST and MEMCI_API_PORT_8000_TCP.
_OF_A_SERVICE = re.compile(r"_SERVICE_(HOST|PORT)(_\w+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?$")


class Misspelt(NamedTuple):
    """A name that no setting has, and the most similar setting, if any."""

    name: str
    nearest: str | None

    def __str__(self) -> str:
        hint = f"did you mean {self.nearest}?" if self.nearest else "see docs/reference/settings.md"
        return f"{self.name} is no setting and does nothing; {hint}"


def misspelt_settings() -> list[Misspelt]:
    """Return the unknown names in the environment and in memci.toml, never their values."""
    return [*_in_environment(), *_in_file()]


def _in_environment() -> Iterable[Misspelt]:
    for name in sorted(os.environ):
        upper = name.upper()
        base = upper.partition("__")[0]
        ours = upper.startswith(_PREFIX) and not _OF_A_SERVICE.search(upper)
        if ours and base not in _KNOWN | _OF_CONTAINERS:
            yield Misspelt(name, nearest_name(upper, _KNOWN))


def _in_file() -> Iterable[Misspelt]:
    path = settings_file()
    try:
        content = tomllib.loads(path.read_text())
    except (OSError, ValueError):  # no file, or one that the settings themselves complain of
        return ()
    return misspelt_in(content, path.name)


def misspelt_in(content: Mapping[str, Any], file: str) -> Iterable[Misspelt]:
    """Yield the unknown names in the content of a settings file of this name."""
    fields = Settings.model_fields.keys()
    for name in sorted(content.keys() - fields - TABLES):
        nearest = nearest_name(name.lower().removeprefix(_PREFIX.lower()), [*fields, *TABLES])
        yield Misspelt(f"{name!r} in {file}", nearest and repr(nearest))
    for place in unknown_places(content):
        nearest = nearest_name(place.lower(), known_places())
        yield Misspelt(f"{place!r} in {file}", nearest and repr(nearest))


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the most similar known name, or None."""
    return next(iter(get_close_matches(name, known, n=1)), None)
