"""Receipts, read by their id."""

from __future__ import annotations

from uuid import UUID

from memci.errors import NotFoundError
from memci.shapes.listing import ReceiptAnswer
from memci.storage.reading.receipts import read_receipt
from memci.storage.session import Database


def get_receipt(database: Database, agent_id: str, receipt_id: UUID) -> ReceiptAnswer:
    """Return a receipt, or raise ``NotFoundError``: old ones are pruned."""
    with database.agent_snapshot(agent_id) as connection:
        receipt = read_receipt(connection, agent_id, receipt_id)
    if receipt is None:
        raise NotFoundError("no such receipt of this agent; receipts are kept for some weeks only")
    return ReceiptAnswer(
        id=receipt.id, kind=receipt.kind, created_at=receipt.created_at, body=dict(receipt.body)
    )
