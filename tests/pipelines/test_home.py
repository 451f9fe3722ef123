"""Dagster's home: what is written there, and what is not there before or beside it."""

import stat

import dagster as dg
import pytest

from wms_sync.errors import SettingsError
from wms_sync_pipelines.home import HOME_VARIABLE, main, prepare_home


def test_a_home_is_private_and_holds_nothing_back(tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv(HOME_VARIABLE, str(home))
    main()
    with dg.DagsterInstance.get() as instance:
        switches = (instance.telemetry_enabled, instance.run_retries_enabled, instance.run_monitoring_enabled)
        assert switches == (False, False, True)
        assert instance.get_settings("run_monitoring")["max_runtime_seconds"] == 24 * 60 * 60
        assert instance.get_settings("concurrency")["runs"]["max_concurrent_runs"] == -1
    assert stat.S_IMODE(home.stat().st_mode) == 0o700

    configuration = home / "dagster.yaml"
    configuration.write_text("telemetry: {enabled: false}\n")
    main()
    assert configuration.read_text() == "telemetry: {enabled: false}\n", "the operator's own stays"


def test_a_home_with_an_ambiguous_name_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="with % or"):
        prepare_home(tmp_path / "100%")
    assert list(tmp_path.iterdir()) == []
