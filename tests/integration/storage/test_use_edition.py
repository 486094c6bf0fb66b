"""The doors to rebuilt networks (M24): the same statements find other rows, and only there."""

from __future__ import annotations

from memci.storage.session import Database, use_edition

_ADD = "INSERT INTO focus (agent_id, node_id, mentioned) VALUES ('ada', %s, 1)"
_READ = "SELECT node_id FROM focus WHERE agent_id = 'ada' ORDER BY node_id"


def focus(database: Database) -> list[int]:
    with database.agent_snapshot("ada") as connection:
        return list(connection.exec_driver_sql(_READ).scalars())


def test_statements_find_the_network_that_their_door_leads_to(database: Database) -> None:
    # More often than it takes until a statement is prepared, on one connection.
    for number in range(20):
        for place, doors in enumerate((database, database.on_edition())):
            with doors.agent_transaction("ada") as connection:
                connection.exec_driver_sql(_ADD, (2 * number + place,))
    assert focus(database) == list(range(0, 40, 2))
    assert focus(database.on_edition()) == list(range(1, 40, 2))
    with database.on_edition().agent_snapshot("bob") as connection:
        assert connection.exec_driver_sql("SELECT node_id FROM focus").all() == []


def test_a_transaction_may_look_beside_for_a_while(database: Database) -> None:
    with database.agent_transaction("ada") as connection:
        connection.exec_driver_sql(_ADD, (1,))
        with use_edition(connection):
            connection.exec_driver_sql(_ADD, (2,))
            connection.exec_driver_sql("INSERT INTO lane (agent_id) VALUES ('ada')")
        connection.exec_driver_sql(_ADD, (3,))
    assert focus(database) == [1, 3]
    assert focus(database.on_edition()) == [2]


def test_the_path_ends_with_its_transaction(database: Database) -> None:
    with database.on_edition().agent_snapshot("ada"):
        pass
    for _ in range(20):  # more than there are pooled connections
        with database.engine.connect() as connection:
            path = connection.exec_driver_sql("SHOW search_path").scalar_one()
            assert "memci_edition" not in path
