"""The docs as tests: links lead somewhere, tables are whole, names exist, and the examples run.

Those of `load-elsewhere.md` give the published tables.
"""

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import click
import duckdb
import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pyarrow.parquet import read_schema

from tests.bench import NOW, empty_tables, let_pass, settings_in
from tests.test_conventions import ROOT, STEPS, modules, parsed, read
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.transport import InProcess
from wms_sync.catalogue import table, tables
from wms_sync.cli import demo
from wms_sync.cli.main import main
from wms_sync.master_data.kinds import KINDS
from wms_sync.runs import Operation
from wms_sync.settings import PREFIX, Settings
from wms_sync.shipments.load.checks import checks

DOCS, README = ROOT / "docs", ROOT / "README.md"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / ".github").rglob("*.md")])
COMMAND = "wms-sync"
PROJECT = tomllib.loads(read(ROOT / "zensical.toml"))["project"]
SITE, REPOSITORY = PROJECT["site_url"], PROJECT["extra"]["social"][0]["link"]
ELSEWHERE = DOCS / "how-to" / "load-elsewhere.md"
DERIVED = {"_missing_since", "timezone"}
"""Columns that the load fills."""


@cache
def tokens(page: Path) -> tuple[Token, ...]:
    return tuple(MarkdownIt("commonmark").enable("table").parse(read(page)))


def inline(page: Path, kind: str) -> Iterator[Token]:
    """Links (``link_open``) or code (``code_inline``) in the text of a page."""
    for token in tokens(page):
        yield from (child for child in token.children or () if child.type == kind)


def blocks(page: Path, language: str) -> Iterator[str]:
    """The fenced blocks of a language."""
    for token in tokens(page):
        if token.type == "fence" and token.info == language:
            yield token.content


def rows(page: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Each row of each table, behind the head of its table."""
    for text in re.findall(r"(?:^\|.*\n)+", read(page), re.MULTILINE):
        head, _, *lines = ([cell.strip() for cell in line.strip("|\n").split(" | ")] for line in text.splitlines())
        yield from ((head, line) for line in lines)


def anchors(page: Path) -> set[str]:
    """Return what GitHub makes of the headings; a heading that stands twice gets no second anchor here."""
    found = zip(tokens(page), tokens(page)[1:], strict=False)
    headings = [after.content for token, after in found if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def shown(page: Path) -> str:
    return str(page.relative_to(ROOT))


def targets(page: Path) -> Iterator[str]:
    """Yield the address of each link and picture of a page."""
    yield from (str(link.attrs["href"]) for link in inline(page, "link_open"))
    yield from (str(picture.attrs["src"]) for picture in inline(page, "image"))


def linked(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file and the anchor of each link within the project, by its path or its address."""
    for link in targets(page):
        target, _, anchor = link.partition("#")
        if in_repository := re.match(rf"{REPOSITORY}/(?:blob|tree)/main/(.+)", target):
            yield ROOT / in_repository[1], anchor
        elif target.startswith(SITE):
            # beside the pages `make site` puts two files
            if (path := target.removeprefix(SITE)) not in {"sandbox/report.html", "sandbox/dictionary.html"}:
                yield (DOCS / path).with_suffix(".md" if path.endswith(".html") else Path(path).suffix), anchor
        elif not target.startswith("http"):
            yield (page.parent / target).resolve() if target else page, anchor


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links_tables_and_blocks_are_whole(page):
    assert [path for path, _ in linked(page) if not path.exists()] == []
    assert [anchor for path, anchor in linked(page) if anchor and anchor not in anchors(path)] == []
    assert [row for head, row in rows(page) if len(row) != len(head)] == []
    fences = [token for token in tokens(page) if token.type == "fence"]
    assert len(re.findall(r"^ *```", read(page), re.MULTILINE)) == 2 * len(fences)


def test_docs_are_short_and_each_page_is_in_the_navigation():
    assert sum(len(read(page).split()) for page in (README, *DOCS.rglob("*.md"))) <= 22_000
    assert sorted(re.findall(r' = "([\w/-]+\.md)" }', read(ROOT / "zensical.toml"))) == sorted(
        ["index.md", *(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))]
    )
    anywhere = {path.resolve() for page in PAGES for path, _ in linked(page)}
    assert [path for path in (DOCS / "images").iterdir() if path.resolve() not in anywhere] == []


