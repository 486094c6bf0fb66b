"""An archive has every table of an agent, or says why not."""

from __future__ import annotations

from hashlib import sha256

import pytest
from sqlalchemy.dialects import postgresql

from memci.domain.job import JobKind
from memci.domain.usage import Usage
from memci.schemas.archive import FORMAT_VERSION
from memci.storage.archive.export import EXPORTED_TABLES, exported_columns, row_order
from memci.storage.archive.row_checks import checked_row
from memci.storage.schema import AGENT_TABLES, archive_values, metadata
from memci.storage.schema.work import job

# Of each version of the format, what its columns are. Columns changed? Raise FORMAT_VERSION, and
# add a line with the digest that the failure shows.
COLUMNS = {5: "19e3e80409f9064a"}


def test_other_columns_are_another_format():
    columns = sorted(
        f"{table.name}.{column.name} {column.type.compile(postgresql.dialect())} {column.nullable}"
        for table in EXPORTED_TABLES
        for column in exported_columns(table)
    )
    assert COLUMNS[FORMAT_VERSION] == sha256("\n".join(columns).encode()).hexdigest()[:16]


def test_rows_of_every_table_have_an_order_and_types():
    for table in EXPORTED_TABLES:
        assert set(row_order(table)) <= set(table.columns.keys())
        with pytest.raises(Exception, match="expected an object of exactly"):
            checked_row(table, b"{}")


def test_references_and_counters_are_columns_of_tables_that_come_before():
    order = [table.name for table in AGENT_TABLES]
    for table in AGENT_TABLES:
        for column in table.columns:
            if "references" in column.info:
                other, key = column.info["references"].split(".")
                assert key in metadata.tables[other].columns
                assert order.index(other) < order.index(table.name)
            if "at_most" in column.info:
                other, counter = column.info["at_most"].split(".")
                assert counter.split()[0] in metadata.tables[other].columns


def test_what_models_took_is_checked_with_all_its_counters():
    assert {"task", "model", *Usage.__slots__} == set(archive_values.ModelUse.model_fields)


def test_rebuilding_stays_behind_with_what_is_rebuilt():
    assert f"'{JobKind.REBUILD}'" in job.info["exported"]
