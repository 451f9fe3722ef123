"""What GitHub reads: workflows with least rights, pinned actions and jobs that are targets of the Makefile."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
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


def test_there_are_at_most_twelve_targets_and_help():
    [phony] = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert sorted(phony.split()) == sorted(TARGETS)
    assert len({*TARGETS} - {"help"}) <= 12


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_targets_and_pinned_actions_with_the_rights_that_it_uses(workflow):
    text = workflow.read_text(encoding="utf-8")
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
