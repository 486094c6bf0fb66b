from __future__ import annotations

import inspect

import pytest

from memci import errors
from memci.schemas.problems import KINDS, error_of, problem_of

TOLD = [kind.error for kind in KINDS if kind.error is not errors.SmallModelError]


@pytest.mark.parametrize("error", TOLD)
def test_an_error_comes_through_as_itself(error: type[errors.MemciError]) -> None:
    thrown = error_of(problem_of(error("do this")), retry_after_s=7)
    assert type(thrown) is error
    assert str(thrown) == "do this"
    assert getattr(thrown, "retry_after_s", 7) == 7


def test_what_an_error_carries_comes_through() -> None:
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
def test_what_is_not_the_callers_business_is_not_told(error: errors.MemciError) -> None:
    problem = problem_of(error)
    assert problem.status >= 500
    assert "secret" not in problem.model_dump_json()


def test_no_parent_stands_before_its_child() -> None:
    classes = [
        each for _, each in inspect.getmembers(errors, inspect.isclass)
        if issubclass(each, errors.MemciError)
    ]  # fmt: skip
    for each in classes:
        nearest = next((up for up in each.__mro__ if any(up is k.error for k in KINDS)), None)
        first = next((kind.error for kind in KINDS if issubclass(each, kind.error)), None)
        assert nearest is first
