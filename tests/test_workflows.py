"""What GitHub reads: workflows with least rights, pinned actions and jobs that are targets of the Makefile; forms."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from wms_sync.cli.main import main

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").iterdir())
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


@pytest.mark.parametrize(("workflow", "job"), [("ci.yml", "wheel"), ("release.yml", "image")])
def test_the_image_is_built_of_the_wheel(workflow, job):
    steps = jobs_of(ROOT / ".github" / "workflows" / workflow)[job]["steps"]
    [build] = [step["run"] for step in steps if step.get("run", "").startswith("docker build")]
    assert (ROOT / build.split()[3]).exists()


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.name)
def test_an_issue_has_a_form_that_asks_for_a_recording(form):
    text = form.read_text(encoding="utf-8")
    asked = yaml.safe_load(text)
    assert {"name", "description", "labels", "body"} == asked.keys()
    assert {field["type"] for field in asked["body"]} == {"textarea"}
    assert len({field["id"] for field in asked["body"]}) == len(
        {field["attributes"]["label"] for field in asked["body"]}
    )
    commands = set(re.findall(r"`wms-sync ([a-z]+)", text))
    assert "record" in commands
    assert commands <= main.commands.keys()
