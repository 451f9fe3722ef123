"""Load elsewhere as a test: the examples of the page run as they stand there, and give the published tables."""

import shlex
from pathlib import Path
from typing import Any

import duckdb
from click.testing import CliRunner
from pyarrow.parquet import read_schema

from tests.bench import let_pass
from tests.test_docs import DOCS, blocks, rows
from wms_sync.catalogue import table, tables
from wms_sync.cli.main import main

PAGE = DOCS / "how-to" / "load-elsewhere.md"
DERIVED = {"_missing_since", "timezone"}
"""Columns that the load fills."""


def test_the_files_have_the_types_of_the_page(bench, sandbox):
    types: dict[str, str] = {}
    for _, (in_tables, in_files) in rows(PAGE):
        types |= dict(zip(in_tables.strip("`").split("`, `"), in_files.strip("`").split("`, `"), strict=True))
    bench.first_sync(sandbox)
    found: dict[str, str] = {}
    for stored in tables():
        for file in (bench.layout.parquet / stored.slug).glob("*.parquet"):
            fields = {field.name: str(field.type) for field in read_schema(file)}
            expected = {column.name: column.type for column in stored.columns if column.name not in DERIVED}
            assert fields == {name: types[type_] for name, type_ in expected.items()}
            found |= {type_: types[type_] for type_ in expected.values()}
    assert found == types


def test_the_examples_give_the_published_tables(bench, sandbox, tmp_path, monkeypatch):
    bench.first_sync(sandbox)
    let_pass(sandbox.sandbox, seconds=7200, changed=40, new=5, packages_removed=12, orders=20)
    bench.sync()
    monkeypatch.chdir(tmp_path)
    [command] = blocks(PAGE, "sh")
    assert CliRunner().invoke(main, shlex.split(command)[1:]).exit_code == 0
    [newest] = blocks(PAGE, "sql")
    Path("newest.sql").write_text(newest)
    examples = [*blocks(PAGE, "python")]
    assert len(examples) == 4
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'; attach 'data/analytics.duckdb' as published (read_only)")

        def assert_published(slug: str, rows: str) -> None:
            columns = ", ".join(name for name in table(slug).column_names if name not in DERIVED)
            here, there = (f"select {columns} from ({source})" for source in (rows, f"from published.{slug}"))
            differing = f"({here} except all {there}) union all ({there} except all {here})"
            assert connection.execute(differing).fetchall() == [], slug

        for example in examples:
            names: dict[str, Any] = {}
            exec(compile(example, str(PAGE), "exec"), names)
            slug, name = ("order_items", "newest") if "newest" in names else ("orders", "orders")
            connection.register("loaded", names[name])
            assert_published(slug, "from loaded")

        for stored in (found for found in tables() if found.schema == "main"):
            files = f"data/parquet/{stored.slug}/*.parquet"
            connection.execute(f"create view {stored.slug} as from read_parquet('{files}')")
        for stored in (found for found in tables() if found.schema == "main"):
            query = newest.replace("order_items", stored.slug).replace("from orders", f"from {stored.root}")
            query = query.replace("part.order_id", f"part.{stored.root_key}")
            if table(stored.root).newer is None:
                query = query.replace("coalesce(updated_at, _extracted_at)", "_extracted_at")
            assert_published(stored.slug, query)
