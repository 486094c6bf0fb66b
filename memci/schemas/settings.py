"""Settings of one agent: the parameters of its memory network and of its pages."""

from math import inf
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from pydantic import (
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    create_model,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.parameters import PageRules
from memci.domain.parameter_definitions import Range, settings_of
from memci.schemas.base import Answer, Request

_STRICT: dict[type, Any] = {bool: StrictBool, int: StrictInt, float: StrictFloat}


class _Within:
    """Checks a number against its range; errors tell both ends."""

    def __init__(self, limits: Range) -> None:
        self._limits = limits

    def __get_pydantic_core_schema__(self, of: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(of))

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        prefix = "exclusiveM" if self._limits.is_open else "m"
        ends = {f"{prefix}inimum": self._limits.low, f"{prefix}aximum": self._limits.high}
        return {**handler(core), **{name: each for name, each in ends.items() if each < inf}}

    def _check(self, value: float) -> float:
        if value not in self._limits:
            raise ValueError(str(self._limits))
        return value


def _fields() -> dict[str, Any]:
    """Return one optional field for each parameter of memory and pages."""
    found: dict[str, Any] = {}
    for kind in (MemoryParameters, PageRules):
        types = get_type_hints(kind)
        for name, each in settings_of(kind).items():
            of = _STRICT.get(types[name], types[name])
            if each.limits is not None:
                of = Annotated[of, _Within(each.limits)]
            found[name] = (of | None, Field(None, description=each.description))
    return found


if TYPE_CHECKING:

    class SettingsRequest(Request):
        """All parameters that differ from the defaults; an omitted one returns to its default."""

else:
    SettingsRequest = create_model(
        "SettingsRequest",
        __base__=Request,
        __doc__="All parameters that differ from the defaults; an omitted one returns to its"
        " default.",
        **_fields(),
    )


class SettingsAnswer(Answer):
    """The parameters of an agent, and the names of those that were set for it alone."""

    agent_id: str
    parameters: dict[str, bool | int | float | str]
    changed: list[str] = Field(description="Parameters that this agent has of its own")
    warnings: list[str] = Field(description="What there is no room for, with what to do")
