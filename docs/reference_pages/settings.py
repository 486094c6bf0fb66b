"""The page of settings: their names, defaults, limits and descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docs.reference_pages.markdown import items, literal, paragraph, sentence
from memci.config.groups import TaskModel
from memci.config.settings import Settings
from memci.domain.parameter_definitions import settings_of


def blocks() -> Iterator[str]:
    """Yield the blocks of settings.md."""
    yield paragraph(
        "Every setting is an environment variable, or its name without `MEMCI_` in small letters in `memci.toml`"
        " (`MEMCI_MEMORY__DECAY_RATE` is `decay_rate` in the table `[memory]`). The file is the one in the working"
        " directory, or the one that `MEMCI_CONFIG` names. The environment wins. `–` means: not set."
    )
    groups: dict[str, list[str]] = {}
    for path, field in _leaves(Settings):
        groups.setdefault(_group(path), []).append(_setting(path, field))
    single = [text for texts in groups.values() if len(texts) == 1 for text in texts]
    if single:
        yield items(single)
    for group, texts in groups.items():
        if len(texts) > 1:
            yield f"## {group}"
            yield items(texts)


def _leaves(
    model: type[BaseModel], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every setting with its path; those of nested groups too."""
    for name, field in model.model_fields.items():
        value = field.get_default(call_default_factory=True)
        if isinstance(value, BaseModel):
            yield from _leaves(type(value), (*path, name))
        elif is_dataclass(value):
            for parameter, declared in settings_of(value).items():
                yield (*path, name, parameter), declared
        elif name == "models":
            for option, each in TaskModel.model_fields.items():
                yield (name, "<TASK>", option), each
        else:
            yield (*path, name), field


def _group(path: tuple[str, ...]) -> str:
    word = path[0] if len(path) > 1 else path[0].partition("_")[0]
    return f"`MEMCI_{word.upper()}{'__' if len(path) > 1 else '_'}…`"


def _setting(path: tuple[str, ...], field: Any) -> str:
    default, told = field.default, field.description
    if isinstance(field, FieldInfo):
        default = field.get_default(call_default_factory=True)
        limits = _limits(field)
        choices = re.findall(r"Literal\[([^]]+)\]", str(field.annotation))
        limits += [f"one of {choices[0]}".replace("'", "").replace('"', "")] if choices else []
    else:
        limits = [str(field.limits).removeprefix("expected a ")] if field.limits else []
        limits += [f"one of {', '.join(field.choices)}"] if field.choices else []
    name = f"MEMCI_{'__'.join(path).upper()}"
    return f"`{name}` = {literal(default)}{_bracketed(limits)} {sentence(told)}"


def _bracketed(texts: Iterable[str]) -> str:
    told = ", ".join(texts)
    return f" ({told})" if told else ""


def _limits(field: FieldInfo) -> list[str]:
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    return [
        f"{sign} {getattr(each, name)}"
        for each in field.metadata
        for name, sign in signs.items()
        if getattr(each, name, None) is not None
    ]
