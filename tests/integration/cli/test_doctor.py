"""The doctor finds faults of real servers and settings."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
import redis
from sqlalchemy.engine import make_url

from memci.broker.app import make_app
from memci.broker.wakeup import Wakeups
from memci.cli.doctor.checks import (
    any_wrong,
    check_broker_and_workers,
    check_database,
    check_machine,
    check_queue,
    check_vectors,
)
from memci.cli.doctor.findings import Finding, Level
from memci.commands import rebuild
from memci.config.settings import Settings
from memci.embedded import Postgres, Servers
from memci.message import NewMessage, Role
from memci.queue.intake import Append, Intake
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.storage.migrate import downgrade
from memci.storage.session import Database
from tests.support.command_line import MEMCI, environment, run
from tests.support.databases import migration_url
from tests.support.fleet import Fleet
from tests.support.network import AgentUnderTest


def levels(findings: Iterable[Finding]) -> dict[str, Level]:
    return {each.subject: each.level for each in findings}


def test_a_good_database_has_nothing_wrong(database_url: str):
    found = list(check_database(database_url))
    assert set(levels(found)) == {"database", "roles", "pgvector", "migrations"}
    assert {each.level for each in found} == {Level.OK}


def test_missing_migrations_are_named_with_the_command(database_url: str):
    downgrade(migration_url(database_url), "base")
    (found,) = [each for each in check_database(database_url) if each.level is Level.WRONG]
    assert found.subject == "migrations"
    assert "memci db upgrade" in found.advice


def test_a_login_without_rights_gets_the_grant_to_run(shared_postgres: Postgres, database_url: str):
    login = f"stranger_{secrets.token_hex(4)}"
    with shared_postgres.connect_as_superuser() as connection:
        connection.execute(f"CREATE ROLE {login} LOGIN PASSWORD 'secret-word'")
        try:
            url = make_url(database_url).set(username=login, password="secret-word", query={})
            found = {
                each.subject: each
                for each in check_database(url.render_as_string(hide_password=False))
            }
        finally:
            connection.execute(f"DROP ROLE {login}")
    assert found["roles"].level is Level.WRONG
    assert "GRANT memci_app, memci_upkeep TO <login>" in found["roles"].advice
    assert "secret-word" not in str(found)


def test_a_login_that_may_own_the_tables_is_noted(shared_postgres: Postgres, database_url: str):
    login = f"stranger_{secrets.token_hex(4)}"
    with shared_postgres.connect_as_superuser() as connection:
        connection.execute(f"CREATE ROLE {login} LOGIN PASSWORD 'secret-word'")
        connection.execute(f"GRANT memci_owner, memci_app, memci_upkeep TO {login}")
        try:
            url = make_url(database_url).set(username=login, password="secret-word", query={})
            found = levels(check_database(url.render_as_string(hide_password=False)))
        finally:
            connection.execute(f"DROP ROLE {login}")
    assert found["roles"] is Level.NOTE
    assert set(found.values()) == {Level.NOTE, Level.OK}


def test_an_unreachable_database_is_one_finding():
    (found,) = check_database("postgresql://memci:secret-word@127.0.0.1:9/memci")
    assert found.level is Level.WRONG
    assert "MEMCI_DATABASE_URL" in found.advice
    assert "secret-word" not in str(found)


def test_a_redis_that_loses_messages_is_wrong(own_servers: Servers):
    url = own_servers.addresses.broker_url
    with closing(redis.Redis.from_url(url)) as client, make_app(url) as app:
        found = list(check_broker_and_workers(app, client))
        assert [each for each in found[:4] if each.level is not Level.OK] == []
        pools = {each.subject for each in found if each.level is Level.WRONG}
        assert pools == {"lane pool", "compress pool", "context pool", "upkeep pool"}

        client.config_set("appendonly", "no")
        client.config_set("maxmemory-policy", "allkeys-lru")
        client.config_set("notify-keyspace-events", "")
        broken = levels(check_broker_and_workers(app, client))
    assert (broken["persistence"], broken["memory"], broken["queue watch"]) == (
        Level.WRONG,
        Level.WRONG,
        Level.NOTE,
    )


def test_a_frozen_worker_is_told_from_a_missing_one(
    fleet: Fleet, client: redis.Redis, broker_url: str
):
    frozen = fleet.start("memci.upkeep")
    with make_app(broker_url) as app:

        def pools() -> dict[str, Finding]:
            found = check_broker_and_workers(app, client)
            return {each.subject: each for each in found if each.subject.endswith(" pool")}

        assert pools()["upkeep pool"].level is Level.OK
        frozen.send(signal.SIGSTOP)
        found = pools()
        assert {each.level for each in found.values()} == {Level.WRONG}
        assert found["upkeep pool"].text == "on memci.upkeep, but without an answer: w0@test"
        assert "kill -CONT" in found["upkeep pool"].advice
        assert found["lane pool"].text == "no worker answers on memci.lane"
        frozen.send(signal.SIGCONT)
        assert pools()["upkeep pool"].level is Level.OK
        frozen.kill()
        assert pools()["upkeep pool"].text == "no worker answers on memci.upkeep"


def test_an_unreachable_broker_is_one_finding():
    url = "redis://:secret-word@127.0.0.1:9/0"
    with closing(redis.Redis.from_url(url)) as client, make_app(url) as app:
        (found,) = check_broker_and_workers(app, client)
    assert found.level is Level.WRONG
    assert "secret-word" not in str(found)


@pytest.mark.parametrize(
    ("trouble", "subject", "level"),
    [
        ("UPDATE job SET state = 'dead', finished_at = now()", "dead jobs", Level.WRONG),
        ("UPDATE job SET created_at = now() - interval '1 hour'", "queue", Level.WRONG),
        ("UPDATE lane SET wake_at = now() - interval '1 minute'", "lanes", Level.WRONG),
        ("UPDATE lane SET paused = true", "paused", Level.NOTE),
        ("UPDATE lane SET halted_by = gen_random_uuid()", "halted", Level.WRONG),
        (
            """WITH began AS (UPDATE job SET started_at = now() - interval '1 hour')
               UPDATE lane SET lease_until = now() + interval '1 minute'""",
            "leases",
            Level.WRONG,
        ),
    ],
)
def test_stuck_work_is_found(
    database_url: str, broker_url: str, trouble: str, subject: str, level: Level
):
    with closing(Database(database_url)) as database, make_app(broker_url) as app:
        intake = Intake(database, Wakeups(app))
        intake.append(Append("ann", [NewMessage(role=Role.USER, content="Hi")]))
        assert not any_wrong(check_queue(database))
        with database.lane_transaction() as connection:
            connection.exec_driver_sql(trouble)
        assert levels(check_queue(database))[subject] is level


@pytest.mark.parametrize("state", ["paused = true", "halted_by = gen_random_uuid()"])
def test_jobs_of_paused_or_halted_agents_are_no_backlog(
    database_url: str, broker_url: str, state: str
):
    with closing(Database(database_url)) as database, make_app(broker_url) as app:
        intake = Intake(database, Wakeups(app))
        for agent in ("ann", "ben"):
            intake.append(Append(agent, [NewMessage(role=Role.USER, content="Hi")]))
        with database.lane_transaction() as connection:
            connection.exec_driver_sql(
                "UPDATE job SET created_at = now() - interval '1 hour' WHERE agent_id = 'ann'"
            )
            connection.exec_driver_sql(f"UPDATE lane SET {state} WHERE agent_id = 'ann'")
        found = {each.subject: each for each in check_queue(database)}
        assert found["queue"].level is Level.OK
        assert found["queue"].text.startswith("1 job waits, the oldest for 0 s")
        assert found["queue"].text.endswith("; 1 more of agents that are paused or halted")


def test_dead_jobs_are_reported_with_their_agents(database_url: str, broker_url: str):
    with closing(Database(database_url)) as database, make_app(broker_url) as app:
        intake = Intake(database, Wakeups(app))
        for agent in ("ann", "bob"):
            intake.append(Append(agent, [NewMessage(role=Role.USER, content="Hi")]))
        with database.lane_transaction() as connection:
            connection.exec_driver_sql(
                "UPDATE job SET state = 'dead', finished_at = now() WHERE agent_id = 'bob'"
            )
        found = {each.subject: each for each in check_queue(database)}
    assert found["dead jobs"].text == "1 job failed for good: bob (1)"


def test_an_unknown_small_model_is_named():
    (found,) = [
        each
        for each in check_machine(Settings(models={"compressor": "nobody:x"}))
        if each.level is Level.WRONG
    ]
    assert found.subject == "small models"
    assert "MEMCI_MODELS__COMPRESSOR__MODEL" in found.text
    assert levels(check_machine(Settings()))["small models"] is Level.OK


def test_a_check_of_the_machine_makes_nothing(tmp_path: Path):
    (found,) = [
        each for each in check_machine(Settings(embedder_dir=tmp_path)) if each.subject == "model"
    ]
    assert (found.level, found.text) == (
        Level.OK, "the first start makes the built-in embedder of e5-small-q4.bin",
    )  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_an_embedder_that_does_not_exist_is_one_finding(database_url: str, broker_url: str):
    settings = {
        "MEMCI_DATABASE_URL": database_url,
        "MEMCI_BROKER_URL": broker_url,
        "MEMCI_MODELS__EMBEDDER__MODEL": "foo",
    }
    done = run("doctor", "--json", settings=settings)
    assert done.returncode == 1
    found = {each["subject"]: each for each in json.loads(done.stdout)["findings"]}
    assert "no small model 'foo'" in found["models"]["text"]
    assert "broker" in found


def test_a_stray_queue_is_reported_with_a_way_to_delete_it(broker_url: str):
    key = b"memci.agent.a b'\x1b[31m"
    with closing(redis.Redis.from_url(broker_url)) as client, make_app(broker_url) as app:
        client.lpush(key, "x")
        (found,) = (
            each for each in check_broker_and_workers(app, client) if each.subject == "stray queue"
        )
        assert found.level is Level.WRONG
        assert (
            "'memci.agent.a b'?[31m': 1 message waits there; no agent has this queue" in found.text
        )
        assert "\x1b" not in found.advice
        _, _, name = found.advice.partition("DEL ")
        printed = subprocess.run(
            ["bash", "-c", f"printf %s {name}"], capture_output=True, check=True
        ).stdout
        assert client.delete(printed) == 1


def test_vectors_of_another_embedder_are_reported(database: Database):
    (found,) = check_vectors(database, OfflineEmbedder(Settings().embedder_folder))
    assert (found.level, found.subject) == (Level.OK, "vectors")
    AgentUnderTest(database).remember("[Ann] keeps bees")
    (found,) = check_vectors(database, OfflineEmbedder(Settings().embedder_folder))
    assert found.level is Level.WRONG
    assert "memci db reembed" in found.advice
    rebuild.run(database, OfflineEmbedder(Settings().embedder_folder))
    (found,) = check_vectors(database, OfflineEmbedder(Settings().embedder_folder))
    assert found.level is Level.NOTE
    assert "1 agent" in found.text


def test_on_a_terminal_the_doctor_shows_its_progress(tmp_path: Path):
    ours, theirs = os.openpty()
    try:
        process = subprocess.Popen(
            [*MEMCI, "doctor"],
            env=environment(MEMCI_DATA_DIR=str(tmp_path), TERM="xterm"),
            stdout=subprocess.PIPE,
            stderr=theirs,
        )
        output, _ = process.communicate(timeout=60)
        progress = os.read(ours, 65_536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "checking this machine" in progress
    assert "checking" not in output.decode()
    assert "settings" in output.decode()
