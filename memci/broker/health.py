"""Whether the broker answers."""

from __future__ import annotations

from celery import Celery

from memci.broker.errors import broker_errors

_PATIENCE_S = 2


def check_broker(app: Celery) -> None:
    """Raise ``BrokerUnavailableError`` when it does not, within two seconds."""
    with broker_errors(), app.connection_for_write(connect_timeout=_PATIENCE_S) as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=_PATIENCE_S)
