"""The page store on S3: object keys, error messages, and no secrets in them."""

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


def error_message(store, verb="load", *args):
    """Return the error message; check that neither it nor its traceback has a secret."""
    with pytest.raises(PageStoreError) as failed:
        getattr(store, verb)(KEY, *args)
    store.close()
    logged = "".join(traceback.format_exception(failed.value))
    assert not any(secret in logged + repr(failed.value) for secret in SECRETS)
    return str(failed.value)


def test_object_keys_have_the_prefix_and_a_digest_of_the_agent(bucket, s3_store, raw):
    s3_store.save(KEY, "Grüße")
    digest = sha256(b"ada").hexdigest()
    (found,) = raw.list_objects_v2(Bucket=bucket.bucket)["Contents"]
    assert found["Key"] == f"some/where/{digest}/usr-1.7.txt"
    stored = raw.get_object(Bucket=bucket.bucket, Key=found["Key"])
    assert stored["Body"].read() == "Grüße".encode()
    assert stored["ContentType"] == "text/plain; charset=utf-8"


def test_objects_of_others_are_ignored(bucket, s3_store, raw):
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
    client = s3_store._client
    paginator = client.get_paginator("list_objects_v2")
    paginate = paginator.paginate
    paginator.paginate = lambda **options: paginate(**options, PaginationConfig={"PageSize": 2})
    monkeypatch.setattr(client, "get_paginator", lambda _: paginator)
    keys = {KEY._replace(version=version) for version in range(1, 6)}
    for key in keys:
        s3_store.save(key, "…")
    assert set(s3_store.list("ada")) == keys


def test_the_error_names_a_missing_bucket(bucket):
    store = S3PageStore(replace(bucket, bucket="no-such-bucket-here"))
    for verb, args in (("save", ["…"]), ("load", []), ("exists", [])):
        assert "there is no such bucket: make it, or correct MEMCI_PAGE_STORE" in error_message(
            store, verb, *args
        )


def test_an_unreachable_store_is_reported_within_seconds(bucket):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        message = error_message(S3PageStore(replace(bucket, endpoint=address)))
    assert "nobody answers there: see the endpoint in MEMCI_PAGE_STORE" in message
    assert address not in message


def test_missing_credentials_are_reported(bucket, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    assert "boto3 finds no credentials" in error_message(S3PageStore(bucket))


def test_an_object_that_is_no_text_counts_as_damaged(bucket, s3_store, raw):
    s3_store.save(KEY, "…")
    (found,) = raw.list_objects_v2(Bucket=bucket.bucket)["Contents"]
    raw.put_object(Bucket=bucket.bucket, Key=found["Key"], Body=b"\xff\xfe")
    with pytest.raises(NotFoundError, match="damaged"):
        s3_store.load(KEY)


def test_without_boto3_the_error_says_what_to_install(bucket, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    with pytest.raises(ConfigurationError, match="pip install boto3"):
        S3PageStore(bucket).load(KEY)


def test_settings_open_the_store_and_show_no_secret(bucket, database_url):
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
