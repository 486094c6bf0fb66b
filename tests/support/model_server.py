"""A scripted language model that answers over HTTP like OpenAI's API.

It listens on 127.0.0.1 for real clients. ``asked`` keeps every request that arrives, also those
that fail, so that tests can count them.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import iscoroutinefunction
from threading import Event, Lock, Thread
from typing import Any, TypeAlias
from zlib import crc32

_DRIP_S = 0.2


@dataclass(frozen=True)
class RecordedRequest:
    """One request: its path, its headers (in small letters) and its body."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def task(self) -> str:
        """The task: the name of the answer's JSON schema, or ``embed`` for vectors."""
        if self.path.endswith("/embeddings"):
            return "embed"
        return str(self.body["response_format"]["json_schema"]["name"])

    @cached_property
    def data(self) -> Any:
        """The JSON object that is the user's message."""
        (message,) = (each for each in self.body["messages"] if each["role"] == "user")
        return json.loads(message["content"])

    @property
    def instructions(self) -> str:
        (message,) = (each for each in self.body["messages"] if each["role"] == "system")
        return str(message["content"])


Reply: TypeAlias = Callable[["_Handler", RecordedRequest], None]


def says(answer: object, *, prompt_tokens: int = 100, completion_tokens: int = 20) -> Reply:
    """Answer with JSON, or with exactly this text."""
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return lambda handler, asked: handler.chat(text, asked, prompt_tokens, completion_tokens)


