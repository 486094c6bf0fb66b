"""One owner starts and stops; others connect; a killed owner's servers are adopted."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
import redis

from memci.embedded import Addresses, Postgres, Redis, connect, own
from memci.embedded.server import ServerProcess
from memci.errors import ConfigurationError
from memci.testing import RunServers
from tests.support.servers import open_database

OWNER = """
import sys
from pathlib import Path
from memci.embedded import own
with own(Path(sys.argv[1])):
    print("up", flush=True)
    sys.stdin.read()
"""
RUN = """
import sys
from memci.testing import RunServers
with RunServers.begin() as run:
    print(run.folder, run.postgres().pid, flush=True)
    sys.stdin.read()
"""


@contextmanager
def python(script: str, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    with child:
        yield child


def read_line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def pids(data_dir: Path) -> tuple[int | None, int | None]:
    return Postgres(data_dir / "postgres").pid, Redis(data_dir / "redis").pid


def answered_by_both(addresses: Addresses) -> bool:
    with open_database(addresses.database_url) as connection:
        extension = connection.execute("SELECT '[1,2]'::vector <-> '[1,2]'").fetchone()
    with closing(redis.Redis.from_url(addresses.broker_url)) as client:
        return extension == (0.0,) and client.ping()


def test_an_owner_starts_both_and_others_connect(tmp_path: Path):
    assert connect(tmp_path / "new") is None
    assert not (tmp_path / "new").exists()
    with own(tmp_path / "new") as servers:
        assert connect(tmp_path / "new") == servers.addresses
        assert answered_by_both(servers.addresses)
    assert connect(tmp_path / "new") is None


def test_the_end_of_ownership_leaves_no_process(tmp_path: Path):
    with own(tmp_path) as servers:
        processes = [ServerProcess(pid) for pid in pids(tmp_path) if pid]
        with servers.postgres.connect_as_superuser() as connection:
            rows = connection.execute("SELECT pid FROM pg_stat_activity").fetchall()
        processes += [ServerProcess(pid) for (pid,) in rows if Path(f"/proc/{pid}").exists()]
    assert len(processes) > 4  # the servers, and PostgreSQL's processes for the log and the disk
    assert all(process.wait_for_end(0) for process in processes)
    for process in processes:
        process.release()


def test_data_and_addresses_outlive_a_stop(tmp_path: Path):
    with own(tmp_path) as servers:
        before = servers.addresses
        with closing(redis.Redis.from_url(before.broker_url)) as client:
            client.lpush("kept", "1")
        with open_database(before.migration_url) as connection:
            connection.execute("SET ROLE memci_owner")
            connection.execute("CREATE TABLE kept ()")
    with own(tmp_path) as servers:
        assert servers.addresses == before
        with closing(redis.Redis.from_url(before.broker_url)) as client:
            assert client.llen("kept") == 1
        with open_database(before.database_url) as connection:
            assert connection.execute("SELECT to_regclass('kept')").fetchone() == ("kept",)


def test_a_second_owner_is_refused_and_harms_nothing(tmp_path: Path):
    with python(OWNER, str(tmp_path)) as owner:
        assert read_line(owner) == "up"
        with pytest.raises(ConfigurationError, match=f"process {owner.pid} already runs"):
            own(tmp_path).__enter__()
        assert connect(tmp_path) is not None
    assert connect(tmp_path) is None


def test_servers_of_a_killed_owner_run_on_and_are_adopted(tmp_path: Path):
    with python(OWNER, str(tmp_path)) as owner:
        assert read_line(owner) == "up"
        before = connect(tmp_path), pids(tmp_path)
        owner.kill()
    assert before[0] is not None
    assert (connect(tmp_path), pids(tmp_path)) == before
    with own(tmp_path) as servers:
        assert (servers.addresses, pids(tmp_path)) == before
        assert answered_by_both(servers.addresses)
    assert pids(tmp_path) == (None, None)


def test_an_adopter_starts_a_server_that_died_with_the_owner(tmp_path: Path):
    with python(OWNER, str(tmp_path)) as owner:
        assert read_line(owner) == "up"
        postgres, _ = pids(tmp_path)
        owner.kill()
    assert postgres
    os.kill(postgres, signal.SIGKILL)  # its child processes end by themselves
    with own(tmp_path) as servers:
        assert answered_by_both(servers.addresses)


def test_a_ctrl_c_of_the_owners_terminal_does_not_reach_the_servers(tmp_path: Path):
    with python(OWNER, str(tmp_path)) as owner:
        assert read_line(owner) == "up"
        sessions = {os.getsid(pid) for pid in pids(tmp_path) if pid}
        assert len(sessions) == 2
        assert os.getsid(owner.pid) not in sessions


def test_servers_of_a_killed_test_run_are_stopped_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with python(RUN, TMPDIR=str(tmp_path)) as killed:
        folder, pid = read_line(killed).split()
        server = ServerProcess(int(pid))
        with RunServers.begin():  # the first run is still alive
            assert not server.wait_for_end(0)
        killed.kill()
    with RunServers.begin():
        assert server.wait_for_end(0)
        assert not Path(folder).exists()
    server.release()


def test_if_one_server_cannot_start_the_other_is_stopped(tmp_path: Path):
    with own(tmp_path) as servers:
        settings = servers.postgres.cluster / "postgresql.auto.conf"
    settings.write_text("nonsense = 1\n")
    with pytest.raises(ConfigurationError, match="unrecognized configuration parameter"):
        own(tmp_path).__enter__()
    assert pids(tmp_path) == (None, None)


def test_the_login_of_the_parts_cannot_become_the_owner_and_has_no_other_rights(tmp_path: Path):
    with own(tmp_path) as servers, open_database(servers.addresses.database_url) as connection:
        rights = "SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls FROM pg_roles"
        rows = connection.execute(f"{rights} WHERE rolname LIKE 'memci%'").fetchall()
        assert rows == [(False, False, False, False)] * 4
        for role in ("memci_app", "memci_upkeep"):
            connection.execute(f"SET ROLE {role}")
            connection.execute("RESET ROLE")
        for role in ("memci_owner", "postgres"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SET ROLE {role}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE TABLE mine ()")
