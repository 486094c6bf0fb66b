"""The text of ``help()`` for the client."""

from __future__ import annotations

import inspect
import pydoc
import re
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


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (lambda memory: memory.add("x", metadata={}), 'use messages=[{"role": "user", "content": '),
        (
            lambda memory: memory.search("x", limit=5),
            "no argument limit; use k; there are: query, user, ",
        ),
        (
            lambda memory: memory.agent("a").nodes(user="x"),
            "use user_id; there are: cursor, limit, ",
        ),
        (
            lambda memory: type(memory)(host="x"),
            "Memci() has no argument host; use url; there are: ",
        ),
        (lambda memory: memory.context(budget=100), "no argument budget; use budget_tokens; "),
        (lambda memory: memory.agent("a").compress(wait=1), "no argument wait; there are: reason"),
        (lambda memory: memory.agent("a").update_page(at=1), "no argument at; there are: index, "),
    ],
)
def test_an_unknown_argument_is_refused_with_the_known_ones(wrong: Any, advice: str) -> None:
    for memory in (Memci(), AsyncMemci()):
        with pytest.raises(TypeError, match=re.escape(advice)):
            wrong(memory)


def test_a_method_of_an_agent_is_named_where_a_server_has_none() -> None:
    memory: Any = Memci()
    with pytest.raises(
        AttributeError, match=r"no get_all; an agent has: \.agent\('default'\)\.nodes\("
    ):
        memory.get_all(user="anna")
    with pytest.raises(AttributeError, match=r"\.remember\("):
        memory.aio.remember("Hi")
    assert not hasattr(memory, "no_method")
    with pytest.raises(AttributeError, match=r"Agent has no update; use \.correct_memory\(\)"):
        memory.agent("a").update(1, "Hi")
