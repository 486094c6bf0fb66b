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

    path: Path
    values: dict[str, Any]
    options: dict[str, Any]

    @property
    def name(self) -> str:
        """What the side of a trial is called."""
        return self.path.name

    def over(self, **values: Any) -> Settings:
        """Return the settings; ``values`` win. ``ConfigurationError`` names file and setting."""
        from memci.config import load_settings

        try:
            return load_settings(**{**self.values, **values})
        except ConfigurationError as error:
            raise ConfigurationError(f"{self.path}: {error}") from None


def read_trial_settings(path: Path) -> TrialSettings:
    """Read a file; ``InvalidInputError`` says what in it is wrong."""
    from memci.tables import as_settings

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InvalidInputError(f"{path} is not TOML: {error}") from None
    options = content.pop(_TABLE, {})
    known = _option_names()
    _check_settings(path, content, known)
    if not isinstance(options, dict):
        raise InvalidInputError(f"{path}: [{_TABLE}] is a table of options of a context request")
    for name in sorted(options.keys() - set(known)):
        raise InvalidInputError(
            f"{path}: {name!r} is no option of [{_TABLE}]; there are {', '.join(known)}"
        )
    values = {name: value for name, value in as_settings(content).items() if name not in _PLACES}
    return TrialSettings(path, values, options)


def _check_settings(path: Path, content: dict[str, Any], options: list[str]) -> None:
    """Raise ``InvalidInputError`` for what is no setting, with what may be meant."""
    from memci.misspelt import nearest_name
    from memci.tables import TABLES, known_places, unknown_places

    names = {*_setting_names(), *TABLES}
    for name in sorted(content.keys() - names):
        meant = nearest_name(name.lower(), names)
        option = None if meant else nearest_name(name.lower(), options)
        raise InvalidInputError(f"{path}: {name!r} is no setting; {_hint(meant, option)}")
    for place in unknown_places(content):
        meant = nearest_name(place.lower(), known_places())
        raise InvalidInputError(f"{path}: {place!r} is no setting; {_hint(meant, None)}")


def _hint(setting: str | None, option: str | None) -> str:
    if setting:
        return f"did you mean {setting!r}?"
    if option:
        return f"did you mean {option!r} in [{_TABLE}]?"
    return "see docs/configuration.md"


def _setting_names() -> frozenset[str]:
    from memci.config import Settings

    return frozenset(Settings.model_fields)


def _option_names() -> list[str]:
    from memci.shapes.read import ContextRequest

    return sorted(ContextRequest.model_fields.keys() - _RECORDED)
