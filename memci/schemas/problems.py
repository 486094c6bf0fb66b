"""Problem details of RFC 9457, and descriptions of validation errors.

HTTP and read tasks turn errors into problems, clients turn problems back into errors.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from memci import errors
from memci.schemas.base import Answer
from memci.validation_messages import Fault as ValidationFault
from memci.validation_messages import expectation, own_faults

TYPE_PREFIX = "urn:memci:problem:"
MEDIA_TYPE = "application/problem+json"


class Fault(Answer):
    """One wrong field; ``field`` is a path such as ``messages[3].role``."""

    field: str | None = None
    detail: str


class Problem(Answer):
    """Problem details of RFC 9457. ``type`` is stable, ``detail`` says what to do."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    field: str | None = None
    errors: list[Fault] | None = None
    needs: dict[str, int] | None = None
    checks: dict[str, str] | None = None


class Kind(NamedTuple):
    """The problem details of one class of errors; ``type`` is the end of theirs, and stable."""

    error: type[errors.MemciError]
    type: str
    status: int
    title: str


# Subclasses before their parents: the first that fits holds.
KINDS: tuple[Kind, ...] = (
    Kind(errors.TooLargeError, "too-large", 413, "Too large"),
    Kind(errors.InvalidInputError, "invalid-input", 422, "Invalid input"),
    Kind(errors.BudgetTooSmallError, "budget-too-small", 422, "Budget too small"),
    Kind(errors.NotFoundError, "not-found", 404, "Not found"),
    Kind(errors.ErasedError, "erased", 409, "Erased"),
    Kind(errors.ConflictError, "conflict", 409, "Conflict"),
    Kind(errors.UnauthorizedError, "unauthorized", 401, "Unauthorized"),
    Kind(errors.ForbiddenError, "forbidden", 403, "Forbidden"),
    Kind(errors.RefusedError, "refused", 403, "Refused"),
    Kind(errors.QuotaError, "quota-exceeded", 429, "Quota exceeded"),
    Kind(errors.RateLimitedError, "rate-limited", 429, "Rate limited"),
    Kind(errors.ReadTimeoutError, "read-timeout", 503, "No answer in time"),
    Kind(errors.ReadsBusyError, "reads-busy", 503, "Too many reads at once"),
    Kind(errors.UnavailableError, "unavailable", 503, "Unavailable"),
    Kind(errors.SmallModelError, "unavailable", 503, "Unavailable"),
)
# Of any other error: callers see no details.
INTERNAL = Kind(errors.MemciError, "internal", 500, "Internal error")


def problem_of(error: errors.MemciError) -> Problem:
    """Return the problem details of an error; internal ones have no details."""
    kind = next((kind for kind in KINDS if isinstance(error, kind.error)), INTERNAL)
    public = kind is not INTERNAL and not isinstance(error, errors.SmallModelError)
    return Problem(
        type=TYPE_PREFIX + kind.type,
        title=kind.title,
        status=kind.status,
        detail=str(error) if public else f"{kind.title.lower()}; the server's log says more",
        field=getattr(error, "field", None),
        errors=_erased_messages(error) if isinstance(error, errors.ErasedError) else None,
        needs=error.needs or None if isinstance(error, errors.BudgetTooSmallError) else None,
    )


def _erased_messages(error: errors.ErasedError) -> list[Fault] | None:
    """Return a fault for each erased message of a request."""
    listed = (error.field or "").partition("[")[0]
    return [
        Fault(field=f"{listed}[{place}]", detail="erased for good; leave it out")
        for place in error.places
    ] or None


def error_of(problem: Problem, *, retry_after_s: float | None = None) -> errors.MemciError:
    """Return the error of a problem."""
    ending = problem.type.removeprefix(TYPE_PREFIX)
    kind = next((kind for kind in KINDS if kind.type == ending), INTERNAL)
    if issubclass(kind.error, (errors.InvalidInputError, errors.ErasedError)):
        return kind.error(problem.detail, field=problem.field)
    if issubclass(kind.error, errors.BudgetTooSmallError):
        return kind.error(problem.detail, needs=problem.needs)
    if issubclass(kind.error, (errors.RateLimitedError, errors.UnavailableError)):
        return kind.error(problem.detail, retry_after_s=retry_after_s or 1.0)
    return kind.error(problem.detail)


_MOST = 5
_LONGEST_PATH = 256
# The sender may have invented a name, of any length.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def field_path(location: tuple[int | str, ...]) -> str:
    """Return a path such as ``messages[3].role``, with ``?`` for an invalid name."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += ("." if path else "") + (part if _NAME.fullmatch(part) else "?")
    return path[:_LONGEST_PATH]


def describe_faults(error: ValidationError, model: type[BaseModel] | None = None) -> str:
    """Return the first faults of a ``model``, each with its field and the expected value."""
    return _joined(
        [
            f"{field_path(each['loc']) or 'request'}: {expected_by(model, each['loc'], each)}"
            for each in _own(error)
        ]
    )


def expected_by(
    model: type[BaseModel] | None, location: Sequence[int | str], fault: ValidationFault
) -> str:
    """Return what a model expects at a location; of an unknown field, which ones there are."""
    holder = model and _model_at(model, location[:-1])
    return expectation(fault, tuple(holder.model_fields) if holder else ())


def _model_at(model: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel] | None:
    """Return the model of the object at a location in an object of ``model``."""
    for part in location:
        field = None if isinstance(part, int) else model.model_fields.get(part)
        if field is not None:
            inner = next(_models_in(field.annotation), None)
            if inner is None:
                return None
            model = inner
    return model


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models_in(each)


def describe_misuse(error: ValidationError, arguments: Sequence[str]) -> str:
    """Return the first faults for a model that has used a tool with these arguments."""
    texts: list[str] = []
    for fault in _own(error):
        path, expected = field_path(fault["loc"]), expectation(fault)
        if fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1:
            advice = f"use {', '.join(arguments)}" if arguments else "leave it out"
            expected = f"there is no such argument: {advice}"
        texts.append(f"{path}: {expected}" if path else expected)
    return _joined(texts)


def _own(error: ValidationError) -> list[ValidationFault]:
    return own_faults(error.errors(include_input=False, include_url=False))


def _joined(faults: Sequence[str]) -> str:
    more = len(faults) - _MOST
    return "; ".join(faults[:_MOST]) + (f"; and {more} more" if more > 0 else "")
