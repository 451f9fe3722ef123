"""Older DuckDBs read the published file, whatever loads it has seen; ``.ci/run`` installs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import let_pass

READ = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
for schema, table in connection.execute("select schema_name, table_name from duckdb_tables()").fetchall():
    connection.execute(f'select count(distinct x::varchar) from {schema}."{table}" as x').fetchall()
    print(schema, table)
"""

pytestmark = pytest.mark.proof


@pytest.mark.parametrize("version", ["1.1.3", "1.3.2", "1.4.4"])
def test_every_table_is_read_after_five_loads(version, bench, sandbox):
    client = Path(__file__).parents[2] / ".clients" / f"duckdb-{version}"
    if not client.is_dir():
        pytest.skip(f"no DuckDB {version} in {client}: .ci/run installs it")
    bench.first_sync(bench.transport)
    for _ in range(4):
        let_pass(sandbox.sandbox, seconds=86400, changed=40, new=20, orders=20)
        bench.read()
        bench.load()
    told = subprocess.run(
        [sys.executable, "-c", READ, str(bench.layout.published)],
        env=os.environ | {"PYTHONPATH": str(client)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.stderr, len(told.stdout.splitlines()) > 40) == ("", True)
