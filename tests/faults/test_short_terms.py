"""Beat, upkeep and a worker end short terms without a request (R5)."""

from __future__ import annotations

import pytest

from memci.testing import wait_until


@pytest.mark.timeout(120)
def test_a_short_term_ends_without_a_request(producer, fleet):
    fleet.app = "workers"
    with producer.database.agent_transaction("a") as connection:
        connection.exec_driver_sql(
            "INSERT INTO lane (agent_id, message_seq, last_node_id, expire_at)"
            " VALUES ('a', 1, 1, now() - interval '1 second')"
        )
        connection.exec_driver_sql(
            "INSERT INTO node (agent_id, id, slot, kind, type, content, original_length, phrase,"
            " keywords, language, message_seqs, tier, expires_at, worth) VALUES ('a', 1, 1,"
            " 'memory', 'semantic', 'the pump is broken', 18, 'the pump', '{}', 'en', '{1}',"
            " 'short', now() - interval '1 second', 7)"
        )

    def tier() -> str:
        with producer.database.agent_snapshot("a") as connection:
            return str(connection.exec_driver_sql("SELECT tier FROM node").scalar_one())

    fleet.start("memci.upkeep", ready=False)
    fleet.start("memci.lane", ready=False)
    fleet.app = "tests.support.worker_app"
    fleet.start_beat(MEMCI_TEST_PERIOD_S="1")
    wait_until(lambda: tier() == "long", "the term has ended", timeout_s=60)
    lane = producer.lane("a")
    assert (lane.expire_at, lane.written_at) == (None, None)
