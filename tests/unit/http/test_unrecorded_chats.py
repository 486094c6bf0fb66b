"""Requests wait for answers that are not recorded yet."""

from __future__ import annotations

from dataclasses import replace

import anyio

from memci.http.proxy.chat_messages import ChatRequest
from memci.http.proxy.memory import UnrecordedChats
from memci.message import NewMessage, Role


def conversation(*texts: str) -> tuple[NewMessage, ...]:
    """Return messages of user and assistant in turn."""
    roles = (Role.USER, Role.ASSISTANT)
    return tuple(NewMessage(role=roles[at % 2], content=text) for at, text in enumerate(texts))


FIRST = ChatRequest("alice", {}, conversation("One."), "s", None, 0)
NEXT = replace(FIRST, messages=conversation("One.", "Noted.", "Two."))


def order_of(request: ChatRequest) -> list[str]:
    """Return the order of two events: the first chat is recorded; the other is let through."""
    unrecorded, events = UnrecordedChats(), []

    async def other() -> None:
        await unrecorded.wait_for_answers_in(request)
        events.append("let through")

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            with unrecorded.hold(FIRST):
                tasks.start_soon(other)
                for _ in range(10):
                    await anyio.lowlevel.checkpoint()
                events.append("recorded")

    anyio.run(run)
    return events


def test_a_request_that_continues_an_answer_waits_until_it_is_recorded():
    assert order_of(NEXT) == ["recorded", "let through"]


def test_other_requests_do_not_wait():
    others = [
        FIRST,  # the same request again
        replace(NEXT, session_id="t"),
        replace(NEXT, agent_id="bob"),
        replace(NEXT, messages=conversation("Else.", "Noted.", "Two.")),
        replace(NEXT, messages=()),
    ]
    assert [order_of(each) for each in others] == [["let through", "recorded"]] * len(others)


def test_the_wait_for_an_answer_is_bounded():
    async def run() -> None:
        unrecorded = UnrecordedChats()
        with unrecorded.hold(FIRST), anyio.fail_after(10):
            await unrecorded.wait_for_answers_in(NEXT)

    anyio.run(run)
