"""Chats whose answers are not recorded yet, and who waits for them."""

from __future__ import annotations

from dataclasses import replace

import anyio

from memci.http.proxy.chat_messages import ChatRequest
from memci.http.proxy.memory import UnrecordedChats
from memci.message import NewMessage, Role


def said(*texts: str) -> tuple[NewMessage, ...]:
    """User and assistant in turns."""
    roles = (Role.USER, Role.ASSISTANT)
    return tuple(NewMessage(role=roles[at % 2], content=text) for at, text in enumerate(texts))


FIRST = ChatRequest("alice", {}, said("One."), "s", None, 0)
NEXT = replace(FIRST, messages=said("One.", "Noted.", "Two."))


def order_of(request: ChatRequest) -> list[str]:
    """What comes first: that the first chat is recorded, or that the other is let through."""
    unrecorded, seen = UnrecordedChats(), []

    async def other() -> None:
        await unrecorded.wait_for_answers_in(request)
        seen.append("let through")

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            with unrecorded.hold(FIRST):
                tasks.start_soon(other)
                for _ in range(10):
                    await anyio.lowlevel.checkpoint()
                seen.append("recorded")

    anyio.run(run)
    return seen


def test_what_goes_on_from_an_answer_waits_until_it_is_recorded():
    assert order_of(NEXT) == ["recorded", "let through"]


def test_what_does_not_go_on_from_it_waits_for_nothing():
    others = [
        FIRST,  # asked once more, beside the first
        replace(NEXT, session_id="t"),
        replace(NEXT, agent_id="bob"),
        replace(NEXT, messages=said("Else.", "Noted.", "Two.")),
        replace(NEXT, messages=()),
    ]
    assert [order_of(each) for each in others] == [["let through", "recorded"]] * len(others)


def test_an_answer_that_is_never_recorded_is_not_waited_for_long():
    async def run() -> None:
        unrecorded = UnrecordedChats()
        with unrecorded.hold(FIRST), anyio.fail_after(10):
            await unrecorded.wait_for_answers_in(NEXT)

    anyio.run(run)
