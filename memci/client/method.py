"""Makes one method of a flow: it blocks on a client for threads, and is awaited on asyncio."""

import inspect
import textwrap
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, Signature
from typing import (
    Annotated,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from memci.client.requests import AnswerT, ClientRequest, Flow, LatestSeqs, Retries, fetch
from memci.client.transport import AsyncTransport, Transport

TransportT = TypeVar("TransportT", bound=Transport | AsyncTransport)
SelfT = TypeVar("SelfT")
P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """Options of one client; all its agents share them, sync and async."""

    # How long a read waits for what this client has written; then it answers anyway.
    wait_ms: int = 2_000
    retries: Retries = field(default_factory=Retries)
    latest_seqs: LatestSeqs = field(default_factory=LatestSeqs)


# Large agents and documents take their time.
_SLOW_S = 300.0


class Methods(Generic[TransportT]):
    """Methods that send requests below one path."""

    def __init__(
        self, owner_id: str, path: str, options: ClientOptions, transport: TransportT
    ) -> None:
        self.id = owner_id
        self._path = path
        self._options = options
        self._transport = transport

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    def _get(
        self, path: str, answer: type[AnswerT], params: Mapping[str, Any] | None = None
    ) -> Flow[AnswerT]:
        return self._fetch("GET", path, answer, params=params or {})

    def _post(
        self,
        path: str,
        answer: type[AnswerT],
        json: Mapping[str, Any] | None = None,
        *,
        repeatable: bool = True,
    ) -> Flow[AnswerT]:
        return self._fetch("POST", path, answer, json=json, repeatable=repeatable)

    def _fetch(self, method: str, path: str, answer: type[AnswerT], **more: Any) -> Flow[AnswerT]:
        """Send a ``ClientRequest``; ``more`` are its other fields."""
        request = ClientRequest(method, self._path + path, **more)
        return fetch(request, answer, self._options.retries)

    def _fetch_slowly(
        self, method: str, path: str, answer: type[AnswerT], **more: Any
    ) -> Flow[AnswerT]:
        """Do as ``_fetch`` where the answer may take minutes."""
        return self._fetch(method, path, answer, extra_timeout_s=_SLOW_S, **more)


class Method(Protocol[P, T_co]):
    """A method with a result, or on asyncio with a coroutine of the result."""

    @overload
    def __get__(self, client: Methods[Transport], owner: Any, /) -> Callable[P, T_co]: ...
    @overload
    def __get__(
        self, client: Methods[AsyncTransport], owner: Any, /
    ) -> Callable[P, Coroutine[Any, Any, T_co]]: ...


def method(flow: Callable[Concatenate[SelfT, P], Flow[T]]) -> Method[P, T]:
    """Make a method that runs a flow on the transport of its client."""

    @wraps(flow)
    def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        for name in kwargs.keys() - known:
            raise TypeError(_no_argument(flow.__name__, name, known))
        return self._transport.run(flow(self, *args, **kwargs))

    _show_options(run, flow)
    known = dict.fromkeys(tuple(inspect.signature(run).parameters)[1:]).keys()
    made: Any = run
    bound: Method[P, T] = made
    return bound


def explaining(init: Callable[P, None]) -> Callable[P, None]:
    """Let a constructor name its arguments where it is given another one."""
    known = dict.fromkeys(tuple(inspect.signature(init).parameters)[1:]).keys()

    @wraps(init)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        for name in kwargs.keys() - known:
            raise TypeError(_no_argument(type(args[0]).__name__, name, known))
        init(*args, **kwargs)

    return run


# Arguments of other libraries, and what they are here.
_OTHER_WORDS = {
    "agent_id": "agent",
    "base_url": "url",
    "budget": "budget_tokens",
    "host": "url",
    "limit": "k",
    "max_tokens": "budget_tokens",
    "metadata": 'messages=[{"role": "user", "content": "…", "metadata": {…}}]',
    "run_id": "session_id",
    "top_k": "k",
    "user": "user_id",
}


def _no_argument(method_name: str, name: str, known: Collection[str]) -> str:
    """Return what to write instead of an argument that a method does not have."""
    other = _OTHER_WORDS.get(name, "")
    advice = f"; use {other}" if other.partition("=")[0] in known else ""
    return f"{method_name}() has no argument {name}{advice}; there are: {', '.join(known)}"


class _LeftOut:
    """The default of an option: the server has the value."""

    def __repr__(self) -> str:
        return "..."


_LEFT_OUT = _LeftOut()
_HELP_WIDTH = 84


def argument_help(name: str, about: str) -> str:
    """Return the lines of a docstring about an argument."""
    return textwrap.fill(
        f"{name}: {about}", width=_HELP_WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8
    )


def _show_options(run: Callable[..., Any], flow: Callable[..., Any]) -> None:
    """Give a method the options of its flow in signature and docstring, instead of ``**options``.

    A default of ``...`` stands for an option that is left out.
    """
    if hasattr(flow, "__signature__"):
        return
    hints = get_type_hints(flow)
    signature = inspect.signature(flow)
    parameters: list[Parameter] = []
    help_lines: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is not Parameter.VAR_KEYWORD:
            parameters.append(parameter)
            continue
        (options,) = get_args(hints[parameter.name])
        for name, kind in get_type_hints(options, include_extras=True).items():
            is_described = get_origin(kind) is Annotated
            plain = get_args(kind)[0] if is_described else kind
            parameters.append(
                Parameter(name, Parameter.KEYWORD_ONLY, default=_LEFT_OUT, annotation=plain)
            )
            if is_described:
                help_lines.append(argument_help(name, kind.__metadata__[0]))
    if help_lines:
        answer = get_args(hints.get("return", Signature.empty))[-1]
        vars(run)["__signature__"] = Signature(parameters, return_annotation=answer)
        summary = (inspect.getdoc(flow) or "").strip()
        run.__doc__ = "\n".join([summary, "", "Options:", *help_lines, ""])
