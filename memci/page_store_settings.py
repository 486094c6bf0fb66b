"""Where the texts of notes are kept (P14): ``MEMCI_PAGE_STORE`` and what belongs to it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, field_validator, model_validator

# S3's own rule; compatible stores have the same, or a looser one.
_BUCKET = r"^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$"
# No dots or slashes twice: servers and proxies tidy paths up.
_PREFIX = r"^(?:[A-Za-z0-9_=-][A-Za-z0-9._=-]*(?:/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*)?$"


class PageStoreSettings(BaseModel):
    """Which store it is, where that is, and how much of it a process keeps at hand."""

    page_store: Literal["postgres", "files", "s3", "memory"] = "postgres"
    # A second one that is read as well, while texts move from one to the other
    page_store_reads_also: Literal["postgres", "files", "s3"] | None = None
    page_folder: Path | None = None  # unset: the folder "pages" in data_dir
    page_s3_bucket: str | None = Field(None, pattern=_BUCKET)
    page_s3_prefix: str = Field("memci", max_length=200, pattern=_PREFIX)
    page_s3_endpoint: str | None = None  # unset: AWS
    page_s3_region: str | None = Field(None, pattern=r"^[A-Za-z0-9-]{1,64}$")  # unset: as boto3's
    page_s3_addressing: Literal["auto", "path", "virtual"] = "auto"
    page_cache_bytes: int = Field(16 * 1024 * 1024, ge=0)  # of each process; 0 = none
    page_sweep_period_s: float = Field(86_400.0, gt=0)
    # Longer than any transaction, and than any back-up of the database is from that of the store
    page_sweep_grace_s: float = Field(86_400.0, ge=600)

    @field_validator("page_s3_endpoint")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("expected an address such as https://s3.example.org")
        if "@" in parts.netloc or parts.query:
            raise ValueError(
                "expected an address without credentials: boto3 takes them from AWS_ACCESS_KEY_ID"
                " and AWS_SECRET_ACCESS_KEY, or any other way that it knows"
            )
        return value

    @model_validator(mode="after")
    def _has_all_that_the_stores_need(self) -> Self:
        used = {self.page_store, self.page_store_reads_also}
        if "s3" in used and self.page_s3_bucket is None:
            raise ValueError("a page store on S3 needs a bucket: set MEMCI_PAGE_S3_BUCKET")
        if self.page_store == self.page_store_reads_also:
            raise ValueError(
                f"MEMCI_PAGE_STORE_READS_ALSO: {self.page_store} is the page store itself; name"
                " another one, or leave it out"
            )
        return self
