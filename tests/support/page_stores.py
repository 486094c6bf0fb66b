"""The four page stores for tests; S3 on a real server of its protocol."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from memci.config.groups import PageStoreAddress
from memci.storage.page_store.local import FilePageStore, MemoryPageStore
from memci.storage.page_store.port import PageStore
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.page_store.s3 import S3PageStore
from memci.testing import wait_until

STORES = ("memory", "files", "postgres", "s3")
# Environment variables of boto3; they also keep it from reading the configuration of the machine.
CREDENTIALS: Mapping[str, str] = {
    "AWS_ACCESS_KEY_ID": "AKIATESTTESTTESTTEST",
    "AWS_SECRET_ACCESS_KEY": "a-secret-that-nobody-may-see",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """Run a server that keeps objects in memory; yield its address."""
    log = folder / "s3.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
            stdout=out,
            stderr=out,
            cwd=folder,
        )
    try:
        found = wait_until(
            lambda: re.search(r"http://127\.0\.0\.1:\d+", log.read_text()),
            "the S3 server listens",
            timeout_s=40,
        )
        yield found[0]
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The S3 server of this process."""
    with s3_server(tmp_path_factory.mktemp("s3")) as address:
        yield address


@pytest.fixture
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> PageStoreAddress:
    """An empty bucket."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    made = PageStoreAddress(
        "s3", bucket=f"notes-{uuid4()}", prefix="some/where", endpoint=s3_endpoint
    )
    import boto3

    client = boto3.session.Session().client("s3", endpoint_url=s3_endpoint)
    client.create_bucket(Bucket=made.bucket)
    client.close()
    return made


@pytest.fixture
def s3_store(bucket: PageStoreAddress) -> Iterator[S3PageStore]:
    """A page store in the bucket."""
    store = S3PageStore(bucket)
    yield store
    store.close()


def store_of(name: str, request: pytest.FixtureRequest) -> PageStore:
    """Return an empty store; start only the server that it needs."""
    match name:
        case "memory":
            return MemoryPageStore()
        case "files":
            return FilePageStore(request.getfixturevalue("tmp_path") / "notes")
        case "postgres":
            return PostgresPageStore(request.getfixturevalue("database"))
        case _:
            made: PageStore = request.getfixturevalue("s3_store")
            return made


@pytest.fixture(params=STORES)
def page_store(request: pytest.FixtureRequest) -> PageStore:
    """Each of the four stores, empty."""
    return store_of(request.param, request)
