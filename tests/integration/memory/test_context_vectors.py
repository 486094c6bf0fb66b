"""A context vector is the sum of a message's vector and its neighbours' vectors (R11b)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest
import redis

from memci.broker.app import make_app
from memci.broker.wakeup import Wakeups
from memci.commands import rebuild
from memci.domain.job import JobKind
from memci.domain.search.bm25 import REACH, first_after, position_at, session_at
from memci.jobs.index import Reembedding
from memci.storage.search.index import renew_around
from memci.storage.search.vectors import from_arrays
from memci.storage.session import Database
from tests.support.archives import another_database, export_agent, import_agent, imported_agent
from tests.support.databases import Databases
from tests.support.erasing import Eraser
from tests.support.large_agents import fill
from tests.support.models import BagOfWords, ScriptedModels
from tests.support.network import AgentUnderTest
from tests.support.rows_read import rows_read

WEIGHTS = {0: 1.0, 1: 0.5, 2: 0.2}
WORDS = [
    "bees",
    "honey",
    "harbour",
    "ferry",
    "pump",
    "valve",
    "cello",
    "tram",
    "umbrella",
    "lighthouse",
]
_STORED = """
SELECT m.seq, m.position, m.session_id, v.embedding::real[] AS own, a.embedding::real[] AS summed,
       v.model = a.model AND m.position = a.position AS same
  FROM message m JOIN message_vector v USING (agent_id, seq)
  LEFT JOIN message_context_vector a USING (agent_id, seq)
 WHERE m.agent_id = %s ORDER BY m.position
"""


def talk(ada: AgentUnderTest, random: Random, jobs: int = 8) -> None:
    """Say a few messages per job, in three concurrent sessions, one of them without a name."""
    for _ in range(jobs):
        texts = [" ".join(random.choices(WORDS, k=4)) for _ in range(random.randint(1, 4))]
        ada.remember(*texts, session=random.choice(["s1", "s2", None]))


def check_sums(ada: AgentUnderTest) -> None:
    """Check that each context vector is the sum of the near vectors, with unit length."""
    rows = ada.rows(_STORED)
    assert rows
    own = {row.position: from_arrays([row.own])[0] for row in rows}
    for row in rows:
        near = range(-REACH, REACH + 1)
        total = sum(
            WEIGHTS[abs(step)] * own[row.position + step]
            for step in near
            if row.position + step in own
        )
        expected = total / np.linalg.norm(total)
        assert row.same
        np.testing.assert_allclose(from_arrays([row.summed])[0], expected, atol=3e-3)


def check_positions(ada: AgentUnderTest) -> None:
    """Check that each session has its own number and that its messages are in order."""
    rows = ada.rows(
        "SELECT seq, session_id, position FROM message WHERE agent_id = %s ORDER BY seq"
    )
    numbers = {row.session_id: session_at(row.position) for row in rows}
    assert len(set(numbers.values())) == len(numbers)
    for session, number in numbers.items():
        placed = [row.position for row in rows if row.session_id == session]
        assert placed == sorted(placed)
        assert position_at(number, 0) <= placed[0] <= placed[-1] < first_after(number)
    postings = ada.rows(
        "SELECT 1 FROM message_term t JOIN message m USING (agent_id, seq)"
        " WHERE agent_id = %s AND t.position <> m.position"
    )
    assert postings == []


@pytest.mark.parametrize("seed", range(3))
def test_sums_follow_new_and_erased_messages(database: Database, eraser: Eraser, seed: int):
    ada, random = AgentUnderTest(database), Random(seed)
    talk(ada, random)
    check_sums(ada)
    check_positions(ada)
    ids = [row.id for row in ada.rows("SELECT id FROM message WHERE agent_id = %s ORDER BY seq")]
    eraser.erase(*random.sample(ids, 4))
    check_sums(ada)
    talk(ada, random, jobs=2)
    check_sums(ada)
    check_positions(ada)
    left = ada.rows(
        "SELECT 1 FROM message_context_vector a WHERE a.agent_id = %s AND NOT EXISTS"
        " (SELECT FROM message m WHERE m.agent_id = a.agent_id AND m.seq = a.seq)"
    )
    assert left == []


def test_sums_are_computed_again_with_the_vectors(database: Database):
    class OtherWords(BagOfWords):
        model = "other-words"
        dimension = 96

    ada = AgentUnderTest(database)
    talk(ada, Random(7))
    ada.models = ScriptedModels(embedder=OtherWords())
    rebuild.run(ada.database, ada.models.embedder)
    while jobs := ada.rows(
        "SELECT id, payload FROM job WHERE agent_id = %s AND state = 'queued' AND kind = %s",
        JobKind.REEMBED,
    ):
        job = ada.job(1, 1, jobs[0].payload)
        effect = Reembedding(ada.database, ada.models.embedder, batch=5).prepare(job)
        with ada.lease().effect() as connection:
            effect(connection)
        ada.execute("UPDATE job SET state = 'done' WHERE agent_id = %s AND id = %s", jobs[0].id)
        check_same_models(ada)
    check_sums(ada)
    assert {
        row.model
        for row in ada.rows("SELECT model FROM message_context_vector WHERE agent_id = %s")
    } == {"other-words"}


def test_sums_have_the_positions_of_their_messages(database: Database):
    ada = AgentUnderTest(database)
    talk(ada, Random(8))
    ada.execute(
        "UPDATE message SET position = position + (SELECT max(position) + 9 FROM message)"
        " WHERE agent_id = %s"
    )
    with database.agent_transaction("ada") as connection:
        renew_around(connection, "ada", range(100))
    check_sums(ada)


def check_same_models(ada: AgentUnderTest) -> None:
    """Check that each sum has the model of its message's own vector."""
    rows = ada.rows(
        "SELECT 1 FROM message_context_vector a JOIN message_vector v USING (agent_id, seq)"
        " WHERE agent_id = %s AND (a.model <> v.model"
        " OR vector_dims(a.embedding) <> vector_dims(v.embedding))"
    )
    assert rows == []


