"""A backup is taken under load and restored to its moment, in a new folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from benchmarks.sentences import conversation
from memci import embedded
from memci.client import Memci
from memci.embedded import Postgres, Servers, files, servers_of
from memci.embedded.server import initdb
from memci.embedded.server import run as run_tool
from memci.testing import wait_until
from tests.soak.checks import OPEN_LANES
from tests.support.command_line import run, run_json, up
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


# The stored messages of an agent, and how often each was made into memory.
_MESSAGES = """
SELECT id, memory_state IN ('made', 'filtered') AS ready, indexed, count(seqs) FROM message
LEFT JOIN replay_log AS log ON log.agent_id = message.agent_id AND event = 'created'
                           AND message.seq = ANY(seqs)
WHERE message.agent_id = %s GROUP BY 1, 2, 3 ORDER BY min(message.seq)
"""


@pytest.mark.long
@pytest.mark.timeout(900)
def test_what_was_accepted_before_the_moment_of_a_recovery_is_in_memory_once(tmp_path: Path):
    """Point-in-time recovery: a base backup and the archived log, up to a moment under load."""
    flying = [f"flying-{number}" for number in range(4)]
    with recoverable(tmp_path / "old") as old, recoverable(tmp_path / "new") as new:
        archive = begin_archive(old)
        with running(tmp_path / "old") as memci:
            remember(memci, "kept", 6)
            wait_until(lambda: not rows(old, OPEN_LANES), "no lane has work", timeout_s=60)
            base_backup(old, new)
            for agent in flying:
                remember(memci, agent, 150)
            ((moment,),) = rows(old, "SELECT clock_timestamp()::text")
            remember(memci, flying[0], 170)
            remember(memci, "later", 10)
            archive_all(old)
        recover(new, archive, moment)
        assert rows(new, "SELECT id FROM job WHERE state = 'queued'"), "jobs were under way"
        before = {"kept": 6, **dict.fromkeys(flying, 150), "later": 0}
        assert {agent: len(messages(new, agent)) for agent in before} == before

        with running(tmp_path / "new") as memci:
            after = {**before, flying[0]: 170, "later": 10}
            for agent, number in after.items():
                remember(memci, agent, number)  # as clients do who do not know what is there
            wait_until(lambda: not rows(new, OPEN_LANES), "no lane has work", timeout_s=300)
            for agent, number in after.items():
                once = [(f"{agent}-{each}", True, True, 1) for each in range(number)]
                assert messages(new, agent) == once
            assert not rows(new, "SELECT id FROM job WHERE state = 'dead'")
            assert memci.agent("later").search("What happened?").hits


@contextmanager
def recoverable(data_dir: Path) -> Iterator[Postgres]:
    """The PostgreSQL of this folder, not started; its servers end with the block."""
    servers = servers_of(data_dir)
    try:
        yield servers.postgres
    finally:
        servers.redis.stop()
        servers.postgres.stop()


@contextmanager
def running(data_dir: Path) -> Iterator[Memci]:
    said = data_dir.with_suffix(".log")
    with up(data_dir, said, MEMCI_QUEUE_LEASE_MS="3000") as its:
        its.wait_for_log("memci is ready at ")
        with Memci(its.log_text.partition("memci is ready at ")[2].split()[0]) as memci:
            yield memci
        its.interrupt()
        its.process.wait(100)


def begin_archive(postgres: Postgres) -> Path:
    """Archive the log of a new server into a folder, from its next start on."""
    postgres.start()
    archive = files.private_folder(postgres.home / "archive", postgres.account)
    rows(postgres, "ALTER SYSTEM SET archive_mode = 'on'")
    rows(postgres, f"ALTER SYSTEM SET archive_command = 'cp %p {archive}/%f'")
    postgres.stop()
    return archive


def base_backup(source: Postgres, target: Postgres) -> None:
    """Copy the cluster of a running server, and its passwords."""
    with (source.home / "hba.conf").open("a") as access:
        access.write("host replication postgres 127.0.0.1/32 scram-sha-256\n")
    rows(source, "SELECT pg_reload_conf()")
    files.private_folder(target.home, target.account)
    for name in ("postgres.pass", "memci.pass"):
        files.write_private(target.home / name, (source.home / name).read_text(), target.account)
    login = f"host=127.0.0.1 port={source.port} user=postgres passfile={source.home}/postgres.pass"
    run_tool(
        [f"{initdb().parent}/pg_basebackup", "-d", login, "-D", f"{target.cluster}", "-c", "fast"],
        target.account,
        home=target.home,
    )


def archive_all(postgres: Postgres) -> None:
    """Wait until the log up to now is archived."""
    ((last,),) = rows(postgres, "SELECT pg_walfile_name(pg_switch_wal())")
    wait_until((postgres.home / "archive" / last).exists, "the log is archived", timeout_s=30)


def recover(postgres: Postgres, archive: Path, moment: str) -> None:
    """Start the server of a base backup; it restores the archived log up to the moment."""
    with (postgres.cluster / "postgresql.auto.conf").open("a") as settings:
        settings.write(
            f"archive_mode = off\nhot_standby = off\nrestore_command = 'cp {archive}/%f %p'\n"
            f"recovery_target_time = '{moment}'\nrecovery_target_action = promote\n"
        )
    files.write_private(postgres.cluster / "recovery.signal", "", postgres.account)
    postgres.start()


def remember(memci: Memci, agent: str, number: int) -> None:
    """Send the first messages of an agent, each with its id."""
    said = islice(conversation(len(agent)), number)
    texts = [{"role": each.role.value, "content": each.content or ""} for each in said]
    if texts:
        memci.agent(agent).remember(
            [{**each, "id": f"{agent}-{place}"} for place, each in enumerate(texts)]
        )


def messages(postgres: Postgres, agent: str) -> list[tuple[Any, ...]]:
    return rows(postgres, _MESSAGES, agent)


def rows(postgres: Postgres, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with postgres.connect_as_superuser("memci") as connection:
        done = connection.execute(statement.encode(), values or None)
        return done.fetchall() if done.description else []


def test_what_cannot_be_backed_up_or_restored_is_refused(tmp_path: Path, database_url: str):
    outside = run("db", "backup", "x", settings={"MEMCI_DATABASE_URL": database_url})
    assert (outside.returncode, "pg_dump" in outside.stderr) == (1, True)
    nothing = {"MEMCI_DATA_DIR": str(tmp_path / "nothing")}
    missing = run("db", "backup", str(tmp_path / "x"), settings=nothing)
    assert (missing.returncode, "no database in" in missing.stderr) == (1, True)
    (tmp_path / "text").write_text("no dump")
    invalid = run("db", "restore", str(tmp_path / "text"), settings=nothing)
    assert (invalid.returncode, "pg_restore failed: " in invalid.stderr) == (1, True)
