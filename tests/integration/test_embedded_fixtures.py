"""The fixtures for databases, brokers and own servers."""

from contextlib import closing

import pytest
import redis

from memci.embedded import Servers
from memci.testing import wait_until
from tests.support.servers import frozen, open_database


@pytest.mark.parametrize("turn", ["first", "second"])
def test_each_test_has_a_fresh_migrated_database(database_url: str, turn: str):
    with open_database(database_url) as connection:
        connection.execute("SET ROLE memci_app")
        rows = connection.execute("SELECT agent_id FROM lane").fetchall()
        connection.execute("INSERT INTO lane (agent_id) VALUES ('a')")
    assert rows == []


@pytest.mark.parametrize("turn", ["first", "second"])
def test_each_test_has_an_empty_broker(broker_url: str, turn: str):
    with closing(redis.Redis.from_url(broker_url)) as client:
        assert client.keys() == []
        client.lpush("memci.agent.a", "1")


def test_own_servers_keep_addresses_and_data_after_a_crash(own_servers: Servers):
    before = own_servers.addresses
    with open_database(before.migration_url) as connection:
        connection.execute("SET ROLE memci_owner")
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    with closing(redis.Redis.from_url(before.broker_url)) as client:
        client.lpush("kept", "7")

    own_servers.postgres.kill()
    own_servers.redis.kill()
    assert not own_servers.postgres.answers()
    assert not own_servers.redis.answers()
    own_servers.postgres.start()
    own_servers.redis.start()

    assert own_servers.addresses == before
    with open_database(before.migration_url) as connection:
        connection.execute("SET ROLE memci_owner")
        assert connection.execute("SELECT number FROM kept").fetchall() == [(7,)]
    with closing(redis.Redis.from_url(before.broker_url)) as client:
        assert client.lrange("kept", 0, -1) == [b"7"]


def test_a_frozen_broker_does_not_answer_until_it_thaws(own_servers: Servers):
    client = redis.Redis.from_url(own_servers.redis.url, socket_timeout=0.2)
    with closing(client), frozen(own_servers.redis), pytest.raises(redis.TimeoutError):
        client.ping()
    wait_until(own_servers.redis.answers, "the thawed Redis answers")


def test_a_frozen_server_can_be_stopped(own_servers: Servers):
    with frozen(own_servers.postgres):
        own_servers.postgres.stop()
    assert own_servers.postgres.pid is None
