"""The demo, as `make demo` runs it: what somebody sees first must work."""

from click.testing import CliRunner

from tests.test_extras import run
from wms_sync.cli.main import main
from wms_sync.cli.operations import DAGSTER_HOME
from wms_sync.master_data.kinds import IN_SHIPMENTS
from wms_sync.state.ledger import PushLedger, State


def test_the_demo_creates_every_sample(tmp_path):
    """Also where no extra is installed: it says what its report needs."""
    folder, home = tmp_path / "data" / "demo", tmp_path / "home of a production"
    ended = run(tmp_path, "demo", **{DAGSTER_HOME: str(home)})
    assert ended.returncode == 0, ended.stderr
    assert not home.exists()
    assert "products of products.csv: 11 created\n" in ended.stdout
    assert "warn" not in ended.stdout  # an alert that is always on is no alert
    assert ended.stderr == ""
    assert len(ended.stdout.splitlines()) <= 44, "one screen"
    assert "report    it needs the extra `report`" in ended.stdout
    with PushLedger.opened(f"sqlite:///{folder / 'state.db'}") as ledger:
        assert {entry.state for entry in ledger.all()} == {State.CREATED}
        assert len(ledger.all()) == 17
        assert ledger.unseen(IN_SHIPMENTS) == 0


def test_a_folder_without_a_demo_stays(tmp_path):
    (tmp_path / "precious").touch()
    ended = CliRunner().invoke(main, ["demo", "--data-dir", str(tmp_path)])
    assert (ended.exit_code, "is not empty, and no demo created it" in ended.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
