"""A memory of LlamaIndex with a block of memci."""

from __future__ import annotations

import asyncio
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from sqlalchemy.ext.asyncio import create_async_engine

from memci import Memci
from memci.embedded import Postgres, Redis
from memci.integrations.llama_index import MemciBlock
from tests.integration.http.serving import served_by_workers


def test_what_leaves_the_history_is_found_again(
    shared_postgres: Postgres, process_redis: Redis, tmp_path: Path
):
    queues, app = "memci.lane,memci.compress,memci.read", "tests.support.network_worker_app"
    servers = (shared_postgres, process_redis)
    with (
        served_by_workers(servers, tmp_path, queues, app=app) as (server, _),
        Memci(server.url) as memci,
    ):
        alice = memci.agent("alice")
        block = MemciBlock(agent=alice, budget_tokens=60)

        async def run() -> str:
            engine = create_async_engine("sqlite+aiosqlite://")
            memory = Memory.from_defaults(
                session_id="monday", token_limit=60, token_flush_size=30, memory_blocks=[block],
                tokenizer_fn=str.split, async_engine=engine,
            )  # fmt: skip
            for text in ("I have a dog named Biscuit.", *(f"Filler {n} " * 6 for n in range(9))):
                await memory.aput(ChatMessage(role="user", content=text))
                await memory.aput(ChatMessage(role="assistant", content="I see."))
            await memory.aput(ChatMessage(role="user", content="Who is Biscuit?"))
            (system, *history) = await memory.aget()
            await engine.dispose()
            assert not any("named Biscuit" in str(each.content) for each in history)
            return str(system.content)

        told = asyncio.run(run())
        assert "<memci>" in told
        assert "I have a dog named Biscuit." in told
        stored = alice.messages().messages
        assert (stored[0].content, stored[0].session_id) == (
            "I have a dog named Biscuit.",
            "monday",
        )
        assert {each.role for each in stored} == {"user", "assistant"}
        counts = [each.content for each in stored].count("I have a dog named Biscuit.")
        assert counts == 1


def test_a_block_without_a_question_is_empty_and_a_long_one_is_cut():
    with Memci() as memci:
        block = MemciBlock(agent=memci.agent("alice"))
        assert asyncio.run(block.aget([])) == ""
        assert asyncio.run(block.atruncate("One\nTwo\nThree", 2)) == "One"
        assert asyncio.run(block.atruncate("One\nTwo", 50)) is None
