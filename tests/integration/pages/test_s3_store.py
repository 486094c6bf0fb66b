"""The store on S3: where objects lie, and what it says when something is wrong, or never says."""

from __future__ import annotations

import socket
import traceback
from dataclasses import replace
from hashlib import sha256

import boto3
import pytest

from memci.config.settings import load_settings
from memci.errors import ConfigurationError, NotFoundError, PageStoreError
from memci.storage.page_store.choose import open_page_store
from memci.storage.page_store.port import TextKey
from memci.storage.page_store.s3 import S3PageStore
from tests.support.page_stores import CREDENTIALS

KEY = TextKey("ada", "usr-1", 7)
SECRETS = (CREDENTIALS["AWS_ACCESS_KEY_ID"], CREDENTIALS["AWS_SECRET_ACCESS_KEY"])


@pytest.fixture
def raw(bucket):
    client = boto3.session.Session().client("s3", endpoint_url=bucket.endpoint)
    yield client
    client.close()


def failure(store, verb="load", *more):
    """What is said when it fails, with all that a log would hold of it."""
    with pytest.raises(PageStoreError) as failed:
        getattr(store, verb)(KEY, *more)
    store.close()
    logged = "".join(traceback.format_exception(failed.value))
    assert not any(secret in logged + repr(failed.value) for secret in SECRETS)
    return str(failed.value)


def test_objects_lie_below_the_prefix_and_a_digest_of_the_agent(bucket, s3_store, raw):
    s3_store.save(KEY, "Grüße")
    digest = sha256(b"ada").hexdigest()
    (found,) = raw.list_objects_v2(Bucket=bucket.bucket)["Contents"]
    assert found["Key"] == f"some/where/{digest}/usr-1.7.txt"
    kept = raw.get_object(Bucket=bucket.bucket, Key=found["Key"])
    assert kept["Body"].read() == "Grüße".encode()
    assert kept["ContentType"] == "text/plain; charset=utf-8"


def test_what_others_put_there_is_passed_over(bucket, s3_store, raw):
    home = f"some/where/{sha256(b'ada').hexdigest()}"
    for name in (
        f"{home}/notes.txt",
        f"{home}/usr-1.7.txt/x",
        f"{home}x/usr-2.1.txt",
        "usr-1.7.txt",
    ):
        raw.put_object(Bucket=bucket.bucket, Key=name, Body=b"x")
    assert list(s3_store.list("ada")) == []
    assert not s3_store.exists(KEY), "a longer name is another object's"


def test_more_than_one_page_of_a_listing_is_read(s3_store, monkeypatch):
    client = s3_store._client()
    paginator = client.get_paginator("list_objects_v2")
    paginate = paginator.paginate
    paginator.paginate = lambda **how: paginate(**how, PaginationConfig={"PageSize": 2})
    monkeypatch.setattr(client, "get_paginator", lambda _: paginator)
    keys = {KEY._replace(version=version) for version in range(1, 6)}
    for key in keys:
        s3_store.save(key, "…")
    assert set(s3_store.list("ada")) == keys


def test_a_bucket_that_is_not_there_is_named_as_the_fault(bucket):
    store = S3PageStore(replace(bucket, bucket="no-such-bucket-here"))
    for verb, more in (("save", ["…"]), ("load", []), ("exists", [])):
        assert "there is no such bucket: make it, or correct MEMCI_PAGE_STORE" in failure(
            store, verb, *more
        )


def test_a_store_that_is_away_is_told_within_seconds(bucket):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        said = failure(S3PageStore(replace(bucket, endpoint=address)))
    assert "nobody answers there: see the endpoint in MEMCI_PAGE_STORE" in said
    assert address not in said


def test_missing_credentials_are_told(bucket, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    assert "boto3 finds no credentials" in failure(S3PageStore(bucket))


def test_what_is_no_text_is_no_crash(bucket, s3_store, raw):
    s3_store.save(KEY, "…")
    (found,) = raw.list_objects_v2(Bucket=bucket.bucket)["Contents"]
    raw.put_object(Bucket=bucket.bucket, Key=found["Key"], Body=b"\xff\xfe")
    with pytest.raises(NotFoundError, match="damaged"):
        s3_store.load(KEY)


def test_without_boto3_it_says_what_to_install(bucket, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    with pytest.raises(ConfigurationError, match="pip install boto3"):
        S3PageStore(bucket).load(KEY)


def test_settings_lead_there_and_know_no_secret(bucket, database_url):
    settings = load_settings(
        database_url=database_url,
        page_store=f"s3://{bucket.bucket}/{bucket.prefix}?endpoint={bucket.endpoint}",
    )
    store = open_page_store(settings.page_store, settings, None)
    store.save(KEY, "By settings")
    other = S3PageStore(bucket)
    assert other.load(KEY) == "By settings"
    for each in (store, other):
        each.close()
    assert not any(secret in repr(settings) + repr(store) for secret in SECRETS)
