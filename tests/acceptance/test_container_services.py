"""The containers' setup of PostgreSQL and Redis, run with the embedded servers' binaries."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from celery import Celery
from kombu import Exchange, Queue
from kombu.exceptions import OperationalError
from redis.exceptions import NoPermissionError

from memci.embedded import Postgres, Redis, Servers
from memci.embedded import server as binaries
from memci.errors import ConfigurationError
from memci.storage.migrate import upgrade
from memci.storage.session import Database
from memci.testing import wait_until
from tests.support import deployment
from tests.support.fleet import ROOT

_RUNBOOK = (ROOT / "deploy/runbook.md").read_text()


def test_the_broker_is_configured_like_the_embedded_one(process_redis: Redis, tmp_path: Path):
    """Run the container's start script, with paths and port of this machine."""
    script = deployment.compose()["services"]["redis"]["entrypoint"][-1].replace("$$", "$")
    settings = tmp_path / "given.conf"
    given = (ROOT / "docker/redis.conf").read_text()
    assert "\ndir /data\n" in given
    settings.write_text(given.replace("dir /data", f"dir {tmp_path}"))
    script = script.replace("/etc/memci/redis.conf", str(settings))
    script = script.replace("/tmp/redis.conf", str(tmp_path / "made.conf"))  # noqa: S108 - in the container
    server = str(binaries.redis_server())
    socket = str(tmp_path / "redis.sock")
    local = f'--port 0 --unixsocket "{socket}"'
    process = subprocess.Popen(
        [
            "sh",
            "-c",
            script.replace("exec redis-server", f'exec "{server}"').rstrip() + f" {local}",
        ],
        env={**os.environ, "REDIS_PASSWORD": "word1"},
        stdout=subprocess.DEVNULL,
    )
    try:
        client = redis.Redis(unix_socket_path=socket, password="word1", decode_responses=True)
        with (
            closing(client),
            closing(redis.Redis.from_url(process_redis.url, decode_responses=True)) as embedded,
        ):
            wait_until(lambda: Path(socket).exists(), "Redis has started")
            wait_until(lambda: _pings(client), "Redis answers")
            for name in ("appendonly", "maxmemory-policy", "notify-keyspace-events", "save"):
                assert client.config_get(name) == embedded.config_get(name), name
        assert (tmp_path / "made.conf").stat().st_mode & 0o077 == 0
    finally:
        process.terminate()
        assert process.wait(20) == 0


def test_the_database_is_prepared_for_a_login_without_rights(own_servers: Servers):
    _prepare_database(own_servers.postgres)
    url = _login_url(own_servers.postgres)
    for _ in range(2):
        upgrade(_login_url(own_servers.postgres, "shop_migration"), url)

    with psycopg.connect(url, autocommit=True) as connection:
        rights = connection.execute(
            "SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolinherit"
            " FROM pg_roles WHERE rolname LIKE 'shop%'"
        ).fetchall()
        assert rights == [(False,) * 5] * 2
        for forbidden in ("SELECT 1 FROM message", "SET ROLE memci_owner"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(forbidden)
    with pytest.raises(ConfigurationError, match="set MEMCI_MIGRATION_URL"):
        upgrade(url)
    database = Database(url)
    try:
        with database.agent_transaction("alice") as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM message").scalar_one() == 0
    finally:
        database.close()


def test_a_backup_can_be_restored(own_servers: Servers, tmp_path: Path):
    """Run the commands of docs/how-to/back-up.md, as superuser and without a network."""
    postgres = own_servers.postgres
    _prepare_database(postgres)
    url, migration_url = _login_url(postgres), _login_url(postgres, "shop_migration")
    upgrade(migration_url, url)
    database = Database(url)
    with database.lane_transaction() as connection:
        connection.exec_driver_sql("INSERT INTO lane (agent_id, message_seq) VALUES ('alice', 7)")
    database.close()

    environment = _superuser_environment(postgres)
    dump = tmp_path / "memci.dump"
    _run(["pg_dump", "--format=custom", f"--file={dump}", "shop_memory"], environment)
    _run(["dropdb", "shop_memory"], environment)
    _run(["createdb", "--owner=memci_owner", "shop_memory"], environment)
    _run(["pg_restore", "--dbname=shop_memory", "--exit-on-error", str(dump)], environment)
    upgrade(migration_url, url)

    restored = Database(url)
    try:
        with restored.lane_transaction() as connection:
            rows = connection.exec_driver_sql("SELECT agent_id, message_seq FROM lane").all()
        assert rows == [("alice", 7)]
        with restored.agent_transaction("bob") as connection:
            policies = "SELECT count(*) FROM pg_policies WHERE tablename = 'message'"
            assert connection.exec_driver_sql(policies).scalar_one() > 0
    finally:
        restored.close()


def test_the_queries_of_the_runbook_run(database_url: str):
    queries = re.findall(r"^```sql\n(.*?)^```", _RUNBOOK, re.MULTILINE | re.DOTALL)
    assert queries
    url = database_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url) as connection:
        connection.execute("SET ROLE memci_upkeep")
        for query in queries:
            assert connection.execute(query).fetchall() == []


@pytest.fixture
def producer_url(process_redis: Redis, broker_url: str) -> Iterator[str]:
    """A URL for a Redis user that the runbook creates for producers."""
    (rules,) = re.findall(r"^ACL SETUSER producer (.+)$", _RUNBOOK, re.MULTILINE)
    with closing(redis.Redis.from_url(broker_url)) as admin:
        admin.execute_command(
            "ACL", "SETUSER", "producer", *rules.replace("PASSWORD", "word2").split()
        )
        parts = urlsplit(broker_url)
        yield f"redis://producer:word2@{parts.hostname}:{parts.port}{parts.path}"
        admin.execute_command("ACL", "DELUSER", "producer")


def test_a_producers_user_may_only_write(producer_url: str, broker_url: str):
    queue = Queue("memci.agent.a", Exchange(""), routing_key="memci.agent.a")
    with Celery("producer", broker=producer_url, set_as_current=False) as app:
        app.send_task("memci.memory.create", kwargs={"v": 1}, queue=queue, ignore_result=True)
        lane = Queue("memci.lane", Exchange(""), routing_key="memci.lane")
        with pytest.raises(OperationalError):
            app.send_task("memci.lane.run", queue=lane, ignore_result=True, retry=False)
    with closing(redis.Redis.from_url(broker_url)) as admin:
        assert admin.keys() == [b"memci.agent.a"]
    with closing(redis.Redis.from_url(producer_url)) as client:
        for command in ("LRANGE memci.agent.a 0 -1", "RPOP memci.agent.a", "KEYS *", "FLUSHALL"):
            with pytest.raises(NoPermissionError):
                client.execute_command(*command.split())


def _login_url(postgres: Postgres, login: str = "shop") -> str:
    return f"postgresql://{login}:word3@127.0.0.1:{postgres.port}/shop_memory"


def _prepare_database(postgres: Postgres) -> None:
    """Run the container's script, with another login and database than the embedded ones."""
    environment = {
        **_superuser_environment(postgres),
        "MEMCI_DATABASE_PASSWORD": "word3",
        "MEMCI_MIGRATION_PASSWORD": "word3",
        "MEMCI_DATABASE_LOGIN": "shop",
        "MEMCI_DATABASE_NAME": "shop_memory",
    }
    _run(["sh", str(ROOT / "docker/postgres/10-memci.sh")], environment)


def _superuser_environment(postgres: Postgres) -> dict[str, str]:
    with postgres.connect_as_superuser() as connection:
        info = connection.info
        return {
            **os.environ,
            "PATH": f"{binaries.postgres().parent}{os.pathsep}{os.environ['PATH']}",
            "PGHOST": info.host,
            "PGPORT": str(info.port),
            "PGUSER": info.user,
            "PGPASSWORD": info.password,
            "POSTGRES_USER": info.user,
            "POSTGRES_DB": info.dbname,
        }


def _run(command: list[str], environment: dict[str, str]) -> None:
    subprocess.run(command, env=environment, check=True, timeout=50)


def _pings(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
