"""Remembering and forgetting with the real offline models, in English and Chinese."""

from __future__ import annotations

import pytest

from memci.config.settings import Settings
from memci.smallmodel.registry import SmallModels, build_small_models
from memci.storage.session import Database
from tests.support.network import AgentUnderTest

ENGLISH = (
    "Hi! I finally booked the flight to Lisbon for my sister Anna's wedding in June.",
    "Lovely. How long will you stay in Portugal?",
    "Ten days. Anna wants me to give a speech, and I have no idea what to say yet.",
    "By the way, the database migration on the staging server failed again last night.",
    "Which error did Postgres report this time?",
    "A lock timeout on the orders table. We will run it on Sunday at 6 am instead.",
)
CHINESE = (
    "我下个月要去成都出差，顺便看看我的老同学王磊。",
    "成都不错，打算住在哪里？",
    "王磊让我住他家，他家就在宽窄巷子附近，晚上可以一起吃火锅。",
    "对了，昨天医生说我的血压偏高，让我每天跑步半个小时。",
    "那你要少吃盐，按时吃药。",
    "好的，我从今天开始每天早上六点去公园跑步。",
)


@pytest.fixture(scope="module")
def models() -> SmallModels:
    return build_small_models(Settings())


@pytest.mark.timeout(180)  # loads the models
@pytest.mark.parametrize(
    ("texts", "names", "relations"),
    [(ENGLISH, {"Lisbon", "Anna", "Postgres", "Portugal"}, {"next", "previous"}),
     (CHINESE, {"成都", "王磊", "宽窄巷子", "血压"}, {"下文", "上文"})],
)  # fmt: skip
def test_conversations_become_memories_that_shrink_and_are_forgotten(
    database: Database,
    models: SmallModels,
    texts: tuple[str, ...],
    names: set[str],
    relations: set[str],
) -> None:
    ada = AgentUnderTest(database, models=models)
    ada.remember(*texts[:3])
    ada.remember(*texts[3:])
    memories = ada.nodes("memory")
    # Dates are added and no text is lost.
    content = iter("".join("".join(node.content.split()) for node in memories))
    assert all(each in content for text in texts for each in "".join(text.split()))
    assert names & {node.content for node in ada.nodes("entity")}
    assert relations <= {link.relation for link in ada.links().values()}
    assert all(node.phrase and node.keywords for node in memories)

    ada.execute("DELETE FROM focus WHERE agent_id = %s")
    before = {node.id: node for node in memories}
    for strength in (0.16, 0.12, 0.08):
        ada.execute(f"UPDATE link SET strength = {strength} WHERE agent_id = %s")
        ada.compress()
        for node in ada.nodes("memory"):
            assert len(node.content) <= len(before[node.id].content)
            assert len(node.phrase) <= len(before[node.id].phrase)
            assert set(node.keywords) <= set(before[node.id].keywords)
            before[node.id] = node
    assert sum(log.compressed for log in ada.passes()) > 0
    ada.compress(passes=80)
    assert ada.nodes() == []