def test_links_work_on_the_site_and_in_the_package_index():
    assert [link for link in targets(README) if not link.startswith("https://")] == []
    assert [
        (page, path)
        for page in DOCS.rglob("*.md")
        for link in targets(page)
        if "/../" in f"/{link}"
        for path in [(page.parent / link.partition("#")[0]).resolve()]
        if not path.is_relative_to(DOCS)
    ] == []


@cache
def words() -> set[str]:
    """Return every word of the code and of SQL, and the checks and jobs whose names are put together."""
    files = [*modules("src"), *modules("pipelines"), *(ROOT / "sql").rglob("*.sql")]
    made = {check.name for check in checks()} | {f"{does}_{kind.slug}" for kind in KINDS for does in ("plan", "push")}
    return made.union(*(re.findall(r"[a-z]\w+", read(path)) for path in files))


@pytest.mark.parametrize("path", [*PAGES, *sorted(filter(Path.is_file, (ROOT / "deploy").rglob("*")))], ids=shown)
def test_a_page_and_a_deployment_have_settings_that_there_are(path):
    assert set(re.findall(rf"\b{PREFIX}([A-Z_]+[A-Z])\b", read(path))) <= {
        name.upper() for name in Settings.model_fields
    }


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_what_a_page_names_exists(page):
    """Files, names in snake case, where ``x_id`` stands for any, and modules: ``state/lock.py``."""
    codes = [code.content for code in inline(page, "code_inline")]
    within = "\n".join(code for code in codes if "<" not in code and "*" not in code)
    in_folders = re.findall(r"(?:src|pipelines|sql|tests|docs|\.requirements|\.ci)/[\w./-]+", within)
    assert [name for name in in_folders if not (ROOT / name).exists()] == []
    assert {
        code for code in codes if re.fullmatch(r"(?!x_)[a-z]+(?:_[a-z0-9]+)+", code)
    } - words() == set() or page.name == "extend.md"
    paths = "".join(f"{path}\n" for folder in ("src", "pipelines", "tests") for path in modules(folder))
    assert [code for code in codes if re.fullmatch(r"[\w/]+\.py", code) and f"/{code}\n" not in paths] == []


def test_explained_messages_are_in_the_code():
    """Each part, in a text of the code that may be part of a message; what is filled in ends a text."""
    said = {
        " ".join(str(node.value).split())
        for path in (*modules("src/wms_sync"), *modules("pipelines"))
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant)
    }
    cells = "\n".join(row[0] for head, row in rows(DOCS / "reference" / "messages.md") if head[0] == "message")
    parts = {part.strip() for code in re.findall(r"`([^`]+)`", cells) for part in code.split("…")}
    assert len(parts) > 20
    assert [part for part in sorted(parts) if not any(part in text for text in said)] == []


def ran(example: str, page: Path) -> dict[str, Any]:
    """Return what an example of a page defines. It runs in the present folder."""
    names: dict[str, Any] = {}
    exec(compile(example, shown(page), "exec"), names)
    return names


@pytest.mark.proof
def test_the_readme_shows_what_an_analyst_sees_in_the_demo(tmp_path, monkeypatch, capsys):
    """The shipments of ``wms-sync demo``, as of ``NOW``."""
    monkeypatch.chdir(tmp_path)
    service = InProcess(Sandbox(SandboxConfig(shipments=demo.SHIPMENTS, seed=demo.SEED, days=demo.DAYS, now=NOW)))
    start = (NOW - timedelta(days=demo.DAYS + 1)).date()
    settings = settings_in(tmp_path / "data" / "demo", service, start_date=start, page_size=1000)
    Operation(settings, source="test", transport=service).sync()
    (example,), (answer,) = blocks(README, "python"), blocks(README, "text")
    ran(example, README)["db"].close()
    assert capsys.readouterr().out.strip() == answer.strip()


def test_each_tested_question_has_its_number():
    """The page that names a mart for each question has every query of ``sql/queries/questions``."""
    codes = {code.content for code in inline(DOCS / "how-to" / "which-number.md", "code_inline")}
    assert {path.stem for path in (ROOT / "sql" / "queries" / "questions").glob("*.sql")} <= codes


def test_the_map_shows_packages_in_order_of_imports():
    assert [
        row[0].strip("`") for head, row in rows(DOCS / "explanation" / "architecture.md") if head[0] == "package"
    ] == [step for step in STEPS if (ROOT / "src" / "wms_sync" / step).is_dir()]


