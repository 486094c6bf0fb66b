"""A page store in an S3-compatible bucket: AWS, MinIO, Ceph, OSS, COS, R2 and others (P14).

boto3 finds the credentials itself (environment, ``~/.aws``, machine roles): they are no settings.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from threading import Lock
from typing import Any

from memci.config.groups import PageStoreAddress
from memci.errors import ConfigurationError, NotFoundError, PageStoreError
from memci.storage.page_store.port import PageStore, TextKey, encode_text, parse_file_name

_WHAT_TO_DO = {
    "NoSuchBucket": "there is no such bucket: make it, or correct MEMCI_PAGE_STORE",
    "AccessDenied": "its credentials may not do this: they need s3:GetObject, PutObject and"
    " DeleteObject below the prefix, and s3:ListBucket on the bucket",
    "InvalidAccessKeyId": "it does not know the access key that boto3 has found",
    "SignatureDoesNotMatch": "the secret key that boto3 has found does not belong to its access"
    " key, or MEMCI_PAGE_STORE names another region",
    "ExpiredToken": "the credentials that boto3 has found have expired",
    "SlowDown": "it is asked too often; nothing was changed, try again in a moment",
}
_WHAT_HAPPENED = {
    "NoCredentialsError": "boto3 finds no credentials: set AWS_ACCESS_KEY_ID and"
    " AWS_SECRET_ACCESS_KEY, or any other way that boto3 knows",
    "PartialCredentialsError": "boto3 finds one half of the credentials only",
    "EndpointConnectionError": "nobody answers there: see the endpoint in MEMCI_PAGE_STORE, and"
    " that the store runs; nothing was changed",
    "SSLError": "its certificate is not accepted: AWS_CA_BUNDLE names the authorities to trust",
}
_AGAIN = "it does not answer as it should ({}); nothing was changed, try again in a moment"


@contextmanager
def translate_errors(key: TextKey | None = None) -> Iterator[None]:
    """Turn boto3's errors into ours, without addresses; a missing ``key`` is not found."""
    try:
        yield
    except Exception as error:
        # Recognized by module: naming the classes would import boto3.
        if all(each.__module__ != "botocore.exceptions" for each in type(error).__mro__):
            raise
        answer = getattr(error, "response", None)
        code = answer.get("Error", {}).get("Code", "") if isinstance(answer, dict) else ""
        if key is not None and code == "NoSuchKey":
            raise key.not_found() from None
        what = _WHAT_TO_DO.get(code) or _WHAT_HAPPENED.get(type(error).__name__)
        what = what or _AGAIN.format(code or type(error).__name__)
        # Without the cause: logs would quote its addresses and ids of keys.
        raise PageStoreError(f"the S3 store of pages' texts: {what}") from None


# An agent's tree may be locked meanwhile: three tries take at most half a minute.
_CONNECT_S, _READ_S, _TRIES = 2, 8, 3
# Parallel requests; boto3 keeps ten connections.
_AT_ONCE = 8


class S3PageStore(PageStore):
    """One object a version, below a digest of the agent's id. Its first request imports boto3."""

    is_remote = True

    def __init__(self, address: PageStoreAddress) -> None:
        self._address = address
        self._opening = Lock()
        self._opened: Any = None

    def save(self, key: TextKey, text: str) -> None:
        object_key, content = self._object_key(key), encode_text(text)
        with translate_errors():  # S3 shows an object whole, or not at all
            self._client.put_object(
                Bucket=self._address.bucket,
                Key=object_key,
                Body=content,
                ContentType="text/plain; charset=utf-8",
            )

    def load(self, key: TextKey) -> str:
        object_key = self._object_key(key)
        with translate_errors(key):
            answer = self._client.get_object(Bucket=self._address.bucket, Key=object_key)
            content: bytes = answer["Body"].read()
        return key.decoded(content)

    def _delete(self, key: TextKey) -> None:
        object_key = self._object_key(key)
        with translate_errors():
            self._client.delete_object(Bucket=self._address.bucket, Key=object_key)

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Do as ``PageStore.list``; ages are by this machine's clock."""
        home = self._home(agent_id)
        latest = datetime.now(UTC) - timedelta(seconds=older_s) if older_s else None
        keys = []
        with translate_errors():
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._address.bucket, Prefix=home):
                for each in page.get("Contents", ()):
                    key = parse_file_name(agent_id, each["Key"].removeprefix(home))
                    if key is not None and (latest is None or each["LastModified"] <= latest):
                        keys.append(key)
        return iter(keys)

    def load_many(self, keys: Sequence[TextKey]) -> dict[TextKey, str]:
        """Do as ``PageStore.load_many``, in parallel."""
        texts: dict[TextKey, str] = {}

        def load(key: TextKey) -> None:
            with suppress(NotFoundError):
                texts[key] = self.load(key)

        self._in_parallel(load, keys)
        return texts

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        """Do as ``PageStore.delete_many``, in parallel.

        One request for many would need a checksum that compatible stores do not agree on.
        """
        self._in_parallel(self._delete, keys)

    def _in_parallel(self, act: Callable[[TextKey], None], keys: Sequence[TextKey]) -> None:
        """Run ``act`` for each key; the first error cancels the waiting ones."""
        if keys:
            _ = self._client  # threads only use it
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                for _ in pool.map(act, keys):
                    pass

    def close(self) -> None:
        """Close the connections."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
            self._opened = None

    def _home(self, agent_id: str) -> str:
        prefix = self._address.prefix.strip("/")
        digest = sha256(agent_id.encode()).hexdigest()
        return f"{prefix}/{digest}/".lstrip("/")

    def _object_key(self, key: TextKey) -> str:
        return self._home(key.agent_id) + key.file_name

    @property
    def _client(self) -> Any:
        with self._opening:
            self._opened = self._opened or _open(self._address)
            return self._opened


def _open(address: PageStoreAddress) -> Any:
    try:
        import boto3  # noqa: PLC0415 - an extra, and half a second
        from botocore.config import Config  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(
            "a page store s3://… needs boto3: pip install boto3 "
            "(memci's extra s3 names the version)"
        ) from error
    addressing = address.addressing
    if addressing == "auto" and address.endpoint:
        addressing = "path"
    # A session of our own: boto3's default one is not safe for threads.
    return boto3.session.Session().client(
        "s3",
        endpoint_url=address.endpoint,
        region_name=address.region,
        config=Config(
            connect_timeout=_CONNECT_S,
            read_timeout=_READ_S,
            retries={"total_max_attempts": _TRIES, "mode": "standard"},
            s3={"addressing_style": addressing},
            # Many compatible stores refuse the checksums that AWS has come to want.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )
