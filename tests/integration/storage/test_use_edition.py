"""Access to rebuilt networks (M24): the same statements use other rows."""

from __future__ import annotations

from memci.storage.session import Database, use_edition

_ADD = "INSERT INTO focus (agent_id, node_id, mentioned) VALUES ('ada', %s, 1)"
_READ = "SELECT node_id FROM focus WHERE agent_id = 'ada' ORDER BY node_id"


def focus(database: Database) -> list[int]:
    with database.agent_snapshot("ada") as connection:
        return list(connection.exec_driver_sql(_READ).scalars())


def test_statements_use_the_network_of_their_database_object(database: Database) -> None:
    # Often enough that the statements are prepared, on one connection.
    for number in range(20):
        for offset, network in enumerate((database, database.on_edition())):
            with network.agent_transaction("ada") as connection:
                connection.exec_driver_sql(_ADD, (2 * number + offset,))
    assert focus(database) == list(range(0, 40, 2))
    assert focus(database.on_edition()) == list(range(1, 40, 2))
    with database.on_edition().agent_snapshot("bob") as connection:
        assert connection.exec_driver_sql("SELECT node_id FROM focus").all() == []


def test_a_transaction_can_use_the_edition_for_some_statements(database: Database) -> None:
    with database.agent_transaction("ada") as connection:
        connection.exec_driver_sql(_ADD, (1,))
        with use_edition(connection):
            connection.exec_driver_sql(_ADD, (2,))
            connection.exec_driver_sql("INSERT INTO lane (agent_id) VALUES ('ada')")
        connection.exec_driver_sql(_ADD, (3,))
    assert focus(database) == [1, 3]
    assert focus(database.on_edition()) == [2]


def test_the_search_path_ends_with_its_transaction(database: Database) -> None:
    with database.on_edition().agent_snapshot("ada"):
        pass
    for _ in range(20):  # more than there are pooled connections
        with database.engine.connect() as connection:
            path = connection.exec_driver_sql("SHOW search_path").scalar_one()
            assert "memci_edition" not in path
