"""A backup is taken under load and restored to its moment, in a new folder."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from threading import Event, Thread

import pytest

from memci import embedded
from memci.embedded import Servers
from memci.testing import wait_until
from tests.support.command_line import run, run_json
from tests.support.fleet import fleet
from tests.support.lanes import Producer, producer

AGENTS = ("a", "b")


def start_workers(servers: Servers, folder: Path):
    folder.mkdir()
    return fleet(servers.postgres.url, servers.redis.url, folder)


def seqs(some: Producer, agent: str) -> list[int]:
    return some.column(agent, "SELECT seq FROM message WHERE agent_id = %s ORDER BY seq")


@pytest.mark.timeout(300)
def test_jobs_that_waited_at_the_moment_of_a_backup_are_done_once(
    own_servers: Servers, tmp_path: Path
):
    file, enough = tmp_path / "memci.dump", Event()
    urls = (own_servers.postgres.url, own_servers.redis.url)
    with start_workers(own_servers, tmp_path / "before") as workers, producer(*urls) as before:
        workers.start("memci.lane")

        def send() -> None:
            for agent in (AGENTS[number % 2] for number in count()):
                if enough.is_set():
                    return
                before.append(agent, wait_ms=50)

        sender = Thread(target=send)
        sender.start()
        wait_until(lambda: len(before.effects("a")) > 2, "work has begun", timeout_s=20)
        data_dir = str(own_servers.postgres.home.parent)
        run_json("db", "backup", str(file), settings={"MEMCI_DATA_DIR": data_dir})
        # Work goes on after the moment of the backup.
        done = len(before.effects("a"))
        wait_until(lambda: len(before.effects("a")) > done + 2, "more is done", timeout_s=20)
        enough.set()
        sender.join()
        sent = {agent: len(seqs(before, agent)) for agent in AGENTS}
    assert file.stat().st_mode & 0o777 == 0o600
    refused = run("db", "restore", str(file), settings={"MEMCI_DATA_DIR": data_dir})
    assert (refused.returncode, "new folder" in refused.stderr) == (1, True)

    new = tmp_path / "data"
    run_json("db", "restore", str(file), settings={"MEMCI_DATA_DIR": str(new)})
    with (
        embedded.own(new) as servers,
        start_workers(servers, tmp_path / "after") as workers,
        producer(servers.postgres.url, servers.redis.url) as after,
    ):
        stored = {agent: seqs(after, agent) for agent in AGENTS}
        assert sum("queued" in after.states(agent) for agent in AGENTS), "jobs waited"
        workers.start("memci.upkeep", ready=False)
        workers.start_beat()
        workers.start("memci.lane")
        after.wait_drained(AGENTS, timeout_s=100)
        for agent, there in stored.items():
            assert there == list(range(1, len(there) + 1))
            assert 0 < len(there) < sent[agent]
            assert after.effects(agent) == there
            assert set(after.states(agent)) == {"done"}
            # Messages of after the backup are lost; what takes their place is new.
            assert after.append(agent).seq == len(there) + 1
        after.wait_drained(AGENTS)
        assert {agent: len(after.effects(agent)) for agent in AGENTS} == {
            agent: len(there) + 1 for agent, there in stored.items()
        }


def test_what_cannot_be_backed_up_or_restored_is_refused(tmp_path: Path, database_url: str):
    outside = run("db", "backup", "x", settings={"MEMCI_DATABASE_URL": database_url})
    assert (outside.returncode, "pg_dump" in outside.stderr) == (1, True)
    nothing = {"MEMCI_DATA_DIR": str(tmp_path / "nothing")}
    missing = run("db", "backup", str(tmp_path / "x"), settings=nothing)
    assert (missing.returncode, "no database in" in missing.stderr) == (1, True)
    (tmp_path / "text").write_text("no dump")
    invalid = run("db", "restore", str(tmp_path / "text"), settings=nothing)
    assert (invalid.returncode, "pg_restore failed: " in invalid.stderr) == (1, True)
