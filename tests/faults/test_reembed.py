"""Real workers refuse another embedder until vectors are rebuilt; a kill loses none."""

from __future__ import annotations

import pytest

from memci.commands import rebuild
from memci.config.settings import Settings
from memci.smallmodel.offline.e5_embedder import DIMENSION, MODEL, OfflineEmbedder
from memci.testing import wait_until
from tests.support.network import AgentUnderTest

MESSAGES = 700
_NEW = """
SELECT (SELECT count(*) FROM message_vector WHERE agent_id = %s AND model = %s)
     + (SELECT count(*) FROM node_vector WHERE agent_id = %s AND model = %s)
"""


@pytest.mark.long
@pytest.mark.timeout(150)
def test_a_worker_killed_during_reembedding_loses_no_vector(database, fleet, upkeep):
    fleet.app = "workers"
    ada = AgentUnderTest(database)
    ada.remember(*(f"[Ann] keeps bees in garden number{n}" for n in range(MESSAGES)))
    refused = fleet.start("memci.lane", ready=False)
    assert refused.process.wait(60) != 0
    assert "made by bag-of-words (64 numbers)" in refused.log_text
    assert "memci db reembed" in refused.log_text

    assert rebuild.run(database, OfflineEmbedder(Settings().embedder_folder)) == 1
    victim = fleet.start("memci.lane")
    wait_until(lambda: new_vectors(ada) > 0, "the first bite", timeout_s=60)
    victim.kill()
    assert 0 < new_vectors(ada) < 2 * MESSAGES
    fleet.start("memci.lane", ready=False)
    wait_until(lambda: new_vectors(ada) == 2 * MESSAGES, "all vectors are new", timeout_s=90)
    wait_until(lambda: not rebuild.progress(database).left.queued, "no job is left", timeout_s=20)
    rebuilt = rebuild.progress(database).held
    assert rebuilt is not None
    assert (rebuilt.model.name, rebuilt.model.dimension) == (MODEL, DIMENSION)


def new_vectors(ada: AgentUnderTest) -> int:
    with ada.database.agent_transaction(ada.agent_id) as connection:
        values = (ada.agent_id, MODEL) * 2
        return int(connection.exec_driver_sql(_NEW, values).scalar_one())
