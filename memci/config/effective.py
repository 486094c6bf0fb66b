"""The value of every setting, and where it comes from."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, get_args

from pydantic import BaseModel, SecretStr

from memci.config.groups import OFFLINE, ModelTask, TaskModel
from memci.config.settings import Settings, file_content, load_settings, settings_file
from memci.config.toml_tables import place_of
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
        for path, value in _leaves(settings)
    ]


def _leaves(group: BaseModel, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in group:
        if isinstance(value, BaseModel):
            yield from _leaves(value, (*path, name))
        elif is_dataclass(value) and not isinstance(value, type):
            yield from (((*path, name, own), each) for own, each in values_of(value).items())
        elif isinstance(group, Settings) and name == "models":
            for task in get_args(ModelTask):
                yield from _model_of(task, value.get(task))
        else:
            yield (*path, name), value


def _model_of(task: str, model: TaskModel | None) -> Iterator[tuple[tuple[str, ...], Any]]:
    if model is None:
        yield ("models", task, "model"), None if task == "query_planner" else OFFLINE
    else:
        yield from _leaves(model, ("models", task))


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
        case tuple():
            return ", ".join(f"{each.name} ({each.scope})" for each in value)
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
