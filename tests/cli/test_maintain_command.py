"""What `wms-sync maintain` says where there is nothing to maintain; tests of the lake have the rest."""

from wms_sync.cli.runs import run_maintain


def test_a_file_needs_no_maintenance(settings, capsys):
    assert run_maintain(settings) == 3, "nothing is synced yet"
    assert "maintained  nothing: each load keeps the file compact" in capsys.readouterr().out
