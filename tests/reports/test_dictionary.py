"""The data dictionary says of every table what there is, and a dbt project can begin with it."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from wms_sync import sql_files
from wms_sync.catalogue import history_tables, marts, ops_tables, tables
from wms_sync.cli.main import main

RELATIONS = (*tables(), *ops_tables(), *history_tables(), *marts())
PROFILE = """
demo:
  target: dev
  outputs:
    dev: {{type: duckdb, path: mine.duckdb, attach: [{{path: {file}, alias: wms, read_only: true}}]}}
"""


LOADS = re.compile("<(script|link|img|iframe)", re.IGNORECASE)
"""What a page would need besides itself."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dictionary") / "new"
    done = CliRunner().invoke(main, ["dictionary", "--to", str(folder)])
    assert done.exit_code == 0, done.output
    assert {path.name for path in folder.iterdir()} == {"dictionary.html", "sources.yml"}
    return folder


def test_the_page_has_every_table_and_column(made):
    text = (made / "dictionary.html").read_text()
    assert LOADS.findall(text) == []
    anchors = re.findall(r'<\w+[^>]* id="([^"]*)"', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"<a\b[^>]*>", text)) <= {f'<a href="#{anchor}">' for anchor in anchors}
    sections = dict(re.findall(r'<h3 id="([\w.]+)">(.*?)</section>', text, re.DOTALL))
    column = re.compile(r'<tr><td(?: class="key")?>(\w+)</td><td class="type">[^<]+</td>')
    assert {name: tuple(column.findall(section)) for name, section in sections.items()} == {
        relation.name if relation.schema == "main" else f"{relation.schema}.{relation.name}": relation.column_names
        for relation in RELATIONS
    }
    for name, says in (
        ("packages", '<td class="key">shipment_id</td><td class="type">bigint</td>'),
        ("shipments", '→ <a href="#orders">orders</a>'),
        ("shipments", "It was shipped (closed)"),
        ("shipment_items", "package_items</a>"),
    ):
        assert says in sections[name]
    assert len(re.findall(r"<summary>[^<]+\?</summary>", text)) == len(sql_files.listed("queries/questions")) > 20
    assert "where collected.&#34;value&#34; = $lot" in text


def test_the_sources_have_every_table_and_its_tests(made):
    held = {
        (source["schema"], table["name"]): {column["name"]: column.get("data_tests", []) for column in table["columns"]}
        for source in yaml.safe_load((made / "sources.yml").read_text())["sources"]
        for table in source["tables"]
    }
    assert {place: (*columns,) for place, columns in held.items()} == {
        relation.place: relation.column_names for relation in RELATIONS
    }
    for table in (*tables(), *ops_tables(), *history_tables()):
        for key in table.keys:
            tests = held[table.place][key]
            assert ("not_null" in tests, "unique" in tests) == (True, len(table.keys) == 1)
    [part] = [test for test in held["main", "order_items"]["order_id"] if isinstance(test, dict)]
    arguments = {"to": "source('wms', 'orders')", "field": "id"}
    assert part["relationships"] == {"arguments": arguments, "config": {"severity": "error"}}
    [referred] = [test for test in held["main", "shipments"]["retailer_id"] if isinstance(test, dict)]
    assert referred["relationships"]["config"] == {"severity": "warn"}


@pytest.mark.proof
@pytest.mark.skipif("DBT" not in os.environ, reason="dbt has an environment of its own: `make proof` makes it")
def test_a_dbt_project_builds_with_the_sources(made, bench, sandbox, tmp_path):
    bench.first_sync(sandbox)
    (tmp_path / "project" / "models").mkdir(parents=True)
    for name, text in {
        "dbt_project.yml": "{name: demo, version: '1.0', profile: demo}\n",
        "profiles.yml": PROFILE.format(file=bench.layout.published),
        "models/sources.yml": (made / "sources.yml").read_text(),
        "models/late.sql": "select * from {{ source('wms_marts', 'shipments') }} where not is_on_time",
    }.items():
        (tmp_path / "project" / name).write_text(text)
    done = subprocess.run([os.environ["DBT"], "build"], cwd=tmp_path / "project", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert re.search(r"Done\. PASS=\d{3} .* ERROR=0 SKIP=0", done.stdout), done.stdout
    assert "DeprecationsSummary" not in done.stdout
