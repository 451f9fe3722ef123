"""Show how an analyst opens the tables with DuckDB's shell, Python and DBeaver. No password is shown."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

import duckdb
from sqlalchemy.engine import make_url

from wms_sync import sql_files
from wms_sync.catalogue import literal, quote, stored_tables
from wms_sync.layout import LAKE
from wms_sync.settings import Settings
from wms_sync.targets.ducklake.catalogue import STATISTICS
from wms_sync.targets.ducklake.place import data_path, extensions, find_keys, parameters
from wms_sync.targets.persons import is_personal

ANALYST = "analyst"
"""The PostgreSQL role that only reads the catalogue."""
FOR_TIMES = "pytz"
"""The package that DuckDB needs to return times with a zone to Python, although its wheel does not require it."""


FILE = """\
The tables are in the file {path}. Open it read-only:

shell    duckdb -readonly {quoted}
Python   duckdb.connect({path!r}, read_only=True), after pip install duckdb {pytz}
DBeaver  a DuckDB connection to {path}, with the property duckdb.read_only = true"""
BUCKET = """\
DuckDB looks for the bucket's keys as AWS's own tools do: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
then ~/.aws, then the role of the machine or pod. Set AWS_REGION. When the keys of a role have expired,
run the statement that creates the secret again.

The policy for analysts. It allows only listing and reading the lake's files, because anyone who may
delete objects there can destroy the lake.
  {reader}

The policy for wms-sync itself, such as for the role of its pods:
  {writer}
"""
"""What a reader of a lake in a bucket needs, after the first sentences of ``TABLES_IN_A_LAKE``."""
TABLES_IN_A_LAKE = """\
The tables are in a lake. To read it you need DuckDB {version}, its extensions
{names}, the right to read {place}, and a PostgreSQL role.
{bucket}
The role, created once by the owner of the database:
  {role}

shell (pip install duckdb-cli=={version}), if DuckDB may download extensions:
  {shell}

Python, with the extensions from PyPI and without later downloads:
  pip install duckdb=={version} {pytz} {wheels}
  {python}

DBeaver: a DuckDB connection to :memory: with driver version {version}, and the statements of
the shell as bootstrap queries (Connection settings, Initialization)."""


def reader_lines(settings: Settings) -> Sequence[str]:
    """Return the instructions for an analyst, for a file or a lake."""
    if settings.analytics == "file":
        path = str(settings.layout.published)
        return FILE.format(path=path, quoted=shlex.quote(path), pytz=FOR_TIMES).splitlines()
    policies = {"reader": reader_policy(settings), "writer": writer_policy(settings)}
    indented = {name: _indented(json.dumps(policy, indent=2).splitlines()) for name, policy in policies.items()}
    names, version = extensions(settings), duckdb.__version__
    shell = [*(f"install {name}; load {name}" for name in names), *attach_statements(settings)]
    return TABLES_IN_A_LAKE.format(
        version=version,
        names=", ".join(names),
        place=data_path(settings),
        bucket=BUCKET.format(**indented) if find_keys(settings) else "",
        role=_indented(f"{' '.join(statement.split())};" for statement in role_statements(settings)),
        shell=_indented(f"{statement};" for statement in shell),
        pytz=FOR_TIMES,
        wheels=" ".join(f"duckdb-extension-{name.replace('_', '-')}=={version}" for name in names),
        python=_indented(python_lines(settings)),
    ).splitlines()


def _indented(lines: Iterable[str]) -> str:
    return "\n  ".join(lines)


def python_lines(settings: Settings) -> Iterator[str]:
    """Yield the lines of Python that attach the lake, with the extensions that pip installed."""
    yield f"import duckdb, {', '.join(f'duckdb_extension_{name}' for name in extensions(settings))}"
    yield "connection = duckdb.connect()"
    for name in extensions(settings):
        file = f"extensions/v{duckdb.__version__}/{name}.duckdb_extension"
        yield f"connection.execute(f\"load '{{duckdb_extension_{name}.__path__[0]}}/{file}'\")"
    yield from (f"connection.execute({statement!r})" for statement in attach_statements(settings))


def attach_statements(settings: Settings) -> tuple[str, ...]:
    """Return the statements that attach the lake read-only after the extensions are loaded."""
    where = parameters(settings, user=ANALYST)
    return (
        *filter(None, [find_keys(settings)]),
        "create secret (type postgres, password '...')",
        f"attach {literal(f'ducklake:postgres:{where}')} as {LAKE} (read_only, metadata_schema {literal(LAKE)})",
        f"use {LAKE}",
        "set timezone = 'UTC'",
    )


def reader_policy(settings: Settings) -> dict[str, object]:
    """Return the policy for readers of a lake in a bucket, for AWS and other providers of S3.

    The policy does not allow the files of personal tables to be read.
    """
    schemas = sorted({table.schema for table in stored_tables() if not is_personal(table)})
    return _policy(data_path(settings), ["s3:GetObject"], [f"{schema}/*" for schema in schemas])


def writer_policy(settings: Settings) -> dict[str, object]:
    """Return the policy for runs: everything below ``WMS_FILES_URL``."""
    actions = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]
    return _policy(f"{settings.files_url}/", actions, ["*"])


def _policy(url: str, actions: Sequence[str], places: Sequence[str]) -> dict[str, object]:
    """Return a policy that allows listing below a URL, and the actions on the objects in these places below it."""
    parts = urlsplit(url)
    bucket, folder = f"arn:aws:s3:::{parts.netloc}", parts.path.lstrip("/")
    listed = {"Action": "s3:ListBucket", "Resource": bucket, "Condition": {"StringLike": {"s3:prefix": f"{folder}*"}}}
    done = {"Action": actions, "Resource": [f"{bucket}/{folder}{place}" for place in places]}
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **listed}, {"Effect": "Allow", **done}]}


def role_statements(settings: Settings) -> tuple[str, ...]:
    """Return the PostgreSQL statements that create a role which can only read the lake's catalogue.

    The catalogue has the minimum and maximum value of each column of each file. The role does not see these values for
    text columns, because they may name persons. So DuckDB reads more files than necessary, with the same result.
    """
    owner = make_url(settings.database_url).username
    tables_to_come = f"for role {quote(owner)} in schema {LAKE}" if owner else f"in schema {LAKE}"
    return (
        f"create role {ANALYST} login password '...'",
        f"grant usage on schema {LAKE} to {ANALYST}",
        f"grant select on all tables in schema {LAKE} to {ANALYST}",
        f"alter default privileges {tables_to_come} grant select on tables to {ANALYST}",
        *(statement for table in STATISTICS for statement in _without_texts(table)),
    )


def _without_texts(table: str) -> Iterator[str]:
    """Yield the statements that hide a table's statistics on text columns from every role except the owner."""
    yield f"alter table {LAKE}.{table} enable row level security"
    same = " and ".join(f"described.{key} = {table}.{key}" for key in ("table_id", "column_id"))
    condition = sql_files.body("lake/no_text.sql").format(same=same)
    yield f"create policy without_texts on {LAKE}.{table} for select to {ANALYST} using (exists ({condition}))"
