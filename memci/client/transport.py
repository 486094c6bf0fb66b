"""The two ways of running a flow: on the caller's thread, and on asyncio."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing, closing
from pathlib import Path
from typing import TypeVar

import httpx

from memci.client.archive_files import CHUNK_BYTES, chunks_of, new_file
from memci.client.requests import ClientRequest, Flow, Outcome, Pause
from memci.errors import MemciError

T = TypeVar("T")


class Transport:
    """Runs flows and blocks; safe for threads."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout_s: float) -> None:
        self._client = httpx.Client(
            base_url=url, headers=headers, timeout=timeout_s, verify=_verify(url)
        )
        self._timeout_s = timeout_s

    def run(self, flow: Flow[T]) -> T:
        """Run a flow until it returns."""
        _check_open(self._client)
        outcome: Outcome = None
        while True:
            try:
                step = flow.send(outcome)
            except StopIteration as end:
                result: T = end.value
                return result
            outcome = self._run_step(step)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _run_step(self, step: ClientRequest | Pause) -> Outcome:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        body = chunks_of(step.body) if isinstance(step.body, Path) else step.body
        request = _build_request(self._client, step, self._timeout_s, body)
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
        self._client = httpx.AsyncClient(
            base_url=url, headers=headers, timeout=timeout_s, verify=_verify(url)
        )
        self._timeout_s = timeout_s

    async def run(self, flow: Flow[T]) -> T:
        """Run a flow until it returns."""
        _check_open(self._client)
        outcome: Outcome = None
        while True:
            try:
                step = flow.send(outcome)
            except StopIteration as end:
                result: T = end.value
                return result
            outcome = await self._run_step(step)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _run_step(self, step: ClientRequest | Pause) -> Outcome:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        body = _async_chunks(step.body) if isinstance(step.body, Path) else step.body
        request = _build_request(self._client, step, self._timeout_s, body)
        try:
            response = await self._client.send(request, stream=step.save_to is not None)
            if step.save_to is not None:
                await _save_async(response, step.save_to)
        except httpx.TransportError as error:
            return error
        return response


def _verify(url: str) -> ssl.SSLContext | bool:
    """Tell httpx which authorities to trust: none where the connection has no certificate.

    Reading the system's authorities takes tens of milliseconds, most of the time of a short use
    of a client.
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
        with new_file(path) as file:
            for chunk in response.iter_bytes(CHUNK_BYTES):
                file.write(chunk)


async def _save_async(response: httpx.Response, path: Path) -> None:
    async with aclosing(response):
        if not response.is_success:
            await response.aread()
            return
        with new_file(path) as file:
            async for chunk in response.aiter_bytes(CHUNK_BYTES):
                file.write(chunk)


async def _async_chunks(path: Path) -> AsyncIterator[bytes]:
    for chunk in chunks_of(path):
        yield chunk


def _build_request(
    client: httpx.Client | httpx.AsyncClient,
    step: ClientRequest,
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
