"""Conventions as tests: imports go one way, what users see is in the docs and nothing else is, SQL is files."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import duckdb
import pytest

from tests.survival.moments import CREATES, STATEMENTS_OF
from wms_sync import sql_files
from wms_sync.settings import PREFIX, Settings

ROOT = Path(__file__).parents[1]
DOCS = "\n".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
)
STEPS = [
    "errors", "grammar", "intervals", "json_values", "interrupts", "cron", "timezones", "sql_files", "catalogue",
    "storage", "layout", "setting_names", "settings", "privacy", "service", "state", "targets", "shipments", "upkeep",
    "master_data", "logs", "reports", "recording", "runs", "cli",
]  # fmt: skip
"""The packages and modules of ``wms_sync``: each may import those before it and not those after it."""
SHIPMENT_STEPS = ["read", "flatten", "load", "audit", "sync"]
"""The packages and modules of ``wms_sync.shipments``, likewise."""
PUSH_STEPS = [
    "errors", "csv_file", "fields", "json_columns", "kind", "products", "kinds", "columns", "records", "check",
    "existing", "plan", "create", "apply", "push",
]  # fmt: skip
"""The packages and modules of ``wms_sync.master_data``, likewise."""


MOMENT = re.compile(r"([\w.<>]+)(?= > |: before |: after )")
"""A function in the name of a moment at which a test kills: ``_clean_file > Turn.take_away: before rename``."""


@cache
def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(read(path))


@cache
def walked(path: Path) -> list[ast.AST]:
    return list(ast.walk(parsed(path)))


@cache
def imported(path: Path) -> set[str]:
    names = set()
    for node in walked(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def packages_of(path: Path) -> set[str]:
    """The packages that a module imports anywhere."""
    return {name.split(".")[0] for name in imported(path)}


def test_the_library_imports_no_orchestrator():
    """But for the command line, which reports by name what it made if there is a home of Dagster's."""
    reporting = ROOT / "src/wms_sync/cli/runs.py"
    for path in modules("src/wms_sync"):
        allowed = {"pipelines"} if path == reporting else set()
        assert packages_of(path) & {"dagster", "pipelines", "benchmarks"} <= allowed, path
    assert {name for name in imported(reporting) if name.split(".")[0] == "pipelines"} <= {
        "pipelines.reporting",
        "pipelines",
    }
    whenever = {str(node.module) for node in parsed(reporting).body if isinstance(node, ast.ImportFrom)}
    assert not [name for name in whenever if name.split(".")[0] == "pipelines"]


@pytest.mark.parametrize(
    ("package", "steps"),
    [("wms_sync", STEPS), ("wms_sync.shipments", SHIPMENT_STEPS), ("wms_sync.master_data", PUSH_STEPS)],
)
def test_packages_import_only_what_comes_before_them(package, steps):
    folder = f"src/{package.replace('.', '/')}"
    packages = {path.parent.name for path in (ROOT / folder).glob("*/__init__.py")}
    assert packages | {path.stem for path in (ROOT / folder).glob("[!_]*.py")} == set(steps)
    for at, step in enumerate(steps):
        later = tuple(f"{package}.{name}." for name in steps[at + 1 :])
        paths = [*modules(f"{folder}/{step}"), *(ROOT / folder).glob(f"{step}.py")]
        assert paths
        for path in paths:
            assert not [name for name in imported(path) if f"{name}.".startswith(later)], path


def test_no_module_is_faked_and_no_process_is_tuned():
    """Python, its collector, its allocator and its descriptors work as anyone expects."""
    tricks = re.compile(r"\bsys\.modules\b|\bgc\.|\bmallopt\b|\bctypes\b|\bos\._exit\b|\bos\.dup2?\(|\b__getattr__\b")
    found = [path for folder in ("src/wms_sync", "pipelines") for path in modules(folder) if tricks.search(read(path))]
    assert found == []


def test_the_sandbox_and_the_client_share_nothing():
    for folder, other in (("src/wms_sandbox", {"wms_sync", "pipelines"}), ("src/wms_sync", {"wms_sandbox"})):
        for path in modules(folder):
            assert not packages_of(path) & other, path


def test_every_module_says_what_it_is():
    """And a package's own file says nothing else."""
    for path in (*modules("src"), *modules("pipelines")):
        assert ast.get_docstring(parsed(path)), path
        assert path.name != "__init__.py" or len(parsed(path).body) == 1, path


def test_no_test_patches_a_function():
    patching = re.compile(r"monkeypatch\.setattr|mock\.patch|MagicMock|unittest\.mock")
    for path in modules("tests"):
        if path != Path(__file__):
            assert not patching.search(read(path)), path


