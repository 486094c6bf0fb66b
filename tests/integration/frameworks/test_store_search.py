"""Real workers find items by a query in both languages, before and after indexing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from memci import Memci
from memci.embedded import Postgres, Redis
from memci.integrations.langgraph import MemciStore
from memci.testing import wait_until
from tests.integration.http.serving import Served, served_by_workers
from tests.support.fleet import Fleet

FACTS = {
    "bees": "My sister keeps bees in the mountains.",
    "tax": "The tax return is due in March.",
    "piano": "Anna practises the piano every evening.",
}
CHINESE = {"bees": "我妹妹在山里养蜜蜂。", "tax": "报税截止到三月。", "piano": "安娜每晚练钢琴。"}


@pytest.fixture(scope="module")
def working(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Served, Fleet]]:
    servers, folder = (shared_postgres, process_redis), tmp_path_factory.mktemp("items")
    with ExitStack() as stack:
        yield stack.enter_context(
            served_by_workers(
                servers, folder, "memci.read", app="workers", http_read_timeout_ms=60_000
            )
        )


def unindexed(server: Served, agent: str) -> int:
    with server.runtime.database.agent_snapshot(agent) as connection:
        statement = "SELECT count(*) FROM item WHERE text IS NOT NULL AND model IS NULL"
        return int(connection.exec_driver_sql(statement).scalar_one())


@pytest.mark.timeout(240)
def test_items_are_found_before_and_after_indexing(working: tuple[Served, Fleet]):
    server, workers = working
    with Memci(server.url, timeout_s=90) as memci:
        english, chinese = (MemciStore(memci.agent(name)) for name in ("ada", "ming"))

        def check_searches() -> None:
            found = english.search(("facts",), query="honey insects of a relative", limit=2)
            assert found[0].key == "bees"  # by meaning, without a common word
            assert found[0].score is not None
            assert english.search(("facts",), query="piano")[0].key == "piano"
            assert (
                english.search(("facts",), query="bees", filter={"n": {"$gt": 0}})[0].key != "bees"
            )
            found = chinese.search((), query="谁养蜜蜂？")
            assert found[0].key == "bees"
            assert len(found) == 3  # the others follow
            hidden = english.search((), query="hidden words")
            assert [each.score for each in hidden if each.key == "hidden"] == [None]

        for store, facts in ((english, FACTS), (chinese, CHINESE)):
            for number, (key, text) in enumerate(facts.items()):
                store.put(("facts",), key, {"text": text, "n": number})
        english.put(("secret",), "hidden", {"text": "hidden words"}, index=False)
        check_searches()
        workers.start("memci.lane")
        for agent in ("ada", "ming"):
            wait_until(
                lambda agent=agent: unindexed(server, agent) == 0, "all is indexed", timeout_s=90
            )
        check_searches()
        english.put(("facts",), "bees", {"text": "The dog sleeps.", "about": "pet"}, index=["text"])
        found = english.search(("facts",), query="dog")
        assert found[0].key == "bees"
