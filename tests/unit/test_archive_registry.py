"""An archive carries every table of an agent, or says why not."""

from __future__ import annotations

from hashlib import sha256

from sqlalchemy.dialects import postgresql

from memci.domain.job import JobKind
from memci.schemas.archive import FORMAT_VERSION
from memci.storage.archive.tables import CARRIED, LEFT_OUT
from memci.storage.schema import metadata

# Of each version of the format, what its columns are. Columns changed? Raise FORMAT_VERSION, and
# add a line with the digest that the failure shows.
COLUMNS = {4: "42043c282eb0757c"}


def test_every_table_of_agents_is_named_once():
    tables = [each for each in metadata.sorted_tables if each.schema is None]
    of_agents = [each.name for each in tables if "agent_id" in each.columns]
    assert sorted([*(each.name for each in CARRIED), *LEFT_OUT]) == sorted(of_agents)


def test_other_columns_are_another_format():
    told = [
        f"{each.name}.{column.name} {column.type.compile(postgresql.dialect())} {column.nullable}"
        for each in CARRIED
        for column in each.columns
    ]
    assert COLUMNS[FORMAT_VERSION] == sha256("\n".join(told).encode()).hexdigest()[:16]


def test_what_gives_rows_their_order_is_there():
    for each in CARRIED:
        assert set(each.order) <= set(each.table.columns.keys())
        assert each.not_carried <= set(each.table.columns.keys())
        assert {*each.closed, *each.ranges} <= {column.name for column in each.columns}


def test_rebuilding_stays_behind_with_what_is_rebuilt():
    (jobs,) = [each for each in CARRIED if each.name == "job"]
    assert f"'{JobKind.REBUILD}'" in jobs.only
