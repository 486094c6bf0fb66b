"""What an S3-compatible store answers when something is wrong, in our words (P14)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memci.errors import PageStoreError
from memci.storage.page_store.port import BodyKey, no_text

_WHAT_TO_DO = {
    "NoSuchBucket": "there is no such bucket: make it, or set MEMCI_PAGE_S3_BUCKET right",
    "AccessDenied": "its credentials may not do this: they need s3:GetObject, PutObject and"
    " DeleteObject below the prefix, and s3:ListBucket on the bucket",
    "InvalidAccessKeyId": "it does not know the access key that boto3 has found",
    "SignatureDoesNotMatch": "the secret key that boto3 has found does not belong to its access"
    " key, or MEMCI_PAGE_S3_REGION is another one's",
    "ExpiredToken": "the credentials that boto3 has found have expired",
    "SlowDown": "it is asked too often; nothing was changed, try again in a moment",
}
_WHAT_HAPPENED = {
    "NoCredentialsError": "boto3 finds no credentials: set AWS_ACCESS_KEY_ID and"
    " AWS_SECRET_ACCESS_KEY, or any other way that boto3 knows",
    "PartialCredentialsError": "boto3 finds one half of the credentials only",
    "EndpointConnectionError": "nobody answers there: see MEMCI_PAGE_S3_ENDPOINT, and that the"
    " store runs; nothing was changed",
    "SSLError": "its certificate is not accepted: AWS_CA_BUNDLE names the authorities to trust",
}
_AGAIN = "it does not answer as it should ({}); nothing was changed, try again in a moment"


@contextmanager
def told(key: BodyKey | None = None) -> Iterator[None]:
    """Turn boto3's errors into ours, which hold no address and no name of a key.

    With a key, "there is no such object" is that there is no such text.
    """
    try:
        yield
    except Exception as error:
        # Known by where they come from: to name their classes, boto3 would have to be imported.
        if all(each.__module__ != "botocore.exceptions" for each in type(error).__mro__):
            raise
        code = _code(error)
        if key is not None and code == "NoSuchKey":
            raise no_text(key) from None
        what = _WHAT_TO_DO.get(code) or _WHAT_HAPPENED.get(type(error).__name__)
        what = what or _AGAIN.format(code or type(error).__name__)
        # Not the cause: logs would quote it, and with it addresses and ids of keys.
        raise PageStoreError(f"the S3 store of pages' texts: {what}") from None


def _code(error: Exception) -> str:
    answer = getattr(error, "response", None)
    return str(answer.get("Error", {}).get("Code", "")) if isinstance(answer, dict) else ""