def command_of(line: str) -> tuple[click.Command, list[str]]:
    """Return the command of a line and its arguments."""
    command: click.Command = main
    _, *arguments = shlex.split(line, comments=True)
    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        command = command.commands[arguments.pop(0)]
    return command, arguments


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_commands_of_a_page_exist(page, tmp_path, monkeypatch):
    """Those in blocks are parsed, with the files that a push names; of those in the text the options are looked at."""
    monkeypatch.chdir(tmp_path)
    lines = "".join([*blocks(page, "sh"), *blocks(page, "text")])
    for typed in re.findall(rf"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?({COMMAND} .*)", lines, re.MULTILINE):
        for name in re.findall(r"\S+\.csv", typed):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).touch()
        command, arguments = command_of(typed)
        command.make_context(COMMAND, arguments)
    for code in inline(page, "code_inline"):
        if code.content.removeprefix(".venv/bin/").split()[:1] == [COMMAND]:
            command, arguments = command_of(code.content)
            options = {name for parameter in command.params for name in parameter.opts} | {"--help", "--version"}
            assert {word for word in arguments if word.startswith("--")} <= options, code.content


@pytest.mark.parametrize(
    "page",
    # these have tests of their own
    [
        page
        for page in PAGES
        if page.stem not in {"README", "load-elsewhere"} and {*blocks(page, "sql"), *blocks(page, "python")}
    ],
    ids=shown,
)
def test_sql_and_python_in_examples_run(page, tmp_path, monkeypatch, capsys):
    """In the folder of an analyst, with the published file of an installation that has read nothing yet."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect(empty_tables(tmp_path / "data" / "analytics.duckdb"), read_only=True) as connection:
        for example in blocks(page, "sql"):
            connection.execute(example)
    for example in blocks(page, "python"):
        ran(example, page)["db"].close()
        assert capsys.readouterr().out


def test_parquet_files_have_the_types_of_the_page(bench, sandbox):
    types = {
        in_tables: in_files
        for _, row in rows(ELSEWHERE)
        for in_tables, in_files in zip(*(cell.strip("`").split("`, `") for cell in row), strict=True)
    }
    bench.first_sync(sandbox)
    found: dict[str, str] = {}
    for stored in tables():
        for file in (bench.layout.parquet / stored.slug).glob("*.parquet"):
            fields = {field.name: str(field.type) for field in read_schema(file)}
            expected = {column.name: column.type for column in stored.columns if column.name not in DERIVED}
            assert fields == {name: types[type_] for name, type_ in expected.items()}
            found |= {type_: types[type_] for type_ in expected.values()}
    assert found == types


@pytest.mark.proof
def test_examples_that_load_elsewhere_give_the_published_tables(bench, sandbox, tmp_path, monkeypatch):
    bench.first_sync(sandbox)
    let_pass(sandbox.sandbox, seconds=7200, changed=40, new=5, packages_removed=12, orders=20)
    bench.sync()
    monkeypatch.chdir(tmp_path)
    [command] = blocks(ELSEWHERE, "sh")
    assert CliRunner().invoke(main, shlex.split(command)[1:]).exit_code == 0
    [newest] = blocks(ELSEWHERE, "sql")
    Path("newest.sql").write_text(newest)
    examples = [*blocks(ELSEWHERE, "python")]
    assert len(examples) == 4
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'; attach 'data/analytics.duckdb' as published (read_only)")

        def assert_published(slug: str, source: str) -> None:
            columns = ", ".join(name for name in table(slug).column_names if name not in DERIVED)
            here, there = (f"select {columns} from ({found})" for found in (source, f"from published.{slug}"))
            differing = f"({here} except all {there}) union all ({there} except all {here})"
            assert connection.execute(differing).fetchall() == [], slug

        for example in examples:
            names = ran(example, ELSEWHERE)
            slug, name = ("order_items", "newest") if "newest" in names else ("orders", "orders")
            connection.register("loaded", names[name])
            assert_published(slug, "from loaded")

        mine = [stored for stored in tables() if stored.schema == "main"]
        for stored in mine:
            connection.execute(f"create view {stored.slug} as from 'data/parquet/{stored.slug}/*.parquet'")
        for stored in mine:
            query = (
                newest.replace("order_items", stored.slug)
                .replace("from orders", f"from {stored.root}")
                .replace("part.order_id", f"part.{stored.root_key}")
            )
            if table(stored.root).newer is None:
                query = query.replace("coalesce(updated_at, _extracted_at)", "_extracted_at")
            assert_published(stored.slug, query)
