"""The audit log."""

from datetime import datetime

from pydantic import Field

from memci.schemas.base import Answer, Listing


class AuditRecord(Answer):
    """One action of administration or erasure."""

    id: int
    at: datetime
    key_name: str | None = Field(
        description="`command line` for `memci keys`; null: the server had no keys"
    )
    action: str = Field(description="Name of the operation, such as erase_agent")
    agent_id: str | None
    subject: str | None = Field(description="A job's id, or a key's name")
    request_id: str = Field(description="Also in the answer, as X-Request-Id")
    status: int | None = Field(
        description="Status of the answer; null: under way, or the process ended meanwhile"
    )


class AuditList(Listing):
    """Actions, the latest first."""

    records: list[AuditRecord]
