"""The workflows of the repository: least rights, pinned actions, and jobs that are targets of the Makefile."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z]+):.*  ## ", MAKEFILE, re.MULTILINE)
ALSO = {
    "ci.yml": {".ci/needs"},
    "site.yml": set[str](),
    "release.yml": {"grep", "docker"},
}
"""What a workflow runs besides targets."""
WRITES = {"deploy": {"pages", "id-token"}, "publish": {"id-token"}, "image": {"packages"}}
"""The jobs that write, and where."""


def jobs_of(workflow: Path) -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    return jobs


def test_there_are_at_most_twelve_targets_and_help():
    assert "help" in TARGETS
    assert len(TARGETS) <= 13
    [phony] = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert sorted(phony.split()) == sorted(TARGETS)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_runs_targets(workflow):
    for name, job in jobs_of(workflow).items():
        for command in (step["run"] for step in job["steps"] if "run" in step):
            program, *arguments = command.split()
            assert (arguments[0] in TARGETS) if program == "make" else (program in ALSO[workflow.name]), (name, command)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_an_action_is_pinned_and_a_job_has_no_right_that_it_does_not_use(workflow):
    text = workflow.read_text(encoding="utf-8")
    assert "uses:" in text
    assert len(re.findall(r"uses: [\w/.-]+@[0-9a-f]{40} # v[\d.]+$", text, re.MULTILINE)) == text.count("uses:")
    everywhere = yaml.safe_load(text)["permissions"]
    assert everywhere in ({}, {"contents": "read"})
    for name, job in jobs_of(workflow).items():
        rights = everywhere | job.get("permissions", {})
        assert {what for what, right in rights.items() if right == "write"} == WRITES.get(name, set())


def test_the_image_is_built_of_what_the_release_made():
    [build] = [
        step["run"]
        for step in jobs_of(ROOT / ".github/workflows/release.yml")["image"]["steps"]
        if "build" in step.get("run", "")
    ]
    assert (ROOT / build.split()[3]).exists()
