"""Runs of the OpenAI Agents SDK with a session of memci."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents import Agent as Assistant
from agents import ModelResponse, RunConfig, Runner, SQLiteSession, Usage
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from memci import AsyncMemci
from memci.client import Agent
from memci.integrations.openai_agents import MemciSession
from tests.integration.http.serving import Served


class Counting(Model):
    """Says how many items it was given."""

    async def get_response(self, system_instructions, input, *rest: Any, **more: Any):  # noqa: A002
        text = ResponseOutputText(
            text=f"{len(input)} items", type="output_text", annotations=[], logprobs=[]
        )
        said = ResponseOutputMessage(
            id="msg_1", type="message", role="assistant", status="completed", content=[text]
        )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *rest: Any, **more: Any):
        raise NotImplementedError


async def ask(session: Session, text: str) -> str:
    assistant = Assistant(name="Ann", model=Counting())
    config = RunConfig(tracing_disabled=True)
    answer = await Runner.run(assistant, text, session=session, run_config=config)
    return str(answer.final_output)


def test_a_run_continues_its_session_and_what_is_said_becomes_messages(
    agent: Agent, server: Served
):
    async def run() -> list[str]:
        first = MemciSession(agent, "monday", user_id="ann")
        assert isinstance(first, Session)
        said = [await ask(first, "我是素食者。"), await ask(first, "I live in Porto.")]
        async with AsyncMemci(server.url) as memci:  # another process
            other = MemciSession(memci.agent("alice"), "monday")
            return [*said, await ask(other, "What can I eat?"), await ask(other, "Where?")]

    assert asyncio.run(run()) == ["1 items", "3 items", "5 items", "7 items"]
    assert server.messages("alice")[:4] == [
        "我是素食者。", "1 items", "I live in Porto.", "3 items"
    ]  # fmt: skip
    assert {each.session_id for each in agent.messages().messages} == {"monday"}


def test_it_does_as_the_sdks_own_session(agent: Agent):
    items: list[Any] = [{"role": "user", "content": f"Question {number}"} for number in range(1, 8)]
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": "\\u00e9"}'}
    output = {"type": "function_call_output", "call_id": "c", "output": "é"}

    async def run(session: Session) -> list[Any]:
        seen: list[Any] = [await session.get_items(), await session.pop_item()]
        await session.add_items([])
        await session.add_items(items[:4])
        await session.add_items([items[4], call, output])
        seen += [await session.get_items(), await session.get_items(2), await session.get_items(0)]
        session.session_settings = SessionSettings(limit=5)
        seen += [await session.get_items(), await session.pop_item(), await session.pop_item()]
        await session.add_items(items[5:])
        seen += [await session.get_items(50)]
        await session.clear_session()
        return [*seen, await session.get_items(), await session.pop_item()]

    expected = asyncio.run(run(SQLiteSession("s")))
    assert asyncio.run(run(MemciSession(agent, "s"))) == expected


def test_an_item_that_is_added_again_is_no_second_message(agent: Agent, server: Served):
    async def run() -> None:
        session = MemciSession(agent, "s")
        yes = {"role": "user", "content": "Yes."}
        await session.add_items([yes, yes])
        popped = await session.pop_item()
        assert popped == yes
        await session.add_items([popped])
        assert await session.get_items() == [yes, yes]

    asyncio.run(run())
    assert server.messages("alice") == ["Yes.", "Yes."]


def test_sessions_are_apart_and_erased_with_their_agent(agent: Agent):
    async def run() -> None:
        one, other = MemciSession(agent, "one"), MemciSession(agent, "other")
        await one.add_items([{"role": "user", "content": "One"}])
        await other.add_items([{"role": "user", "content": "Other"}])
        await one.clear_session()
        assert len(await other.get_items()) == 1
        agent.erase_agent()
        assert await other.get_items() == []

    asyncio.run(run())


@pytest.mark.parametrize("count", [1_000, 1_203])
def test_a_long_session_is_read_as_a_whole(agent: Agent, count: int):
    items: list[Any] = [
        {"type": "function_call_output", "call_id": f"{number}", "output": ""}
        for number in range(count)
    ]

    async def run() -> None:
        session = MemciSession(agent, "long")
        await session.add_items(items)
        assert await session.get_items() == items
        assert await session.get_items(7) == items[-7:]
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(run())
