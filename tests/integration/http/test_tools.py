"""Memory tools with real workers, in English and Chinese (R20)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memci import Memci
from memci.domain.pages.permission import Actor
from memci.embedded import Postgres, Redis
from memci.errors import ConflictError, NotFoundError
from memci.testing import wait_until
from tests.integration.http.serving import Served, served_by_workers

Use = Callable[..., Any]


@pytest.fixture(scope="module")
def working(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    servers, folder = (shared_postgres, process_redis), tmp_path_factory.mktemp("tools")
    with served_by_workers(servers, folder, "memci.read,memci.lane", app="workers") as (running, _):
        yield running


def tools_of(server: Served, agent: str) -> Use:
    def use(name: str, /, **arguments: Any) -> Any:
        return server.runtime.tools.run(agent, Actor.AGENT, name, arguments)

    return use


def wait_settled(server: Served, agent: str) -> None:
    """Wait until the agent has no pending messages."""
    with Memci(server.url) as memci:
        wait_until(
            lambda: memci.agent(agent).about().pending == 0, "memory caught up", timeout_s=60
        )


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("agent", "old", "new", "keyword", "query"),
    [
        (
            "ada",
            "The launch budget is 500 euros.",
            "The launch budget is 900 euros.",
            "budget",
            "What is the launch budget?",
        ),
        (
            "ming",
            "发布会的预算是五百欧元。",
            "发布会的预算是九百欧元。",
            "预算",
            "发布会的预算是多少？",
        ),
    ],
)
def test_a_text_is_remembered_recalled_corrected_and_erased(
    working: Served, agent: str, old: str, new: str, keyword: str, query: str
) -> None:
    use = tools_of(working, agent)
    noted = use("remember", text=old)
    wait_settled(working, agent)
    (known,) = use("filter_memory").found
    assert (known.text, known.messages) == (old, [noted.message])
    use("focus", entity=keyword)
    assert old in [each.text for each in use("recall", keywords=[keyword], depth=3).found]

    corrected = use("update", memory=known.memory, text=new)
    assert corrected.corrects == known.memory
    wait_settled(working, agent)
    latest, former = use("filter_memory").found
    assert (latest.text, former.replaced_by) == (new, latest.memory)
    assert new in use("search", query=query).found[0].text
    with Memci(working.url) as memci:
        versions = memci.agent(agent).history(latest.memory).versions
    assert [each.state for each in versions] == ["superseded", "current"]
    with pytest.raises(ConflictError, match=f"replaced by memory {latest.memory}"):
        use("update", memory=former.memory, text="?!x")

    erased = use("erase", messages=[corrected.message])
    assert (erased.messages, erased.memories) == (1, 1)
    (again,) = use("filter_memory").found
    assert again.replaced_by is None, "what was corrected is believed again"
    with pytest.raises(NotFoundError, match="not stored"):
        use("erase", messages=["none"])


@pytest.mark.timeout(180)
def test_pages_and_conversations_are_summarised(working: Served) -> None:
    with Memci(working.url) as memci:
        memci.agent("sum").remember(
            [
                {"role": "user", "content": "Which city for the fair? Lisbon or Porto?", "id": "a"},
                {"role": "assistant", "content": "We decided to go to Lisbon. " * 40, "id": "b"},
                {"role": "user", "content": "展位费是三千欧元，下周五之前要付清。", "id": "c"},
            ],
            session_id="s",
        )
    use = tools_of(working, "sum")
    of_all = use("summarise", max_tokens=60)
    assert of_all.tokens <= 60 < of_all.of_tokens
    assert "Lisbon" in of_all.text
    assert "三千欧元" in use("summarise", messages=["c"]).text
    assert "Lisbon" in use("summarise", page="usr-1", max_tokens=40).text
    note = use("create_detail_page", name="N", detail="Ask Maria about the stand.", parent="usr-0")
    assert "Maria" in use("summarise", page=note.page.index).text
    assert "三千欧元" in use("summarise", page="usr-0", max_tokens=200).text
    with pytest.raises(NotFoundError):
        use("summarise", page="usr-99")
    with pytest.raises(NotFoundError, match="not stored"):
        use("summarise", messages=["a", "zzz"])
