"""What is made is its owner's alone, and no secret is in any of it, whatever fails."""

import os
import stat
from collections.abc import Iterator

import pytest

from tests.cli.conftest import LATE_START
from tests.master_data.files import write
from tests.running import run_load, run_push, run_sync
from wms_sync.cli.upkeep import forget_orders
from wms_sync.master_data.kinds import LOCATION_TAGS
from wms_sync.reports.doctor import examine


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("service_of_today")
def test_files_and_folders_are_their_owners_alone(make_settings, tmp_path):
    settings = make_settings(start_date=LATE_START)
    run_sync(settings)
    run_push(settings, LOCATION_TAGS, write(tmp_path / "tags.csv", "name,color", "fragile,red1", "wrong,no-colour"))
    layout = settings.layout
    layout.root.chmod(0o2750)
    [shut_out] = [finding for finding in examine(settings) if finding.name == "published"]
    text = f"which may read {layout.root}, cannot read {layout.published}."
    assert (shut_out.severity, text in shut_out.text) == ("warning", True), shut_out.text
    run_load(settings)
    assert stat.S_IMODE(layout.published.stat().st_mode) == 0o440, "the folder is set up for a group of analysts"
    layout.root.chmod(0o700)
    forget_orders(settings, ["1"], yes=True, dry_run=False, unseen=True)
    made = [layout.root, *layout.root.rglob("*")]
    assert {"state.db", "analytics.duckdb", "rejects", "creates.jsonl", "work"} <= {path.name for path in made}
    assert {str(path.relative_to(tmp_path)) for path in made if path.stat().st_mode & 0o077} == set()
