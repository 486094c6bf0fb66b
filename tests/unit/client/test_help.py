"""The text of ``help()`` for the client."""

from __future__ import annotations

import inspect
import pydoc
from collections.abc import Iterator
from typing import Any

import pytest

from memci import AsyncMemci, Memci
from memci.client import keyword_arguments
from memci.client.client import Agent, AsyncAgent
from memci.schemas.reads import ContextAnswer


def methods() -> Iterator[Any]:
    for owner in (Agent, AsyncAgent, Memci, AsyncMemci):
        for name, method in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_"):
                yield pytest.param(method, id=f"{owner.__name__}.{name}")


@pytest.mark.parametrize("method", list(methods()))
def test_every_method_documents_its_arguments(method: Any) -> None:
    assert method.__doc__
    signature = inspect.signature(method)
    kinds = {each.kind for each in signature.parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    for name, parameter in signature.parameters.items():
        if repr(parameter.default) == "...":
            assert f"\n    {name}: " in method.__doc__


def test_help_shows_the_options_of_a_method() -> None:
    signature = inspect.signature(Agent.context)
    assert list(signature.parameters)[:2] == ["self", "query"]
    assert repr(signature.parameters["budget_tokens"].default) == "..."
    assert signature.return_annotation is ContextAnswer
    text = pydoc.plain(pydoc.render_doc(Agent.window))
    assert "budget_tokens: int | None = ..." in text
    assert "Unpack" not in text
    assert "Flow" not in text


def test_every_option_has_a_description() -> None:
    kinds = [
        each
        for each in vars(keyword_arguments).values()
        if isinstance(each, type) and hasattr(each, "__total__")
    ]
    assert len(kinds) > 10
    for kind in kinds:
        for name, annotation in inspect.get_annotations(kind).items():
            assert "Annotated[" in str(annotation), f"{kind.__name__}.{name}"
