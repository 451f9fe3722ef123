"""The marts in a file that another database attaches, for clients of other versions."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.sql.scenario import ROWS, load, write
from wms_sync.catalogue import marts
from wms_sync.targets.database import create_empty

ATTACHED = """
import sys, duckdb
connection = duckdb.connect()
connection.execute("create table shipments as select 99 as id, 'theirs' as status; create table retailers (id integer)")
connection.execute("create schema marts; create view marts.shipments as select 1 as nonsense")
connection.execute(f"attach '{sys.argv[1]}' as wms (read_only)")
if duckdb.__version__ < "1.4":
    connection.execute("use wms")  # older ones look for the tables of a view in the database in use
for mart in sys.argv[2:]:
    # every column as text, so that none is left out
    found = connection.execute(f"select count(distinct mart::varchar) from wms.{mart} as mart").fetchall()
    print(duckdb.__version__, mart, *found[0])
"""


@pytest.mark.proof
@pytest.mark.parametrize("version", ["1.1.3", "1.4.4", duckdb.__version__])
def test_an_attached_mart_reads_its_own_file(version, tmp_path):
    client = Path(__file__).parents[2] / ".clients" / f"duckdb-{version}"
    if version != duckdb.__version__ and not client.is_dir():
        pytest.skip(f"no DuckDB {version} in {client}: .ci/run installs it")
    with duckdb.connect(tmp_path / "analytics.duckdb") as published:
        create_empty(published)
        write(published, ROWS)
        load(published)
        names = [f"{mart.schema}.{mart.name}" for mart in marts()]
        counts = {
            name: published.execute(f"select count(distinct mart::varchar) from {name} as mart").fetchall()
            for name in names
        }
    told = subprocess.run(
        [sys.executable, "-c", ATTACHED, str(tmp_path / "analytics.duckdb"), *names],
        env=os.environ | ({} if version == duckdb.__version__ else {"PYTHONPATH": str(client)}),
        capture_output=True,
        text=True,
        check=False,
    )
    expected = "".join(f"{version} {name} {count}\n" for name, [(count,)] in counts.items())
    assert (told.stdout, told.stderr) == (expected, "")
