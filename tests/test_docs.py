"""The docs as tests: links lead somewhere, tables are whole, names exist, and the examples run."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import dagster as dg
import duckdb
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipelines import definitions
from tests.test_conventions import STEPS
from wms_sync.cli.main import main
from wms_sync.settings import PREFIX, Settings
from wms_sync.shipments.load.checks import checks
from wms_sync.targets.database import open_for_writing

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / ".github").rglob("*.md")])
MARKDOWN = MarkdownIt("commonmark").enable("table")
DIAGRAMS = ("flowchart", "stateDiagram-v2", "sequenceDiagram")
PATH = re.compile(r"(?:src|pipelines|sql|tests|docs|\.requirements|\.ci)/[\w./-]+")
COMMAND = "wms-sync"
WORDS, LINES = 28_000, 120
"""The most words of all docs, generated pages included, and lines of a how-to."""
CITED = re.compile(r"\b(?:spec|specification|sections?) (\d(?:\.\d)?(?:(?:, | and | to )\d\.\d)*)")


@cache
def tokens(page: Path) -> tuple[Token, ...]:
    return tuple(MARKDOWN.parse(page.read_text(encoding="utf-8")))


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
    head: list[str] = []
    row: list[str] = []
    for token in tokens(page):
        if token.type == "table_open":
            head = []
        elif token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(token.content)
        elif token.type == "tr_close":
            if head:
                yield head, row
            head = head or row


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings; a heading that stands twice gets no second anchor here."""
    found = zip(tokens(page), tokens(page)[1:], strict=False)
    headings = [after.content for token, after in found if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def shown(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links_lead_to_what_is_there(page):
    for link in inline(page, "link_open"):
        target, _, anchor = str(link.attrs["href"]).partition("#")
        if target.startswith("http"):
            continue
        linked = (page.parent / target).resolve() if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


def test_the_readme_stays_one_page():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 100


def test_a_how_to_is_short_and_the_docs_are_within_their_words():
    pages = {page: page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *DOCS.rglob("*.md"))}
    long = [shown(page) for page, text in pages.items() if page.parent.name == "how-to" and text.count("\n") > LINES]
    assert long == []
    assert sum(len(text.split()) for text in pages.values()) <= WORDS


def test_every_page_is_linked_from_another():
    linked = {
        (page.parent / str(link.attrs["href"]).partition("#")[0]).resolve()
        for page in PAGES
        for link in inline(page, "link_open")
    }
    assert {page for page in DOCS.rglob("*.md") if page.resolve() not in linked} == set()


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_tables_have_as_many_cells_in_each_row(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    for token in tokens(page):
        if token.type == "table_open" and token.map is not None:
            rows = lines[slice(*token.map)]
            assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1, rows[0]
    rendered = sum(token.type == "table_open" for token in tokens(page))
    assert rendered == sum(bool(re.match(r" *\| -", line)) for line in lines), "a table that is not rendered as one"


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_fenced_blocks_are_closed_and_say_their_language(page):
    fences = [token for token in tokens(page) if token.type == "fence"]
    assert len(re.findall(r"^ *```", page.read_text(encoding="utf-8"), re.MULTILINE)) == 2 * len(fences)
    assert all(token.info for token in fences)
    for diagram in blocks(page, "mermaid"):
        assert diagram.split()[0] in DIAGRAMS


def modules() -> set[str]:
    """Each module of the project by its path, ``wms_sync/state/lock.py``, and by every end of that path."""
    paths = [
        path.relative_to(ROOT).parts
        for folder in ("src", "pipelines", "tests")
        for path in (ROOT / folder).rglob("*.py")
    ]
    return {"/".join(parts[start:]) for parts in paths for start in range(len(parts))}


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_modules_that_are_named_exist(page):
    """Written as a path, or with dots: ``state/lock.py``, ``upkeep.recovery.begin``."""
    codes = [code.content for code in inline(page, "code_inline")]
    paths = {code for code in codes if re.fullmatch(r"[\w/]+\.py", code)}
    packages = {package.name for package in (ROOT / "src" / "wms_sync").iterdir() if package.is_dir()}
    dotted = (re.fullmatch(r"(\w+)((?:\.\w+)+)", code) for code in codes)
    named = {
        (match[1] + match[2]).replace(".", "/")
        for match in dotted
        if match and match[1] in packages and match[2] != ".db"
    }
    there = modules()
    modules_of = {name for name in named if f"{name}.py" not in there and f"{name.rpartition('/')[0]}.py" not in there}
    assert (paths - there, modules_of) == (set(), set())


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_settings_and_files_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    settings = {PREFIX + name.upper() for name in Settings.model_fields}
    assert set(re.findall(rf"\b{PREFIX}[A-Z_]+[A-Z]\b", text)) <= settings
    codes = [code.content for code in inline(page, "code_inline")]
    named = {found for code in codes for found in PATH.findall(code) if "<" not in code and "*" not in code}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_sections_of_the_interface_that_docstrings_cite_are_there():
    text = (DOCS / "reference" / "specification.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^#+ (\d+(?:\.\d+)?)\.? ", text, re.MULTILINE))
    cited: set[str] = set()
    for folder, kind in (("src", "py"), ("pipelines", "py"), ("tests", "py"), ("sql", "sql")):
        for path in (ROOT / folder).rglob(f"*.{kind}"):
            for numbers in CITED.findall(path.read_text(encoding="utf-8")):
                cited.update(re.findall(r"\d+(?:\.\d+)?", numbers))
    assert len(cited) > 20
    assert cited <= sections


@cache
def said() -> tuple[str, ...]:
    """Every text in the code that may be part of a message; what is filled in ends a text."""
    return tuple(_said())


def _said() -> Iterator[str]:
    for folder in ("src/wms_sync", "pipelines"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield " ".join(node.value.split())


def test_messages_that_are_explained_are_said_in_the_code():
    texts = said()
    messages = [row[0] for head, row in rows(DOCS / "reference" / "messages.md") if head[0] == "message"]
    parts = [part.strip() for cell in messages for code in re.findall(r"`([^`]+)`", cell) for part in code.split("…")]
    assert len(parts) > 100
    assert [part for part in parts if not any(part in text for text in texts)] == []


def test_what_the_readme_shows_of_a_run_is_what_commands_print():
    shown = [block for block in blocks(ROOT / "README.md", "text") if "┌" not in block]
    parts = {
        part.strip()
        for block in shown
        for line in block.splitlines()
        for part in re.split(r"\S*\d\S*(?: UTC)?|  +", line)
    }
    assert len(parts) > 20
    texts = said()
    assert [part for part in sorted(parts) if not any(part in text for text in texts)] == []


def test_the_map_shows_the_packages_in_the_order_in_which_they_import():
    packages = [
        row[0].strip("`") for head, row in rows(DOCS / "explanation" / "architecture.md") if head[0] == "package"
    ]
    assert packages == STEPS


@cache
def built() -> dg.Definitions:
    """Everything that Dagster may have, with the settings that make some of it."""
    webhook = "https://hooks.example.com/x"
    return definitions.build(Settings.load(_env_file=None, base_url=None, alert_webhook_url=webhook))


def test_what_the_page_on_dagster_says_one_can_start_exists():
    described = list(rows(DOCS / "how-to" / "dagster.md"))
    sensors = {row[0].strip("`") for head, row in described if head[0] == "sensor"}
    assert sensors == {sensor.name for sensor in built().sensors or ()}
    assets = {key.to_user_string() for key in built().resolve_asset_graph().get_all_asset_keys()}
    jobs = {job.name for job in built().resolve_all_job_defs()}
    schedules = {schedule.name for schedule in built().schedules or ()}
    starts = [row[0] for head, row in described if head[0] == "you start"]
    assert {name for start in starts for name in re.findall(r"`([^`]+)`", start)} <= assets | jobs | schedules


NAME = re.compile(r"(?!x_)[a-z]+(?:_[a-z0-9]+)+")
"""A name in snake case, as of a column or a check; ``x_id`` stands for any."""


@cache
def names() -> set[str]:
    """Every word of the code and of SQL, and the checks and jobs whose names are put together."""
    paths = [path for folder in ("src", "pipelines", "sql") for path in (ROOT / folder).rglob("*.*")]
    texts = (path.read_text(encoding="utf-8") for path in paths if path.suffix in {".py", ".sql"})
    made = {check.name for check in checks()} | {job.name for job in built().resolve_all_job_defs()}
    return made.union(*(re.findall(r"[a-z]\w+", text) for text in texts))


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "extend.md"], ids=shown)
def test_names_in_the_text_exist(page):
    named = {code.content for code in inline(page, "code_inline") if NAME.fullmatch(code.content)}
    assert named - names() == set()


