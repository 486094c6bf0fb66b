"""The tables, columns and row checks of an archive."""

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

# A digest of the columns for each format version. If columns change, raise FORMAT_VERSION and
# add the digest that the failure shows.
COLUMNS = {9: "7a8e23b86ea1d3f2"}


def test_changed_columns_need_a_new_format_version():
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


def test_references_and_counters_are_columns_of_earlier_tables():
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


def test_model_usage_is_checked_with_all_its_counters():
    assert {"task", "model", *Usage.__slots__} == set(archive_values.ModelUse.model_fields)


def test_rebuild_jobs_are_not_exported():
    assert f"'{JobKind.REBUILD}'" in job.info["exported"]
