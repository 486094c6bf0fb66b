"""The value of every setting, and where it comes from."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import SecretStr

from memci.config.groups import OFFLINE, ModelTask
from memci.config.settings import Settings, file_content, load_settings, settings_file
from memci.config.toml_tables import leaves, place_of
from memci.domain.parameter_definitions import values_of

_HIDDEN = "(set)"  # instead of a secret


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """One setting."""

    name: str  # of its environment variable
    value: str
    source: str  # "default", the variable, or the file with the place in it


def effective_settings() -> list[EffectiveSetting]:
    """Return all settings, or raise ``ConfigurationError``; addresses show no password."""
    settings, file = load_settings(), file_content()
    environment = {name.upper() for name in os.environ}
    return [
        EffectiveSetting(_variable(path), _value_text(value), _source(path, file, environment))
        for path, value in leaves((), _values(settings))
    ]


def _values(settings: Settings) -> dict[str, Any]:
    """Return the settings as nested tables, with the models of all tasks."""
    none_set = {task: {"model": OFFLINE} for task in get_args(ModelTask)}
    models = {task: model.model_dump() for task, model in settings.models.items()}
    return {
        **settings.model_dump(),
        "models": {**none_set, "query_planner": {"model": None}, **models},
        "memory": values_of(settings.memory),
        "pages": values_of(settings.pages),
    }


def _variable(path: tuple[str, ...]) -> str:
    return f"MEMCI_{'__'.join(path).upper()}"


def _value_text(value: Any) -> str:
    match value:
        case None | ():
            return ""
        case bool():
            return str(value).lower()
        case SecretStr():
            return _HIDDEN
        case ({"name": _}, *_):
            return ", ".join(f"{each['name']} ({each['scope']})" for each in value)
        case tuple():
            return ", ".join(f"{each:g}" for each in value)
        case _:
            return str(value)


def _source(path: tuple[str, ...], file: Mapping[str, Any], environment: set[str]) -> str:
    """Return the first of environment and file that gives the setting, as ``Settings`` reads it."""
    for length in range(len(path), 0, -1):
        if _variable(path[:length]) in environment:
            return _variable(path[:length])
    value: Any = file
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is not None:
        return f"{settings_file()}: {'.'.join(path)}"
    table = place_of(path, file)
    return f"{settings_file()}: {table}" if table else "default"
