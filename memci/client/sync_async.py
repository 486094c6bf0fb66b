"""Makes a synchronous and an asynchronous method of one generator."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import wraps
from inspect import Parameter, Signature
from typing import (
    Annotated,
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    TypeVar,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from memci.client.exchange import Flow
from memci.client.transport import AsyncTransport, Transport

_WIDTH = 84


class _LeftOut:
    """Stands for an option that is not given: what holds then is for the server to say."""

    def __repr__(self) -> str:
        return "..."


_LEFT_OUT = _LeftOut()


def argument_line(name: str, about: str) -> str:
    """Return what a docstring says of an argument."""
    return textwrap.fill(
        f"{name}: {about}", width=_WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8
    )


def show_options(method: Callable[..., Any], verb: Callable[..., Any]) -> None:
    """Give a method the options of its verb in signature and docstring, instead of ``**options``.

    ``...`` stands for what is left out.
    """
    options = _options_of(verb)
    if not options:
        return
    signature = inspect.signature(verb)
    named = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    vars(method)["__signature__"] = signature.replace(
        parameters=[*named, *_parameters(options)],
        return_annotation=_answer_of(verb),
    )
    lines = [argument_line(name, about) for name, about in _abouts(options)]
    said = (inspect.getdoc(verb) or "").strip()
    method.__doc__ = "\n".join([said, "", "Options:", *lines, ""])


def _options_of(verb: Callable[..., Any]) -> Mapping[str, Any]:
    """Return what a verb takes as ``Unpack`` of a TypedDict, by name; nothing, if it does not."""
    if hasattr(verb, "__signature__"):  # it says so itself
        return {}
    for parameter in inspect.signature(verb).parameters.values():
        if parameter.kind is Parameter.VAR_KEYWORD:
            unpacked = get_type_hints(verb)[parameter.name]
            if get_origin(unpacked) is Unpack:
                return get_type_hints(get_args(unpacked)[0], include_extras=True)
    return {}


def _parameters(options: Mapping[str, Any]) -> Iterator[Parameter]:
    for name, kind in options.items():
        plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=_LEFT_OUT, annotation=plain)


def _abouts(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, kind in options.items():
        if get_origin(kind) is Annotated:
            yield name, next(each for each in kind.__metadata__ if isinstance(each, str))


def _answer_of(verb: Callable[..., Any]) -> Any:
    """Return what a verb answers, without the way there."""
    flow = get_type_hints(verb).get("return", Signature.empty)
    return get_args(flow)[-1] if get_args(flow) else flow


P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)


class Sync(Protocol[V_co]):
    """Something with verbs, and a transport that blocks."""

    @property
    def _verbs(self) -> V_co: ...

    @property
    def _transport(self) -> Transport: ...


class Async(Protocol[V_co]):
    """Something with verbs, and a transport for asyncio."""

    @property
    def _verbs(self) -> V_co: ...

    @property
    def _transport(self) -> AsyncTransport: ...


def blocking(
    verb: Callable[Concatenate[V, P], Flow[T]],
) -> Callable[Concatenate[Sync[V], P], T]:
    """Have a verb run on the caller's thread."""

    @wraps(verb)
    def method(self: Sync[V], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._transport.run(verb(self._verbs, *args, **kwargs))

    show_options(method, verb)
    return method


def awaitable(
    verb: Callable[Concatenate[V, P], Flow[T]],
) -> Callable[Concatenate[Async[V], P], Coroutine[Any, Any, T]]:
    """Have a verb run on asyncio."""

    @wraps(verb)
    def method(self: Async[V], /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return self._transport.run(verb(self._verbs, *args, **kwargs))

    show_options(method, verb)
    return method
