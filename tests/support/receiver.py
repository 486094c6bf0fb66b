"""A receiver of webhooks on this machine, which answers as a test says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook

OK = 204
CLOSE = 0  # closes the connection without an answer


@dataclass
class Receiver:
    """What came, in order; ``answer`` gives the status for each request."""

    url: str = ""
    answer: Callable[[int], int] = lambda _number: OK
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)  # of the answers
    body: bytes = b""  # of the answers

    def events(self, secret: str) -> list[dict[str, Any]]:
        """Verify all signatures; return the events."""
        return [Webhook(secret).verify(body, headers) for headers, body in list(self.requests)]

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in list(self.requests)]


@contextmanager
def receiver() -> Iterator[Receiver]:
    """Serve until the block ends."""
    made = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            made.requests.append(({k.lower(): v for k, v in self.headers.items()}, body))
            status = made.answer(len(made.requests))
            if status == CLOSE:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in made.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(made.body)))
            self.end_headers()
            self.wfile.write(made.body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}/hook"
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
