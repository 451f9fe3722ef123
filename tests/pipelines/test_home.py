"""Dagster's home: what is written there, and what is not there before or beside it."""

import stat

import dagster as dg
import pytest

from wms_sync.errors import SettingsError
from wms_sync_pipelines.home import HOME_VARIABLE, main, prepare_home


def test_a_home_is_private_and_holds_nothing_back(tmp_path, monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    main()
    main()  # again, harmless
    with dg.DagsterInstance.get() as instance:
        assert not instance.telemetry_enabled
        assert not instance.run_retries_enabled
        assert instance.run_monitoring_enabled
        assert instance.get_settings("run_monitoring")["max_runtime_seconds"] == 24 * 60 * 60
        assert instance.get_settings("concurrency")["runs"]["max_concurrent_runs"] == -1
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_a_configuration_of_the_operators_own_stays(tmp_path):
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    prepare_home(tmp_path)
    assert (tmp_path / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"


def test_a_home_with_an_ambiguous_name_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="with % or"):
        prepare_home(tmp_path / "100%")
    assert list(tmp_path.iterdir()) == []
