"""Conventions as tests: imports go one way, what users see is in the docs and nothing else is, SQL is files.

GitHub reads workflows with least rights, pinned actions and jobs that are targets of the Makefile.
"""

import ast
import re
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import duckdb
import pytest
import yaml

from tests.survival.moments import CREATES, STATEMENTS_OF
from wms_sync import sql_files
from wms_sync.settings import PREFIX, Settings

ROOT = Path(__file__).parents[1]
DOCS = "\n".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
)
STEPS = [
    "errors", "grammar", "intervals", "json_values", "interrupts", "cron", "timezones", "sql_files", "catalogue",
    "storage", "layout", "setting_names", "settings", "privacy", "service", "state", "targets", "master_data",
    "shipments", "upkeep", "logs", "reports", "recording", "runs", "cli",
]  # fmt: skip
"""The packages and modules of ``wms_sync``: each may import those before it and not those after it."""
PUSH_STEPS = [
    "csv_file", "suspicions", "fields", "json_columns", "kind", "kinds", "records", "check", "existing", "plan",
    "create", "apply", "push",
]  # fmt: skip
"""The packages and modules of ``wms_sync.master_data``, likewise."""
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z]+):.*  ## ", MAKEFILE, re.MULTILINE)
ALSO = {
    "ci.yml": {".ci/needs", "docker"},
    "site.yml": set[str](),
    "release.yml": {"grep", "docker"},
}
"""What a workflow runs besides targets."""
WRITES = {"deploy": {"pages", "id-token"}, "publish": {"id-token"}, "image": {"packages"}}
"""The jobs that write, and where."""


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
def imported(path: Path) -> set[str]:
    nodes = [*ast.walk(parsed(path))]
    whole = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    parts = [
        (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    ]
    return whole.union(*((module, f"{module}.{name}") for module, name in parts))


@pytest.mark.parametrize(
    ("folder", "others"),
    [
        ("src/wms_sync", {"wms_sandbox", "dagster", "wms_sync_pipelines", "benchmarks"}),
        ("src/wms_sandbox", {"wms_sync", "wms_sync_pipelines"}),
    ],
)
def test_client_sandbox_and_orchestrator_are_apart(folder, others):
    """But for the command line, which reports by name what it made if there is a home of Dagster's."""
    for path in modules(folder):
        allowed = {"wms_sync_pipelines"} if path == ROOT / "src/wms_sync/cli/operations.py" else set()
        assert {name.split(".")[0] for name in imported(path)} & others <= allowed, path


@pytest.mark.parametrize(
    ("package", "steps"),
    [
        ("wms_sync", STEPS),
        ("wms_sync.shipments", ["read", "flatten", "load", "audit"]),
        ("wms_sync.master_data", PUSH_STEPS),
    ],
)
def test_packages_import_only_what_comes_before_them(package, steps):
    folder = f"src/{package.replace('.', '/')}"
    assert set(steps) == {path.stem for path in (ROOT / folder).glob("[!_]*.py")} | {
        path.parent.name for path in (ROOT / folder).glob("*/__init__.py")
    }
    for at, step in enumerate(steps):
        later = tuple(f"{package}.{name}." for name in steps[at + 1 :])
        paths = [*modules(f"{folder}/{step}"), *(ROOT / folder).glob(f"{step}.py")]
        assert [(path, name) for path in paths for name in imported(path) if f"{name}.".startswith(later)] == []


def test_modules_import_each_other_in_no_circle():
    names = {".".join(path.relative_to(ROOT / "src").with_suffix("").parts): path for path in modules("src/wms_sync")}
    assert list(TopologicalSorter({name: imported(path) & names.keys() for name, path in names.items()}).static_order())


ABSENT = {
    # Python, its collector, its allocator and its descriptors work as anyone expects
    "a module is faked, or a process is tuned": (
        ("src/wms_sync/**/*.py", "pipelines/**/*.py"),
        r"\bsys\.modules\b|\bgc\.|\bmallopt\b|\bctypes\b|\bos\._exit\b|\bos\.dup2?\(|\b__getattr__\b",
    ),
    # msgspec crashes if two threads decode a type for the first time at once
    "a decoder is made later than at the import of its module": (
        ("src/wms_sync/**/*.py",),
        r"msgspec\.(?:json\.decode|convert)\(.*type=",
    ),
    # a release of Dagster may rename it
    "something is imported that Dagster does not document": (
        ("src/**/*.py", "pipelines/**/*.py", "tests/**/*.py"),
        r"^ *(?:from|import) dagster[\w.]*\._|^ *from dagster[\w.]* import [^(\n]*\b_\w",
    ),
    "a test patches a function": (("tests/**/*.py",), r"monkeypatch\.setattr|mock\.patch|MagicMock|unittest\.mock"),
    "a path of a machine, or an index, is committed": (
        ("src/**/*.py", "pipelines/**/*.py", ".requirements/*", "Makefile"),
        r"/(?:root|home)/\w|index-url|files\.pythonhosted|/simple/",
    ),
}
"""What stands nowhere: the files, and the regular expression."""


@pytest.mark.parametrize(("files", "pattern"), ABSENT.values(), ids=ABSENT)
def test_it_is_nowhere_that(files, pattern):
    paths = {path for name in files for path in ROOT.glob(name)} - {Path(__file__)}
    assert paths
    assert [path for path in paths if re.search(pattern, read(path), re.MULTILINE)] == []


def test_a_packages_own_file_holds_its_charter_alone():
    assert [
        path
        for path in (*modules("src"), *modules("pipelines"))
        if path.name == "__init__.py" and len(parsed(path).body) != 1
    ] == []


def test_a_class_name_stands_for_one_class():
    """A reader who searches for it finds one class; an underscore does not tell two apart."""
    names = Counter(
        node.name.lstrip("_")
        for path in (*modules("src/wms_sync"), *modules("pipelines"))
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_constants_stand_above_functions_and_classes():
    """A constant that needs one of them stands below it."""
    below = []
    for path in [*modules("src/wms_sync"), *modules("pipelines")]:
        defined: set[str] = set()
        for node in parsed(path).body:
            names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign) and names & defined:
                defined |= names
            elif isinstance(node, ast.Assign | ast.AnnAssign) and defined:
                below.append(f"{path.name}:{node.lineno}")
    assert below == []


def test_functions_at_which_tests_kill_a_process_exist():
    """Otherwise nothing is killed there."""
    source = "\n".join(read(path) for path in modules("src/wms_sync"))
    assert [name for name in CREATES | STATEMENTS_OF if f"def {name.rpartition('.')[2]}(" not in source] == []


def test_exactly_the_settings_are_in_the_docs():
    assert set(re.findall(rf"`({PREFIX}(?:[A-Z_]+(?=` \|)|[A-Z_]+_FILE(?=`)))", DOCS)) == {
        PREFIX + name.upper() for name in Settings.model_fields
    }


def test_the_settings_page_has_each_default():
    shown = dict(re.findall(rf"^\| `{PREFIX}([A-Z_]+)` \| `?([^|`]+)`? \|", DOCS, re.MULTILINE))
    defaults = {name.upper(): field.default for name, field in Settings.model_fields.items()}
    assert {name: shown[name] for name in shown if defaults[name] is not None} == {
        name: str(default).lower()
        if isinstance(default, bool)
        else str(default) or "none"  # as one writes it into .env
        for name, default in defaults.items()
        if default is not None
    }


def test_there_are_at_most_twelve_targets_and_help():
    [phony] = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert sorted(phony.split()) == sorted(TARGETS)
    assert len({*TARGETS} - {"help"}) <= 12
    assert set(re.findall(r"(?:^|`)make ([a-z]+)", DOCS, re.MULTILINE)) <= {*TARGETS}


@pytest.mark.parametrize("workflow", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_a_workflow_runs_targets_and_pinned_actions_with_the_rights_that_it_uses(workflow):
    text = read(workflow)
    assert len(re.findall(r"uses: [\w/.-]+@[0-9a-f]{40} # v[\d.]+$", text, re.MULTILINE)) == text.count("uses:") > 0
    found = yaml.safe_load(text)
    assert found["permissions"] in ({}, {"contents": "read"})
    for name, job in found["jobs"].items():
        rights = found["permissions"] | job.get("permissions", {})
        assert {what for what, right in rights.items() if right == "write"} == WRITES.get(name, set())
        for command in (step["run"] for step in job["steps"] if "run" in step):
            program, *arguments = command.split()
            assert (arguments[0] in TARGETS) if program == "make" else (program in ALSO[workflow.name]), (name, command)
            assert program != "docker" or "build" not in arguments or (ROOT / arguments[2]).exists(), command


def test_an_sql_file_holds_one_documented_statement():
    for path in sorted((ROOT / "sql").rglob("*.sql")):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("--"), f"no header comment in {path}"
        if path.parent.name in {"types", "fence", "statistics"}:
            continue  # a file a group of types; statements of PostgreSQL
        assert {"grain", "source", "description"} & set(sql_files.headers(text)), f"{path} does not say what it finds"
        if "{" not in re.sub(r"--.*|'[^']*'|\$\w+|columns = \{[^}]*\}", "", text):
            assert len(duckdb.extract_statements(text)) == 1, path