def qualified_names(node: ast.AST, prefix: str = "") -> Iterator[str]:
    """Names of classes and functions as tracebacks show them: ``Turn.put_in_place``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield f"{prefix}{child.name}"
            inner = f"{child.name}." if isinstance(child, ast.ClassDef) else f"{child.name}.<locals>."
            yield from qualified_names(child, f"{prefix}{inner}")
        else:
            yield from qualified_names(child, prefix)


def test_functions_at_which_tests_kill_a_process_exist():
    """A moment whose function was renamed never comes, and then nothing is killed there."""
    trees = [parsed(path) for path in modules("src/wms_sync")]
    existing = {name for tree in trees for name in qualified_names(tree)}
    named = set(CREATES | STATEMENTS_OF)
    for path in modules("tests/survival"):
        for node in walked(path):
            if isinstance(node, ast.Constant) and "\n" not in str(node.value):
                named.update(MOMENT.findall(str(node.value)))
    assert len(named) > 20
    assert {name for name in named if not name.endswith(("comp>", "expr>"))} - existing == set()


def test_exactly_the_settings_are_in_the_docs():
    documented = set(re.findall(rf"`({PREFIX}[A-Z_]+)` \|", DOCS))
    assert documented == {PREFIX + name.upper() for name in Settings.model_fields}


def test_the_env_example_has_every_setting_and_default():
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    shown = re.findall(rf"^#({PREFIX}[A-Z_]+)=(.*)$", example, re.MULTILINE)
    defaults = {PREFIX + name.upper(): field.default for name, field in Settings.model_fields.items()}
    assert dict(shown) == {name: written(default) for name, default in defaults.items()}
    assert len(shown) == len(defaults), "a setting stands twice"


def written(default: object) -> str:
    """A default as somebody writes it into ``.env``."""
    if default is None:
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)


def test_the_changelog_has_the_version_of_the_project():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[(\d[\d.]*)\] - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    assert releases[0] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


@pytest.mark.parametrize("package", ["src/wms_sync", "src/wms_sandbox", "pipelines"])
def test_what_is_installed_is_marked_as_typed(package):
    assert (ROOT / package / "py.typed").exists()


def test_nothing_imports_what_dagster_does_not_document():
    """A release of Dagster may rename it."""
    private = re.compile(r"^ *(?:from|import) dagster[\w.]*\._|^ *from dagster[\w.]* import [^(\n]*\b_\w", re.MULTILINE)
    found = [path for folder in ("src", "pipelines", "tests") for path in modules(folder) if private.search(read(path))]
    assert found == []


def test_make_targets_in_the_docs_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z]+)", DOCS, re.MULTILINE)) <= targets


def test_cleaning_leaves_the_data_folder():
    recipe = re.search(r"^clean:\n\trm -rf (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    assert Settings.model_fields["data_dir"].default.name not in recipe[1].split()


def test_an_sql_file_holds_one_documented_statement():
    for path in sorted((ROOT / "sql").rglob("*.sql")):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("--"), f"no header comment in {path}"
        if path.parent.name in {"types", "fence", "statistics"}:
            continue  # a file a group of types; statements of PostgreSQL
        assert {"source", "description"} & set(sql_files.headers(text)), f"{path} says neither source nor what it finds"
        if "{" not in re.sub(r"--.*|'[^']*'|\$\w+|columns = \{[^}]*\}", "", text):
            assert len(duckdb.extract_statements(text)) == 1, path


def test_no_path_and_no_index_is_committed():
    forbidden = re.compile(r"/(?:root|home)/\w|index-url|files\.pythonhosted|/simple/")
    folders = [*modules("src"), *modules("pipelines"), *(ROOT / ".requirements").iterdir(), ROOT / "Makefile"]
    assert not [str(path) for path in folders if forbidden.search(path.read_text(encoding="utf-8"))]


COUNTED = r"shipments|windows|rows|tables|pages|records|files|values|keys|orders|creates|objects|checks|requests|runs"
PLURAL = re.compile(rf"^ (?:(?:raw|old|older|other|Parquet) )?(?:{COUNTED})\b")
IN_A_LOG = re.compile(rf"%\(\w+\)d (?:[a-zA-Z]+ )?(?:{COUNTED})\b")
NO_COUNTS = {
    # what stands before the noun is no count, or never one
    "{SHIPMENTS}",  # of the demo
    "{wanted}",  # the size of a page, at least two
    "{now.records / elapsed}",  # a speed
    "{MOST_PAGES}",
    "{path}",  # creates no table
    "{self._empty}",  # more than a few
}


def fixed_plurals(path: Path) -> Iterator[str]:
    """Counts with a noun that is always in the plural: `{count} rows`."""
    for node in walked(path):
        if isinstance(node, ast.JoinedStr):
            for value, text in zip(node.values, node.values[1:], strict=False):
                if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant):
                    shown = f"{{{ast.unparse(value.value)}}}"
                    if PLURAL.match(str(text.value)) and shown not in NO_COUNTS:
                        yield f"{path.name}:{node.lineno}: {shown}{text.value!r}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and IN_A_LOG.search(node.value):
            yield f"{path.name}:{node.lineno}: {node.value}"


def test_no_count_has_a_fixed_plural():
    assert [
        found for folder in ("src/wms_sync", "pipelines") for path in modules(folder) for found in fixed_plurals(path)
    ] == []
