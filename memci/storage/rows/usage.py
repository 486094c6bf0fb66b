"""What language models took: by agent and day, and of all agents together. No text."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Date, Double, Table, Text, text

from memci.storage.rows.metadata import agent_column, metadata


def _usage_columns() -> list[Column[object]]:
    zero = text("0")
    return [
        Column("calls", BigInteger, nullable=False, server_default=zero),
        Column("failures", BigInteger, nullable=False, server_default=zero),
        Column("prompt_tokens", BigInteger, nullable=False, server_default=zero),
        Column("completion_tokens", BigInteger, nullable=False, server_default=zero),
        # US dollars; null: no price is known.
        Column("cost", Double),
        Column("unpriced", BigInteger, nullable=False, server_default=zero),
        Column("over_budget", BigInteger, nullable=False, server_default=zero),
        Column("fell_back", BigInteger, nullable=False, server_default=zero),
    ]


model_usage = Table(
    "model_usage",
    metadata,
    agent_column(),
    # UTC.
    Column("day", Date, primary_key=True),
    Column("task", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    *_usage_columns(),
    # Every call writes twice.
    postgresql_with={"fillfactor": 50},
)

# For Prometheus: of no agent, so outside row-level security.
model_total = Table(
    "model_total",
    metadata,
    Column("task", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    *_usage_columns(),
    postgresql_with={"fillfactor": 20},
)
