"""Celery beat requests compression passes; a second beat does no harm (M16)."""

from __future__ import annotations

import pytest

from memci.queue.sweep import request_due_passes
from memci.testing import wait_until
from tests.support.fleet import NO_MODEL


def compress_requests(producer, agent):
    return producer.lane(agent).compress_req


@pytest.mark.timeout(120)
def test_beat_alone_raises_scan_count_on_an_idle_queue(producer, fleet):
    """Uses the real pass; only beat requests it."""
    fleet.app = "workers"
    with producer.database.agent_transaction("a") as connection:
        connection.exec_driver_sql(
            "INSERT INTO lane (agent_id, written_at, pass_number) VALUES ('a', now(), 1)"
        )
        connection.exec_driver_sql(
            "INSERT INTO node (agent_id, id, slot, kind, type, content, original_length, phrase,"
            " keywords, language, message_seqs) VALUES ('a', 1, 1, 'entity', 'semantic', 'Ada', 3,"
            " 'Ada', '{}', 'en', '{}')"
        )
        connection.exec_driver_sql(
            "INSERT INTO focus (agent_id, node_id, mentioned) VALUES ('a', 1, 1)"
        )

    def scans() -> int:
        with producer.database.agent_snapshot("a") as connection:
            return int(connection.exec_driver_sql("SELECT scan_count FROM node").scalar_one())

    assert scans() == 0
    fleet.start("memci.upkeep", ready=False, MEMCI_UPKEEP_COMPRESS_PERIOD_S="1")
    fleet.start("memci.compress", ready=False, **NO_MODEL)
    for _ in range(2):
        fleet.start_beat(MEMCI_UPKEEP_COMPRESS_PERIOD_S="1")
    wait_until(lambda: scans() == 1, "beat has brought a pass", timeout_s=60)


def test_active_agents_get_one_pass_per_period(producer):
    producer.append("a")

    def ask(**changes):
        return request_due_passes(
            producer.database, **{"period_s": 3600, "idle_passes_per_day": 0, **changes}
        )

    before = compress_requests(producer, "a")
    assert (ask(), compress_requests(producer, "a")) == (1, before + 1)
    assert (ask(), compress_requests(producer, "a")) == (0, before + 1), (
        "a second beat does no harm"
    )
    producer.append("a")
    assert ask() == 0, "not before the period is over"
    with producer.database.lane_transaction() as connection:
        connection.exec_driver_sql(
            "UPDATE lane SET beat_at = beat_at - interval '2 hours', compress_done = compress_req"
        )
    assert (ask(), compress_requests(producer, "a")) == (1, before + 2)
    with producer.database.lane_transaction() as connection:
        connection.exec_driver_sql(
            "UPDATE lane SET written_at = written_at - interval '9 hours',"
            " beat_at = beat_at - interval '2 hours', compress_done = compress_req"
        )
    assert ask() == 0, "nothing was written or read since"


def test_idle_agents_get_passes_only_if_configured(producer):
    with producer.database.lane_transaction() as connection:
        connection.exec_driver_sql(
            "INSERT INTO lane (agent_id, pass_number, beat_at, written_at)"
            " VALUES ('idle', 1, now() - interval '7 hours', now() - interval '9 hours')"
        )
    ask = {"period_s": 3600.0}
    assert request_due_passes(producer.database, **ask, idle_passes_per_day=0) == 0
    assert request_due_passes(producer.database, **ask, idle_passes_per_day=3) == 0
    assert request_due_passes(producer.database, **ask, idle_passes_per_day=4) == 1
    assert request_due_passes(producer.database, **ask, idle_passes_per_day=4) == 0


def make_active(producer, count):
    with producer.database.lane_transaction() as connection:
        connection.exec_driver_sql(
            "INSERT INTO lane (agent_id, written_at)"
            " SELECT 'a' || n, now() FROM generate_series(1, %s) AS n",
            (count,),
        )


def test_locked_lanes_do_not_delay_passes_of_other_lanes(producer, monkeypatch):
    monkeypatch.setattr("memci.queue.sweep._BATCH", 10)
    make_active(producer, 45)

    def ask():
        return request_due_passes(producer.database, period_s=3600, idle_passes_per_day=0)

    with producer.database.lane_transaction() as effect:
        effect.exec_driver_sql("SELECT FROM lane WHERE agent_id IN ('a30', 'a9') FOR UPDATE")
        assert ask() == 43
    assert ask() == 2, "it comes with the next beat"
    assert ask() == 0