def test_an_import_of_an_archive_computes_the_sums(database: Database, databases: Databases):
    ada = AgentUnderTest(database)
    talk(ada, Random(9))
    with another_database(databases) as other_database:
        import_agent(other_database, export_agent(database))
        copy = imported_agent(ada, other_database)
        check_sums(copy)
        check_positions(copy)


def test_counters_stay_right_while_many_write_and_erase(
    database: Database, broker_url: str, client: redis.Redis
):
    """Eight agents run at once; a job and an erasure write each lane in turn."""

    def talk_and_erase(agent_id: str) -> AgentUnderTest:
        agent, random = AgentUnderTest(database, agent_id), Random(agent_id)
        with make_app(broker_url) as app:
            eraser = Eraser(database, Wakeups(app), client, agent_id)
            for _ in range(4):
                talk(agent, random, jobs=2)
                newest = agent.rows("SELECT id FROM message WHERE agent_id = %s ORDER BY seq DESC")
                eraser.erase(newest[random.randrange(len(newest))].id)
        return agent

    with ThreadPoolExecutor(8) as threads:
        agents = list(threads.map(talk_and_erase, [f"agent{number}" for number in range(8)]))
    for agent in agents:
        (counted,) = agent.rows(
            "SELECT count(*) AS messages, sum(length) AS terms FROM"
            " (SELECT DISTINCT seq, length FROM message_term WHERE agent_id = %s) AS each"
        )
        lane = agent.lane()
        assert (lane.indexed_messages, lane.indexed_terms) == (counted.messages, counted.terms)
        check_sums(agent)


def test_only_near_messages_are_read(database: Database):
    """The number of rows does not depend on the number of messages of the agent."""
    fill(database, "big", messages=2_000, nodes=0, dimension=8)
    read = rows_read(database, "message")
    with database.agent_transaction("big") as connection:
        renew_around(connection, "big", range(1_000, 1_010))
    # The ten, the fourteen around them, and five around each of these.
    assert read[-1] <= 10 + 14 + 14 * 5
