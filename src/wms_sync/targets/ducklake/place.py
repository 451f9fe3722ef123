"""The location of a lake: its catalogue in PostgreSQL, its files in a folder or a bucket, and DuckDB's access to both.

DuckDB's extensions come from the wheels of the extra ``lake``: a run downloads nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import duckdb
from sqlalchemy.engine import make_url

from wms_sync.catalogue import literal
from wms_sync.errors import SettingsError
from wms_sync.layout import LAKE
from wms_sync.settings import Settings
from wms_sync.targets.errors import AnalyticsError

OF_LAKE = ("ducklake", "postgres_scanner")
OF_BUCKET = ("httpfs", "aws")
"""The extensions that DuckDB needs if the files are in S3."""
ONLY_FROM_WHEELS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_unsigned_extensions": "true",
}
"""DuckDB's settings that make a missing extension an error and skip the check of signatures. pip has verified the
hashes of the wheels; hashing them again would take 0.2 s of processor time for each connection."""
TRIAL = {
    "write in": (
        "attach 'ducklake::memory:' as tried (data_path {path}, data_inlining_row_limit 0)",
        "create table tried.numbers as select 1 as number",
    ),
    "read from": ("from tried.numbers",),
    "delete from": (
        "drop table tried.numbers",
        "call ducklake_expire_snapshots('tried', older_than => now())",
        "call ducklake_cleanup_old_files('tried', cleanup_all => true)",
    ),
    "list": ("from glob({path} || '**')",),
}
"""Statements that do the operations of a load and of maintenance in a folder, with a catalogue in memory."""


def load_extensions(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> None:
    """Load extensions. Raise ``SettingsError`` as ``path_of`` does."""
    for name in names:
        connection.execute(f"load {literal(str(path_of(name)))}")


def path_of(name: str) -> Path:
    """Return the file of an extension. Raise ``SettingsError`` if it is not installed for this version of DuckDB."""
    found = find_spec(f"duckdb_extension_{name}")
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if path.exists():
            return path
    raise SettingsError(
        f"WMS_ANALYTICS=ducklake needs DuckDB's extension {name} for DuckDB {duckdb.__version__}, which is not "
        "installed. Install wms-sync[lake], or set WMS_ANALYTICS=file."
    )


def data_path(settings: Settings) -> str:
    """Return the path of the files in DuckDB's form, with a slash at the end."""
    if settings.files_url is None:
        return f"{settings.layout.lake}/"
    return f"{settings.files_url.removeprefix('file://')}/{LAKE}/"


def extensions(settings: Settings) -> tuple[str, ...]:
    """Return the extensions that DuckDB needs."""
    return (*OF_LAKE, *OF_BUCKET) if _is_bucket(settings) else OF_LAKE


def find_keys(settings: Settings) -> str:
    """Return the statement that has DuckDB look for the keys of the bucket; an empty one without a bucket.

    It looks where AWS's own tools do: no ``chain`` is given, because none has the keys of a container (EKS Pod
    Identity). The keys of a role expire, and under DuckLake DuckDB does not look again by itself (duckdb-aws issues 26
    and 97), so run the statement before each transaction. A secret applies to the whole database, as it must, because
    DuckLake looks for orphans on a connection of its own.
    """
    if not _is_bucket(settings):
        return ""
    at = urlsplit(settings.files_endpoint or "")
    provider = f", endpoint {literal(at.netloc)}, use_ssl {at.scheme == 'https'}, url_style 'path'" if at.netloc else ""
    return f"create or replace secret {LAKE}_files (type s3, provider credential_chain{provider})"


def try_bucket(settings: Settings) -> str | None:
    """Have DuckDB write, read, delete and list a file in the lake's folder; return a sentence, None without a bucket.

    obstore and DuckDB each look for keys, so a sync may land files that no load can read. If the file cannot be
    deleted, maintenance deletes it later as an orphan. Raise ``AnalyticsError``.
    """
    if not _is_bucket(settings):
        return None
    path = f"{data_path(settings)}probe-{secrets.token_hex(8)}/"
    with closing(duckdb.connect(config=ONLY_FROM_WHEELS)) as connection:  # type: ignore[arg-type]
        load_extensions(connection, extensions(settings))
        for what, statements in {"find keys for": (find_keys(settings),), **TRIAL}.items():
            try:
                for statement in statements:
                    connection.execute(statement.format(path=literal(path))).fetchall()
            except duckdb.Error as error:
                raise AnalyticsError(
                    f"DuckDB cannot {what} {data_path(settings)} ({type(error).__name__}: "
                    f"{str(error).partition(chr(10))[0]}), so no load can succeed. Give this machine or pod a role, or "
                    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for temporary keys); set "
                    "AWS_REGION. The role or the keys need permission to put, get, list and delete there: `wms-sync "
                    "reader` prints the policy, and `wms-sync doctor` tries each."
                ) from None
    return f"DuckDB can write, read, delete and list in {data_path(settings)}"


def parameters(settings: Settings, *, user: str | None = None, options: str | None = None) -> str:
    """Return libpq's connection string for PostgreSQL, without passwords. ``user``, if given, replaces the URL's user.

    ``options`` are options of the session, in addition to those of the URL.
    """
    url = make_url(settings.database_url)
    named = {"host": url.host, "port": url.port, "dbname": url.database, "user": user or url.username, **url.query}
    for secret in ("password", "sslpassword"):
        named.pop(secret, None)
    if options is not None:
        named["options"] = " ".join(str(option) for option in (url.query.get("options"), options) if option)
    return " ".join(f"{name}={_quoted(value)}" for name, value in named.items() if value)


def password(settings: Settings) -> str | None:
    """Return the password of PostgreSQL, if there is one."""
    url = make_url(settings.database_url)
    given = url.password or url.query.get("password")
    return str(given) if given else None


def _is_bucket(settings: Settings) -> bool:
    return settings.files_url is not None and settings.files_url.startswith("s3:")


def _quoted(value: object) -> str:
    text_of = ",".join(value) if isinstance(value, tuple) else str(value)
    escaped = text_of.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
