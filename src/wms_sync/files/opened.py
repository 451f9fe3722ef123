"""Open the place that ``WMS_FILES_URL`` names; obstore is imported where one is named."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from wms_sync.errors import SettingsError
from wms_sync.files.interface import Files

SCHEMES = ("s3", "gs", "az", "file")
RETRIES = 6
"""With pauses of 0.1 s that double up to 5 s: a store that is away for some seconds fails no run."""
CONNECT_SECONDS, REQUEST_SECONDS = 5, 120


def checked_place(value: str) -> str:
    """Return the URL without a slash at its end. Raise ``ValueError`` if it names no place."""
    url = urlsplit(value.strip())
    if url.scheme not in SCHEMES or not (url.netloc or (url.scheme == "file" and url.path.strip("/"))):
        raise ValueError("must look like s3://bucket/prefix, gs://bucket/prefix, az://container/prefix or file:///path")
    if url.username or url.password or url.query or url.fragment:
        raise ValueError("must be a bucket and a prefix, without credentials or query: the environment has those")
    return value.strip().rstrip("/")


@cache
def bucket_files(url: str, endpoint: str | None, parent: Path) -> Files:
    """Return the files of a place: the same object each time, since it knows what it has seen.

    ``parent`` is the folder for copies. Credentials and region are what obstore finds: ``AWS_*``, ``GOOGLE_*`` and
    ``AZURE_*`` of the environment, or the machine's role. Raise ``SettingsError`` if they do not make sense.
    """
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    from wms_sync.files.bucket import BucketFiles

    scheme = urlsplit(url).scheme
    try:
        store = from_url(url, mkdir=True) if scheme == "file" else from_url(url, **_options(endpoint))
    except (BaseError, ValueError, OSError) as error:
        raise SettingsError(f"WMS_FILES_URL: {url} cannot be opened ({str(error).partition(chr(10))[0]})") from None
    return BucketFiles(store, url, parent, is_conditional=scheme != "file", numbers_versions=scheme == "gs")


def _options(endpoint: str | None) -> dict[str, Any]:
    client = {
        "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
        "timeout": timedelta(seconds=REQUEST_SECONDS),
        "allow_http": endpoint is not None and endpoint.startswith("http:"),
    }
    return {"client_options": client, "retry_config": {"max_retries": RETRIES}} | (
        {} if endpoint is None else {"endpoint": endpoint}
    )
