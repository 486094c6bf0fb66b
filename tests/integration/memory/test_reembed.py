"""Another embedder is refused until all vectors are computed again; reads still work."""

from __future__ import annotations

from uuid import uuid4

import pytest

from memci.commands import rebuild
from memci.domain.job import Job, JobKind, JobSource
from memci.errors import WrongEmbedderError
from memci.jobs.index import ItemIndexing, Reembedding
from memci.queue.job_requests import ReembeddingLeft
from memci.storage.frameworks.items import put_item
from memci.storage.search.index import nearest_nodes
from tests.support.models import BagOfWords, ScriptedModels
from tests.support.network import AgentUnderTest

TEXTS = [f"[Ann] keeps bees number{n}" for n in range(7)]


class OtherWords(BagOfWords):
    """Another model: other name, other dimension."""

    model = "other-words"
    dimension = 96


@pytest.fixture
def ada(database) -> AgentUnderTest:
    ada = AgentUnderTest(database)
    ada.remember(*TEXTS)
    return ada


def with_other_words(ada: AgentUnderTest) -> OtherWords:
    ada.models = ScriptedModels(embedder=OtherWords())
    return ada.models.embedder


def stored(ada: AgentUnderTest) -> set[tuple[str, str, int]]:
    return {
        tuple(row)
        for table in ("message_vector", "node_vector")
        for row in ada.rows(
            f"SELECT DISTINCT '{table}', model, vector_dims(embedding) FROM {table}"
            " WHERE agent_id = %s"
        )
    }


def queued(ada: AgentUnderTest) -> list[Job]:
    rows = ada.rows(
        "SELECT id, payload FROM job WHERE agent_id = %s AND state = 'queued' AND kind = %s"
        " ORDER BY ordinal",
        JobKind.REEMBED,
    )
    return [
        Job(agent_id=ada.agent_id, id=row.id, ordinal=1, kind=JobKind.REEMBED, payload=row.payload,
            source=JobSource.REEMBED, first_seq=None, last_seq=None, attempts=0, started=1,
            traceparent=None)
        for row in rows
    ]  # fmt: skip


def run_next(ada: AgentUnderTest, *, batch: int = 3) -> int:
    """Run the next job, as a lane does; return how many vectors it computed."""
    job = queued(ada)[0]
    effect = Reembedding(ada.database, ada.models.embedder, batch=batch).prepare(job)
    with ada.lease().effect() as connection:
        done = effect(connection)
    ada.execute("UPDATE job SET state = 'done' WHERE agent_id = %s AND id = %s", job.id)
    return done["reembedded"]


def test_every_vector_names_its_model_and_has_its_dimension(ada):
    assert stored(ada) == {
        ("message_vector", "bag-of-words", 64),
        ("node_vector", "bag-of-words", 64),
    }


def test_another_embedder_is_refused_wherever_vectors_are_written(ada):
    with_other_words(ada)
    before = ada.memories().keys()
    job = ada.say("[Bob] has a boat")
    with pytest.raises(WrongEmbedderError, match=r"bag-of-words \(64 .*other-words \(96 .*reembed"):
        ada.create(job)
    passes = len(ada.passes())
    # The worker keeps its lease until it expires, so it does not retry at once.
    with pytest.raises(WrongEmbedderError):
        ada.compress()
    assert len(ada.passes()) == passes
    assert ada.memories().keys() == before
    assert {model for _, model, _ in stored(ada)} == {"bag-of-words"}


def test_vectors_are_computed_again_in_batches_and_nothing_else_changes(ada):
    content = ada.memories()
    embedder = with_other_words(ada)
    assert rebuild.run(ada.database, embedder) == 1
    batches = []
    while queued(ada):
        batches.append(run_next(ada, batch=3))
    assert sum(batches) == 2 * len(TEXTS)
    assert max(batches) == 3
    assert {entry[1:] for entry in stored(ada)} == {("other-words", 96)}
    assert ada.memories() == content
    assert rebuild.progress(ada.database).left == ReembeddingLeft(queued=0, dead=0)
    ada.remember("[Ann] sold honey")


def put_items(ada: AgentUnderTest, count: int) -> None:
    with ada.database.agent_transaction("ada") as connection:
        for number in range(count):
            place = (("facts",), f"item{number}")
            put_item(connection, "ada", place, {}, text=f"fact {number}", ttl_minutes=None)


def index_items(ada: AgentUnderTest) -> int:
    """Run a job that indexes items; return how many it indexed."""
    effect = ItemIndexing(ada.database, ada.models).prepare(ada.job(1, 1, {}))
    with ada.lease().effect() as connection:
        return effect(connection)["indexed"]


@pytest.mark.parametrize("model", ["other-words", "bag-of-words"])
def test_items_of_programs_get_new_vectors_too(ada, model: str):
    put_items(ada, 8)
    assert index_items(ada) == 8
    put_items(ada, 1)  # the same text
    assert index_items(ada) == 0
    embedder = with_other_words(ada)
    embedder.model = model  # under the old name, vectors may have another dimension, too
    rebuild.run(ada.database, embedder)
    run_next(ada, batch=2 * len(TEXTS) + 2)
    kinds = ada.rows(
        "SELECT kind FROM job WHERE agent_id = %s AND state = 'queued' AND source = 'reembed'"
    )
    assert [row.kind for row in kinds] == [JobKind.INDEX_ITEMS]
    assert index_items(ada) == 8
    rows = ada.rows("SELECT DISTINCT model, vector_dims(embedding) FROM item WHERE agent_id = %s")
    assert [tuple(row) for row in rows] == [(model, 96)]


def test_nodes_with_new_vectors_are_found_while_others_still_wait(ada):
    embedder = with_other_words(ada)
    rebuild.run(ada.database, embedder)
    run_next(ada, batch=len(TEXTS) + 2)  # all messages, and two memories
    assert rebuild.progress(ada.database).left.queued == 1
    with ada.database.agent_snapshot("ada") as connection:
        (near,) = nearest_nodes(connection, "ada", embedder.embed(TEXTS[:1]), embedder.model, 10)
    assert len(near) == 2
    assert max(near.values()) == pytest.approx(1, abs=1e-3)


def test_a_second_request_adds_no_job_and_the_old_model_can_return(ada):
    old, new = ada.models.embedder, with_other_words(ada)
    assert rebuild.run(ada.database, new) == 1
    assert rebuild.run(ada.database, new) == 0
    run_next(ada, batch=4)
    assert rebuild.run(ada.database, old) == 1
    ada.models = ScriptedModels(embedder=old)
    while queued(ada):
        run_next(ada, batch=100)
    assert {entry[1:] for entry in stored(ada)} == {("bag-of-words", 64)}


def test_a_repeated_job_changes_nothing(ada):
    rebuild.run(ada.database, with_other_words(ada))
    job = queued(ada)[0]
    for _ in range(2):
        effect = Reembedding(ada.database, ada.models.embedder).prepare(job)
        with ada.lease().effect() as connection:
            effect(connection)
    assert {entry[1:] for entry in stored(ada)} == {("other-words", 96)}


def test_a_node_forgotten_meanwhile_gets_no_vector(ada):
    rebuild.run(ada.database, with_other_words(ada))
    effect = Reembedding(ada.database, ada.models.embedder).prepare(queued(ada)[0])
    forgotten = ada.nodes("memory")[0].id
    for table, column in (("node", "id"), ("node_vector", "node_id")):
        ada.execute(f"DELETE FROM {table} WHERE agent_id = %s AND {column} = %s", forgotten)
    with ada.lease().effect() as connection:
        effect(connection)
    assert ada.rows("SELECT FROM node_vector WHERE agent_id = %s AND node_id = %s", forgotten) == []


def test_every_agent_gets_a_job_even_if_its_lane_is_locked(database):
    for number in range(5):
        AgentUnderTest(database, f"agent{number}").remember("[Ann] keeps bees")
    with database.agent_transaction("agent3") as connection:
        connection.exec_driver_sql("SELECT FROM lane WHERE agent_id = 'agent3' FOR UPDATE")
        assert rebuild.run(database, OtherWords()) == 5
    assert rebuild.progress(database).left.queued == 5


def test_a_database_without_vectors_takes_the_first_embedder(database):
    assert rebuild.progress(database).held is None
    ada = AgentUnderTest(database, str(uuid4()))
    ada.remember("[Ann] keeps bees")
    held = rebuild.progress(database).held
    assert held is not None
    assert (held.model.name, held.model.dimension, held.change) == ("bag-of-words", 64, 1)


def passages(ada: AgentUnderTest) -> list[tuple[int, int, str, int]]:
    rows = ada.rows(
        "SELECT seq, start, model, vector_dims(embedding) AS dimension FROM message_passage"
        " WHERE agent_id = %s ORDER BY seq, start"
    )
    return [tuple(row) for row in rows]


def test_passages_of_long_messages_get_new_vectors_too(ada):
    ada.remember("[Ann] counts her hives. " * 200)
    before = passages(ada)
    assert len(before) > 1
    assert {each[2:] for each in before} == {("bag-of-words", 64)}
    rebuild.run(ada.database, with_other_words(ada))
    while queued(ada):
        run_next(ada)
    assert passages(ada) == [(*each[:2], "other-words", 96) for each in before]
