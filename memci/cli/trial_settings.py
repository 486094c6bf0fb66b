"""A file of settings for a trial: what a memci.toml may hold, and a table of request options."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memci.errors import ConfigurationError, InvalidInputError

if TYPE_CHECKING:
    from memci.config import Settings

_TABLE = "request"
# A trial asks one database, whatever the files say of places.
_PLACES = frozenset({"database_url", "broker_url", "data_dir"})
# What is asked is recorded; how it is answered is on trial.
_RECORDED = frozenset({"query", "min_seq", "wait_ms", "explain"})


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """The settings of one file, laid over those that hold, and its ``[request]``."""

    name: str
    values: dict[str, Any]
    options: dict[str, Any]

    def over(self, **values: Any) -> Settings:
        """Return the settings; ``values`` win. ``ConfigurationError`` names file and setting."""
        from memci.config import load_settings

        try:
            return load_settings(**{**self.values, **values})
        except ConfigurationError as error:
            raise ConfigurationError(f"{self.name}: {error}") from None


def read_trial_settings(path: Path) -> TrialSettings:
    """Read a file; ``InvalidInputError`` says what in it is wrong."""
    from memci.tables import TABLES, as_settings, unknown_places

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InvalidInputError(f"{path} is not TOML: {error}") from None
    options = content.pop(_TABLE, {})
    _check(path, content.keys() - TABLES, _setting_names(), "is no setting: see the docs")
    _check(path, unknown_places(content), frozenset(), "is no setting: see the docs")
    if not isinstance(options, dict):
        raise InvalidInputError(f"{path}: [{_TABLE}] is a table of options of a context request")
    known = _option_names()
    _check(path, options, known, f"is no option of [{_TABLE}]; there are {', '.join(known)}")
    values = {name: value for name, value in as_settings(content).items() if name not in _PLACES}
    return TrialSettings(path.name, values, options)


def _check(path: Path, names: Any, known: Any, complaint: str) -> None:
    for name in sorted(set(names) - set(known)):
        raise InvalidInputError(f"{path}: {name!r} {complaint}")


def _setting_names() -> frozenset[str]:
    from memci.config import Settings

    return frozenset(Settings.model_fields)


def _option_names() -> list[str]:
    from memci.shapes.read import ContextRequest

    return sorted(ContextRequest.model_fields.keys() - _RECORDED)
