"""Erasing for good (M25): the rows that go, the statements for each table, the tombstones."""