def parsed(line: str) -> None:
    """Parse a line of the command line without running it; raises what it would be refused with."""
    arguments = shlex.split(line, comments=True)[1:]
    command: click.Command = main
    context = main.make_context(COMMAND, arguments.copy())
    while isinstance(command, click.Group):
        left = [*context._protected_args, *context.args]
        name, found, rest = command.resolve_command(context, left)
        assert found is not None
        command, context = found, found.make_context(name, rest, parent=context)


def commands(page: Path) -> Iterator[str]:
    for block in (*blocks(page, "sh"), *blocks(page, "text")):
        for line in block.splitlines():
            if match := re.match(rf"(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?({COMMAND} .*)", line):
                yield match[1]


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_commands_in_examples_are_understood(page, tmp_path, monkeypatch):
    """The files that a push names are there; that it refuses others is shown in ``test_push_command.py``."""
    monkeypatch.chdir(tmp_path)
    for line in commands(page):
        for name in re.findall(r"\S+\.csv", line):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).touch()
        parsed(line)


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_commands_and_options_in_the_text_exist(page):
    for code in inline(page, "code_inline"):
        words = code.content.removeprefix(".venv/bin/").split()
        if words[:1] != [COMMAND]:
            continue
        command: click.Command = main
        for word in words[1:]:
            if isinstance(command, click.Group) and word[0] != "-":
                assert word in command.commands, code.content
                command = command.commands[word]
        options = {name for parameter in command.params for name in parameter.opts}
        asked = {word for word in words if word.startswith("--")}
        assert asked <= options | {"--help", "--version"}, code.content


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the published file of an installation that has read nothing yet."""
    folder = tmp_path_factory.mktemp("analyst")
    with open_for_writing(folder / "data" / "analytics.duckdb", memory_limit="500MB"):
        pass
    return folder


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_sql_in_examples_runs(page, published):
    examples = list(blocks(page, "sql"))
    with duckdb.connect(published / "data" / "analytics.duckdb", read_only=True) as connection:
        for example in examples:
            for statement in connection.extract_statements(example):
                connection.execute(statement)


@pytest.mark.parametrize("wednesday", ["2026-03-11", "2026-06-10", "2026-11-04"])
def test_the_example_of_last_friday_means_six_in_the_evening_also_after_the_clocks_have_changed(wednesday):
    [moment] = re.findall(
        r"\((select .+ as t)\) as friday", (DOCS / "how-to" / "history.md").read_text(encoding="utf-8")
    )
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'America/New_York'")
        query = moment.replace("now()", f"timestamptz '{wednesday} 12:00'")
        found = connection.execute(f"select strftime(t, '%A %H:%M') from ({query})").fetchone()
    assert found == ("Friday 18:00",)


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_python_in_examples_runs(page, published, monkeypatch, capsys):
    monkeypatch.chdir(published)
    for example in blocks(page, "python"):
        names: dict[str, duckdb.DuckDBPyConnection] = {}
        exec(compile(example, shown(page), "exec"), names)
        names["db"].close()
        assert capsys.readouterr().out
