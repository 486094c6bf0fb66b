from __future__ import annotations

import inspect

import pytest

from memci import errors
from memci.schemas.problems import KINDS, error_of, problem_of

SHOWN_ERRORS = [kind.error for kind in KINDS if kind.error is not errors.SmallModelError]


@pytest.mark.parametrize("error", SHOWN_ERRORS)
def test_an_error_is_restored_from_its_problem(error: type[errors.MemciError]) -> None:
    restored = error_of(problem_of(error("do this")), retry_after_s=7)
    assert type(restored) is error
    assert str(restored) == "do this"
    assert getattr(restored, "retry_after_s", 7) == 7


def test_the_fields_of_an_error_are_restored() -> None:
    wrong = error_of(problem_of(errors.InvalidInputError("no", field="messages[3].role")))
    assert isinstance(wrong, errors.InvalidInputError)
    assert wrong.field == "messages[3].role"
    small = error_of(problem_of(errors.BudgetTooSmallError("no", needs={"system": 90})))
    assert isinstance(small, errors.BudgetTooSmallError)
    assert small.needs == {"system": 90}


@pytest.mark.parametrize(
    "error",
    [errors.MemciError("secret"), errors.FencedOffError("secret"),
     errors.ConfigurationError("secret"), errors.SmallModelUnavailableError("secret")],
)  # fmt: skip
def test_internal_errors_are_not_shown_to_the_caller(error: errors.MemciError) -> None:
    problem = problem_of(error)
    assert problem.status >= 500
    assert "secret" not in problem.model_dump_json()


def test_no_parent_class_comes_before_its_child() -> None:
    classes = [
        each for _, each in inspect.getmembers(errors, inspect.isclass)
        if issubclass(each, errors.MemciError)
    ]  # fmt: skip
    for each in classes:
        nearest = next((up for up in each.__mro__ if any(up is k.error for k in KINDS)), None)
        first = next((kind.error for kind in KINDS if issubclass(each, kind.error)), None)
        assert nearest is first
