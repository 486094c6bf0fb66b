"""The two ways of running a flow: on the caller's thread, and on asyncio."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing, closing
from pathlib import Path
from typing import Generic, TypeVar

import httpx

from memci.client.exchange import Exchange, Flow, Outcome, Pause
from memci.client.files import PIECE, Saving, pieces_of
from memci.errors import MemciError

T = TypeVar("T")


class Transport:
    """Runs flows and blocks; safe for threads."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout_s: float) -> None:
        """Take where to send to; connects when first used."""
        self._client = httpx.Client(
            base_url=url, headers=headers, timeout=timeout_s, verify=_authorities(url)
        )
        self._timeout_s = timeout_s

    def run(self, flow: Flow[T]) -> T:
        """Do what a flow wants until it returns."""
        _check_open(self._client)
        progress = _Progress(flow)
        while progress.step is not None:
            progress.go_on(self._do(progress.step))
        return progress.result

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _do(self, step: Exchange | Pause) -> Outcome:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        body = pieces_of(step.body) if isinstance(step.body, Path) else step.body
        request = _request(self._client, step, self._timeout_s, body)
        try:
            response = self._client.send(request, stream=step.save_to is not None)
            if step.save_to is not None:
                _save(response, step.save_to)
        except httpx.TransportError as error:
            return error
        return response


class AsyncTransport:
    """Runs flows on asyncio."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout_s: float) -> None:
        """Take where to send to; connects when first used."""
        self._client = httpx.AsyncClient(
            base_url=url, headers=headers, timeout=timeout_s, verify=_authorities(url)
        )
        self._timeout_s = timeout_s

    async def run(self, flow: Flow[T]) -> T:
        """Do what a flow wants until it returns."""
        _check_open(self._client)
        progress = _Progress(flow)
        while progress.step is not None:
            progress.go_on(await self._do(progress.step))
        return progress.result

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _do(self, step: Exchange | Pause) -> Outcome:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        body = _offered(step.body) if isinstance(step.body, Path) else step.body
        request = _request(self._client, step, self._timeout_s, body)
        try:
            response = await self._client.send(request, stream=step.save_to is not None)
            if step.save_to is not None:
                await _save_async(response, step.save_to)
        except httpx.TransportError as error:
            return error
        return response


def _authorities(url: str) -> ssl.SSLContext | bool:
    """Tell httpx whom to trust: nobody where no certificate is asked for.

    To read the system's authorities takes tens of milliseconds, the better part of what a short
    use of a client takes.
    """
    plain = url.lower().startswith("http://")
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True


def _check_open(client: httpx.Client | httpx.AsyncClient) -> None:
    if client.is_closed:
        raise MemciError("this client is closed: make another one, and ask within its 'with' block")


def _save(response: httpx.Response, path: Path) -> None:
    """Write a successful answer to a file, and read any other."""
    with closing(response):
        if not response.is_success:
            response.read()
            return
        with Saving(path) as saving:
            for piece in response.iter_bytes(PIECE):
                saving.write(piece)
            saving.keep()


async def _save_async(response: httpx.Response, path: Path) -> None:
    async with aclosing(response):
        if not response.is_success:
            await response.aread()
            return
        with Saving(path) as saving:
            async for piece in response.aiter_bytes(PIECE):
                saving.write(piece)
            saving.keep()


async def _offered(path: Path) -> AsyncIterator[bytes]:
    for piece in pieces_of(path):
        yield piece


class _Progress(Generic[T]):
    """A flow under way: its next step, or, when that is None, its result."""

    result: T

    def __init__(self, flow: Flow[T]) -> None:
        self._flow = flow
        self.step: Exchange | Pause | None = None
        self.go_on(None)

    def go_on(self, outcome: Outcome) -> None:
        try:
            self.step = self._flow.send(outcome)
        except StopIteration as end:
            self.step, self.result = None, end.value


def _request(
    client: httpx.Client | httpx.AsyncClient,
    step: Exchange,
    timeout_s: float,
    body: bytes | Iterator[bytes] | AsyncIterator[bytes] | None,
) -> httpx.Request:
    return client.build_request(
        step.method,
        step.path,
        params=step.params,
        headers=step.headers,
        content=body,
        timeout=timeout_s + step.extra_timeout_s,
    )
