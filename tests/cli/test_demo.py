"""The demo, as `make demo` runs it: what somebody sees first must work."""

import pytest

from wms_sync.cli.demo import MARK, run_demo
from wms_sync.cli.runs import DAGSTER_HOME
from wms_sync.errors import SettingsError
from wms_sync.master_data.kinds.table import IN_SHIPMENTS
from wms_sync.state.ledger import PushLedger, State


def test_the_demo_ends_with_every_sample_created_and_seen_again(tmp_path, capfd, monkeypatch):
    folder, home = tmp_path / "demo", tmp_path / "home of a production"
    monkeypatch.setenv(DAGSTER_HOME, str(home))
    assert run_demo(folder) == 0
    assert not home.exists()
    shown = capfd.readouterr().out
    assert "11 rows of products.csv as products: 11 create\n" in shown
    assert "warn" not in shown  # an alert that is always on is no alert
    assert "Pushed master data, and whether shipments refer to it yet" in shown
    with PushLedger(f"sqlite:///{folder / 'state.db'}") as ledger:
        assert {entry.state for entry in ledger.all()} == {State.CREATED}
        assert len(ledger.all()) == 17
        assert ledger.unseen(IN_SHIPMENTS) == 0


def test_a_folder_that_is_no_demo_is_left_alone(tmp_path):
    (tmp_path / "precious").touch()
    with pytest.raises(SettingsError, match="is not empty, and no demo created it"):
        run_demo(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
    assert not (tmp_path / MARK).exists()
