"""Real workers name pages: with a language model, without one, and after a kill (P6, P7)."""

from __future__ import annotations

from typing import Any

import pytest

from memci.domain.job import JobKind
from memci.message import NewMessage, Remember, Role
from memci.queue.intake import Append
from memci.reading.lists.listings import Listings
from memci.testing import wait_until
from tests.integration.llm.conftest import TASKS
from tests.integration.llm.test_workers import Hurry, Nth, of_task
from tests.support.fleet import Fleet
from tests.support.lanes import Producer
from tests.support.model_server import (
    ModelServer,
    RecordedRequest,
    answers_correctly,
    fails,
    hangs,
    says,
)
from tests.support.naming import PagesUnderTest
from tests.support.network import AgentUnderTest

pytestmark = pytest.mark.timeout(120)
WAIT_S = 60.0


@pytest.fixture
def workers(fleet: Fleet, server: ModelServer) -> Fleet:
    """A fleet that starts the real workers, which do not need torch here."""
    fleet.app = "workers"
    fleet.environment |= {
        **{
            f"MEMCI_MODELS__{task.upper()}__MODEL": "llm:openai/tiny"
            for task in (*TASKS, "embedder")
        },
        "MEMCI_LLM__API_BASE": server.url,
        "MEMCI_LLM__API_KEY": "sk-HUSH",
        "MEMCI_MODELS__EMBEDDER__DIMENSION": "8",
    }
    return fleet


@pytest.fixture
def pages(producer: Producer) -> PagesUnderTest:
    return PagesUnderTest(AgentUnderTest(producer.database, known=True))


def store_talk(producer: Producer, *texts: str, remember: Remember = Remember.NOW) -> None:
    """Store texts as messages of the user and of the assistant in turn."""
    for number, text in enumerate(texts):
        role = Role.ASSISTANT if number % 2 else Role.USER
        messages = [NewMessage(role, text)]
        producer.intake.append(Append("ada", messages, session_id="s1", remember=remember))


def naming_jobs(producer: Producer) -> list[Any]:
    with producer.database.lane_transaction() as connection:
        return list(
            connection.exec_driver_sql(
                "SELECT * FROM job WHERE agent_id = 'ada' AND kind = %s ORDER BY ordinal",
                (JobKind.NAME_PAGES,),
            )
        )


def is_named(pages: PagesUnderTest, number: int) -> bool:
    return [page.named for page in pages.pages()][:number] == [True] * number


TALK = ("Where is Oslo?", "Oslo is in Norway.", "And Bergen?", "Bergen is in Norway, too.", "Ah!")


@pytest.mark.long
def test_workers_name_pages_with_the_summarizer(
    workers: Fleet, producer: Producer, pages: PagesUnderTest, server: ModelServer
):
    def reply(handler: Any, asked: RecordedRequest) -> None:
        texts = [each["text"] for each in asked.data["messages"]] if asked.task == "outline" else []
        answer = {"name": "Norway", "description": "Where it is.", "lines": ["says"] * len(texts)}
        (says(answer) if texts else answers_correctly)(handler, asked)

    server.rest = reply
    store_talk(producer, *TALK)
    before = pages.shown()
    assert "[usr-1] Where is Oslo?" in before
    workers.start("memci.lane")
    wait_until(lambda: is_named(pages, 2), "two pages are named", timeout_s=WAIT_S)
    oslo, bergen, current = pages.pages()
    assert (oslo.name, oslo.description, oslo.entries) == (
        "Norway", "Where it is.", ["user: says", "assistant: says"],
    )  # fmt: skip
    assert (bergen.name, current.name) == ("Norway", "Ah!")
    assert "[usr-1] Norway" in pages.shown()
    used = [
        each
        for job in naming_jobs(producer)
        for each in (Listings(producer.database).job("ada", job.id).result or {})["models"]
    ]
    assert {each["task"] for each in used} == {"summarizer"}
    assert sum(each["calls"] for each in used) == server.tasks().count("outline") == 2


@pytest.mark.long
def test_a_worker_killed_while_naming_changes_nothing(
    workers: Fleet,
    producer: Producer,
    pages: PagesUnderTest,
    server: ModelServer,
):
    # The first page: a slow job saves each page before it continues.
    server.rest = Nth("outline", 1, hangs, answers_correctly)
    store_talk(producer, *TALK, remember=Remember.NEVER)
    shown = pages.shown()
    first = workers.start("memci.lane")
    wait_until(lambda: server.tasks().count("outline") == 1, "it thinks", timeout_s=WAIT_S)
    assert pages.pages() == []
    assert pages.shown() == shown
    first.kill()
    hurry = Hurry(pages.ada, producer)
    workers.start("memci.lane")
    hurry.until(lambda: is_named(pages, 2), "two pages are named")
    assert [page.name for page in pages.pages()] == ["Where is", "And", "Ah!"]
    assert [len(page.entries) for page in pages.pages()] == [2, 2, 1]


@pytest.mark.long
def test_memories_are_made_while_the_summarizer_is_down(
    workers: Fleet, producer: Producer, pages: PagesUnderTest, server: ModelServer
):
    server.rest = of_task("outline", fails(503, retry_after="1000"))
    store_talk(producer, *TALK)
    workers.start("memci.lane", MEMCI_QUEUE_ON_DEAD="halt", MEMCI_QUEUE_MAX_ATTEMPTS="2")
    wait_until(
        lambda: any(job.not_before for job in naming_jobs(producer)),
        "it waits for another try",
        timeout_s=WAIT_S,
    )
    # The job waits for a quarter of an hour; new messages are remembered now.
    store_talk(producer, "Grace likes Oslo and its fjord.")
    producer.wait_drained(["ada"])
    assert [job.state for job in naming_jobs(producer)] == ["queued"]
    assert "[usr-1] Where is Oslo?" in pages.shown()
    Hurry(pages.ada, producer).until(
        lambda: [job.state for job in naming_jobs(producer)] == ["dead"], "it is given up"
    )
    # The dead job is listed and does not halt the lane.
    dead = Listings(producer.database).job("ada", naming_jobs(producer)[0].id)
    assert "gave up after 2 tries" in (dead.error or "")
    assert producer.lane("ada").halted_by is None
    server.rest = answers_correctly
    store_talk(producer, "And Trondheim?")
    wait_until(lambda: is_named(pages, 2), "the next names all", timeout_s=WAIT_S)
