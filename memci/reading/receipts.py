"""Receipts, read by their id."""

from __future__ import annotations

from uuid import UUID

from memci.errors import NotFoundError
from memci.shapes.agent import ReceiptAnswer
from memci.storage.erasure.gone import check_there
from memci.storage.reading.receipts import read_receipt
from memci.storage.session import Database


class ReceiptListings:
    """Reads what operations did."""

    def __init__(self, database: Database) -> None:
        """Take where it all is."""
        self._database = database

    def receipt(self, agent_id: str, receipt_id: UUID) -> ReceiptAnswer:
        """Return a receipt, or raise ``NotFoundError``: old ones are pruned."""
        with self._database.agent_snapshot(agent_id) as connection:
            receipt = read_receipt(connection, agent_id, receipt_id)
            if receipt is None:
                check_there(connection, agent_id)
        if receipt is None:
            raise NotFoundError("there is no such receipt; receipts are kept for some weeks only")
        return ReceiptAnswer(
            id=receipt.id,
            kind=receipt.kind,
            body=dict(receipt.body),
            created_at=receipt.created_at,
        )