def calls(tool: str, /, **arguments: Any) -> Reply:
    """Answer with one tool call."""
    function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
    reply = {"tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
    return lambda handler, asked: handler.message(reply, asked, 100, 20)


def fails(status: int, *, code: str = "", **headers: str) -> Reply:
    """Answer with an error; ``retry_after="3"`` becomes the header Retry-After."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    error = {"error": {"message": "HUSH: the provider quotes", "type": "x", "code": code}}
    return lambda handler, _: handler.send(status, json.dumps(error).encode(), named)


def streams(*chunks: bytes, after: Event | None = None) -> Reply:
    """Answer with these pieces of an event stream; all but the first wait for ``after``."""

    def reply(handler: _Handler, _: RecordedRequest) -> None:
        handler.begin(200, {"content-type": "text/event-stream"})
        for place, chunk in enumerate(chunks):
            if place and after is not None:
                after.wait(20)
            handler.wfile.write(chunk)
        handler.close_connection = True

    return reply


def hangs(handler: _Handler, _: RecordedRequest) -> None:
    """Send no answer until the server stops."""
    handler.model.stopping.wait()


def sends_only_spaces(handler: _Handler, _: RecordedRequest) -> None:
    """Send white space for ever, and no answer."""
    handler.begin(200, {"content-type": "application/json"})
    while not handler.model.stopping.wait(_DRIP_S):
        handler.wfile.write(b" ")


def breaks_off(handler: _Handler, _: RecordedRequest) -> None:
    """Begin an answer and close the connection."""
    handler.begin(200, {"content-type": "application/json", "content-length": "1000"})
    handler.wfile.write(b'{"id": "')
    handler.reset()


def sends(body: bytes, content_type: str = "application/json") -> Reply:
    """Answer 200 with these bytes."""
    return lambda handler, _: handler.send(200, body, {"content-type": content_type})


def answers_correctly(handler: _Handler, asked: RecordedRequest) -> None:
    """Do the task as a simple model would."""
    if asked.task == "embed":
        handler.vectors(asked)
    else:
        says(_HONEST[asked.task](asked.data))(handler, asked)


@dataclass
class ModelServer:
    """Replies with the entries of ``script`` in order, then always with ``rest``."""

    script: list[Reply] = field(default_factory=list)
    rest: Reply = answers_correctly
    requests: list[RecordedRequest] = field(default_factory=list)
    dimension: int = 8
    stopping: Event = field(default_factory=Event)
    port: int = 0
    _lock: Lock = field(default_factory=Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def take(self, asked: RecordedRequest) -> Reply:
        with self._lock:
            self.requests.append(asked)
            return self.script.pop(0) if self.script else self.rest

    def tasks(self) -> list[str]:
        with self._lock:
            return [each.task for each in self.requests]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = RecordedRequest(self.path, headers, body)
        try:
            self.model.take(asked)(self, asked)
        except OSError:  # the client has gone
            self.close_connection = True

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = RecordedRequest(self.path, headers, {})
        self.model.take(asked)(self, asked)

    def chat(
        self, text: str, asked: RecordedRequest, prompt_tokens: int, completion_tokens: int
    ) -> None:
        self.message({"content": text}, asked, prompt_tokens, completion_tokens)

    def message(
        self,
        reply: Mapping[str, Any],
        asked: RecordedRequest,
        prompt_tokens: int,
        completion_tokens: int,
    ) -> None:
        """Answer with a message: content, or tool calls."""
        message = {"role": "assistant", "content": None, **reply}
        reason = "tool_calls" if "tool_calls" in message else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        usage = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        }
        self._json(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": asked.body["model"],
                "choices": [choice],
                "usage": usage,
            }
        )

    def vectors(self, asked: RecordedRequest) -> None:
        """Answer with a vector of the words of each text, in another order than the request."""
        rows = [
            {"object": "embedding", "index": index, "embedding": _vector(text, self.model)}
            for index, text in enumerate(asked.body["input"])
        ]
        usage = {"prompt_tokens": 5, "total_tokens": 5}
        self._json(
            {"object": "list", "model": asked.body["model"], "data": rows[::-1], "usage": usage}
        )

    def send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.begin(status, {**headers, "content-length": str(len(body))})
        self.wfile.write(body)

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "content-length" not in headers:
            self.send_header("connection", "close")
        self.end_headers()

    def reset(self) -> None:
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the library names it
        """Log nothing."""

    def _json(self, body: Mapping[str, Any]) -> None:
        self.send(200, json.dumps(body).encode(), {"content-type": "application/json"})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect, since tests do that; report other errors."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Serve until the block ends."""
    model = ModelServer()
    handler = type("Handler", (_Handler,), {"model": model})
    with _Server(("127.0.0.1", 0), handler) as server:
        model.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield model
        finally:
            model.stopping.set()
            server.shutdown()
            thread.join(10)


def close_clients() -> None:
    """Close the connections that LiteLLM keeps, if this process has used it."""
    if "litellm" in sys.modules:
        kept = sys.modules["litellm"].in_memory_llm_clients_cache
        for client in list(kept.cache_dict.values()):
            close = getattr(client, "close", None)
            if close is not None and not iscoroutinefunction(close):
                close()
        kept.flush_cache()


def closed_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _vector(text: str, model: ModelServer) -> list[float]:
    vector = [0.0] * model.dimension
    for word in text.lower().split() or ["?"]:
        vector[crc32(word.encode()) % model.dimension] += 3.0
    return vector


def _segment(data: Any) -> Any:
    return {"starts": [1]}


def _annotate(data: Any) -> Any:
    words = [word.strip(".,!?。，！？") for word in data["text"].split()]
    names = [word for word in dict.fromkeys(words) if word[:1].isupper() and len(word) > 3]
    return {
        "phrase": data["text"][:40].strip(),
        "keywords": names[:6] or words[:1],
        "entities": names[:2],
        "type": "episodic",
    }


def _beginning(text: str, longest: int) -> str:
    """The beginning of a text, without a cut number or name at its end."""
    cut = text[:longest].rstrip("0123456789")
    return (cut.rpartition(" ")[0] if cut.isascii() else cut).strip() or text[:1]


def _outline(data: Any) -> Any:
    texts = [each["text"] for each in data["messages"]]
    return {
        "name": _beginning(texts[0], data["max_characters"]["name"]),
        "description": _beginning(texts[0], data["max_characters"]["description"]),
        "lines": [_beginning(text, data["max_characters"]["line"]) for text in texts],
    }


_HONEST: dict[str, Callable[[Any], Any]] = {
    "segment": _segment,
    "annotate": _annotate,
    "name_relations": lambda data: {"relations": ["concerns"] * len(data["focus_points"])},
    "compress": lambda data: {"text": _beginning(data["text"], data["max_characters"])},
    "judge": lambda data: {"eligible": True, "worth": 7},
    "outline": _outline,
    "plan_query": lambda data: {"queries": []},
    "summarize": lambda data: {"summary": _beginning(data["messages"][0]["text"], 200)},
}
