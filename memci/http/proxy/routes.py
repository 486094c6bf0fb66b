"""``/proxy/{agent}/v1``: requests of OpenAI's clients, passed on with a memory."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import httpx
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as Connection
from structlog.contextvars import bound_contextvars

from memci.api_keys import Scope
from memci.config.settings import Settings
from memci.errors import NotFoundError, UnauthorizedError
from memci.http.auth import Gate
from memci.http.proxy.chat_messages import ChatRequest, parse_request
from memci.http.proxy.memory import ChatMemory, Recalled
from memci.http.proxy.relay import AnswerReader, Relay
from memci.http.proxy.upstream import KEY_HEADER, Upstream, headers_for_upstream, keys_in
from memci.http.request import Call
from memci.runtime import Runtime

_PATH = "/proxy/{agent}/v1"
# An event takes about fifty bytes for each token.
_EVENT_FACTOR = 64


class Proxy:
    """Passes chats on."""

    def __init__(self, runtime: Runtime, url: str) -> None:
        self._settings: Settings = runtime.settings
        self._memory = ChatMemory(runtime)
        self.upstream = Upstream(url, runtime.settings)

    def routes(self) -> list[Route]:
        """Return the proxy's routes."""
        return [
            _Endpoint("/chat/completions", self._chat, "POST").route,
            _Endpoint("/models", self._models, "GET").route,
            _Endpoint("/models/{model:path}", self._models, "GET").route,
        ]

    async def _chat(self, call: Call, receive: Receive, send: Send) -> None:
        """Record the messages, insert context, and record the answer."""
        headers = self._admitted(call, Scope.WRITE)
        await call.read()
        agent_id = call.path_params["agent"]
        request = parse_request(agent_id, await call.json(), call.headers, self._settings)
        if request is None:
            relay = Relay(self.upstream)
            ask = partial(
                self.upstream.send, "POST", "/chat/completions", headers, await call.body()
            )
            await relay.run(ask, receive, send)
            return
        request = replace(request, paying=call.state.paying)
        recalled = await self._memory.before(request, call.state.traceparent)
        with self._memory.unrecorded.hold(request):
            await self._answer(request, recalled, (headers, await call.body()), (receive, send))

    async def _answer(
        self,
        request: ChatRequest,
        recalled: Recalled,
        sent: tuple[list[tuple[str, str]], bytes],
        connection: tuple[Receive, Send],
    ) -> None:
        headers, body = sent
        if recalled.notes:
            text = json.dumps(request.with_notes(recalled.notes), ensure_ascii=False)
            body = text.encode(errors="surrogatepass")
        max_bytes = self._settings.append_limits.message_bytes * _EVENT_FACTOR
        reader = AnswerReader(streamed=request.streamed, max_bytes=max_bytes)
        record = partial(self._memory.after, request, recalled, reader)
        relay = Relay(self.upstream, reader, partial(record, whole=True), recalled.state)
        ask = partial(self.upstream.send, "POST", "/chat/completions", headers, body)
        try:
            await relay.run(ask, *connection)
        finally:
            if not relay.whole:
                await record(whole=False)

    async def _models(self, call: Call, receive: Receive, send: Send) -> None:
        headers = self._admitted(call, Scope.READ)
        model = call.path_params.get("model")
        if model is not None and not {"", ".", ".."}.isdisjoint(model.split("/")):
            raise NotFoundError(
                "there is no such model: a name has no empty parts and no dots alone"
            )
        path = httpx.URL(path=f"/models/{model}").raw_path.decode() if model else "/models"
        ask = partial(self.upstream.send, "GET", path, headers, None)
        await Relay(self.upstream).run(ask, receive, send)

    def _admitted(self, call: Call, needed: Scope) -> list[tuple[str, str]]:
        """Check the key, and return the headers for the upstream."""
        keys = keys_in(call.headers, self._settings.proxy_upstream_key)
        gate: Gate = call.app.state.gate
        try:
            gate.admit(call, needed, keys.memci or "")
        except UnauthorizedError:
            if keys.memci is not None:
                raise
            raise UnauthorizedError(
                f"a valid API key of memci is needed: send it as '{KEY_HEADER.title()}: <key>'"
                + (", or as Authorization" if self._settings.proxy_upstream_key else "")
            ) from None
        return headers_for_upstream(call.headers.items(), keys.upstream)


class _Endpoint:
    """An ASGI application: Starlette would take a function for one that returns a response."""

    def __init__(self, path: str, answer: Callable[..., Awaitable[None]], method: str) -> None:
        self._answer = answer
        self.route = Route(_PATH + path, self, methods=[method], include_in_schema=False)

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        scope["route"] = self.route  # for the metrics
        gate: Gate = Request(scope).app.state.gate
        call = Call(scope, receive, max_bytes=gate.max_request_bytes)
        with bound_contextvars(agent_id=call.path_params["agent"]):
            await self._answer(call, receive, send)


async def _no_provider(_: Request) -> Response:
    raise NotFoundError(
        "the proxy has no provider: set MEMCI_PROXY_UPSTREAM_URL to its base URL, such as "
        "http://127.0.0.1:11434/v1, and restart the API"
    )


# What a server without a provider serves.
WITHOUT_PROVIDER = Route(
    _PATH + "/{path:path}", _no_provider, methods=["GET", "POST"], include_in_schema=False
)
