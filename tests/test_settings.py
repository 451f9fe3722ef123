import pytest

from wms_sync.errors import SettingsError
from wms_sync.settings import Settings, secrets


def load(**overrides: object) -> Settings:
    return Settings.load(_env_file=None, **overrides)


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("base_url", "acme.example.com", "https://"),
        ("base_url", "http://acme.example.com", "plain http"),
        ("base_url", "https://user:planted@acme.example.com", "credentials"),
        ("base_url", "https://acme.example.com/api/global", "path"),
        ("base_url", "ftp://acme.example.com", "https://"),
        ("base_url", "https://acme.example.com:abc", "port"),
        ("base_url", "https://\u200bacme.example.com", "host name"),
        ("base_url", "https://acme.example.com,", "host name"),
        ("base_url", "https://m\u00fcller.example.com", "host name"),
        ("base_url", "https://acme.example.com:99999", "port"),
        ("base_url", "https://@acme.example.com", "credentials"),
        ("base_url", f"https://{'a' * 64}.example.com", "host name"),
        ("base_url", f"https://{'a.' * 127}com", "host name"),
        ("base_url", "https://acme..example.com", "host name"),
        ("base_url", "https://acme.example.com..", "host name"),
        ("base_url", "https://xn--a", "host name"),
        ("base_url", "https://acme.xn--a.example.com", "host name"),
        ("base_url", "http://127.1:8808", "IP address"),
        ("base_url", "http://0x7f000001", "IP address"),
        ("base_url", "https://192.0.2.01", "IP address"),
        ("base_url", "https://[::1", "IPv6"),
        ("files_endpoint", "https://minio..example.com", "host name"),
        ("page_size", "0", "greater"),
        ("page_size", "1001", "less"),
        ("max_parallel_requests", "0", "greater"),
        ("start_date", "yesterday", "date"),
        ("start_date", "0001-01-01", "greater"),
        ("start_date", "2999-01-01", "future"),
        ("data_dir", "~nosuch/x", "home folder"),
        ("data_dir", "/data/\udcfcbung", "not UTF-8"),
        ("data_dir", "/data/why?", "question mark"),
        ("data_dir", "$HOME/wms", "starts with the name of a $VARIABLE"),
        ("api_token", "${planted_token}", "starts with the name of a $VARIABLE"),
        ("api_token", "'planted'", "stands in quotes"),
        ("base_url", '"https://planted.example.com"', "stands in quotes"),
        ("data_dir", "/data\n", "line break"),
        ("state_url", "sqlite:////data/planted\x1b.db", "control character"),
        ("base_url", "https://planted.exam\nple.com", "line break"),
        ("api_token", "planted\u2028", "line break"),
        ("raw_retention_days", "999999", "less"),
        ("overlap_seconds", "1000000000000", "less"),
        ("include_addresses", "perhaps", "bool"),
        ("overlap_seconds", "-1", "greater"),
        ("api_version", "2026", "pattern"),
        ("schedule_timezone", "Mars/Olympus", "time zone"),
        ("schedule_timezone", "Europe", "time zone"),
        ("warehouse_timezones", "West", "WAREHOUSE=ZONE"),
        ("warehouse_timezones", "=UTC", "WAREHOUSE=ZONE"),
        ("warehouse_timezones", "West=Mars/Olympus", "'Mars/Olympus' is not a time zone name"),
        ("warehouse_timezones", "West=UTC, west=UTC", "west twice"),
        ("asset_owners", "team:data, the boss", "'the boss' is neither"),
        ("schedule_cron", "nonsense", "five fields"),
        ("schedule_cron", "0 2 * *", "five fields"),
        *(("schedule_cron", f"0 0 {days} *", "days that do not exist") for days in ("30 2", "30,31 2", "31 4,6")),
        ("memory_limit", "much", "pattern"),
        ("memory_limit", "10MB", "300MB"),
        ("memory_limit", "286.1MiB", "300MB"),
        ("alert_webhook_url", "http://hooks.example.com/planted", "plain http"),
        ("alert_webhook_url", "hooks.example.com/planted", "https://"),
        ("heartbeat_url", "http://10.0.0.5/planted", "plain http"),
        ("alert_urls", "slack://token planted", "apprise"),
        ("ui_url", "https://planted:pw@dagster.example.com", "credentials"),
        ("metrics_url", "pushgateway:9091", "https://"),
        ("metrics_url", "http://pushgateway:90910", "Port out of range"),
        ("push_limit", "0", "greater"),
        ("push_enabled", "perhaps", "bool"),
    ],
)
def test_each_wrong_setting_is_named(name, value, hint):
    with pytest.raises(SettingsError, match="WMS_PUSH_LIMIT") as error:
        load(**{"push_limit": "0", "schedule_cron": "30 * * * *", name: value})
    said = str(error.value)
    seen = f"WMS_{name.upper()}" in said, hint in said, "planted" in said, error.value.exit_code
    assert seen == (True, True, False, 2), said


@pytest.mark.parametrize(
    ("url", "address"),
    [
        *((url, "http://127.0.0.1:8808") for url in ("http://127.0.0.1:08808/", "http://LOCALHOST:8808")),
        ("http://[0:0::1]:8808", "http://[::1]:8808"),
        ("https://localhost:8443", "https://localhost:8443"),
        ("https://acme.example.com.", "https://acme.example.com"),
        ("https://acme.example.com.:0443", "https://acme.example.com"),
        ("https://acme.example.com:", "https://acme.example.com"),
        ("https://xn--mller-kva.example.com", "https://xn--mller-kva.example.com"),
        ("https://ACME.example.com", "https://acme.example.com"),
        ("HTTPS://acme.example.com:443/", "https://acme.example.com"),
        (" https://acme.example.com", "https://acme.example.com"),
    ],
)
def test_an_instance_has_one_address(url, address):
    assert load(base_url=url).base_url == address


def test_secrets_do_not_show():
    settings = load(
        base_url="https://acme.example.com",
        api_token="planted-secret",
        state_url="postgresql://u:planted-secret@h/d",
        merchant_api_key="planted-secret",
    )
    assert "planted-secret" not in f"{settings!r} {settings} {settings.model_dump_json()}"


WHOLE: dict[str, object] = {
    "base_url": "https://acme.example.com",
    "api_token": "t",
    "merchant_username": "u",
    "merchant_api_key": "k",
}


@pytest.mark.parametrize(
    ("missing", "require"),
    [
        ("base_url", Settings.require_service),
        ("api_token", Settings.require_service),
        ("base_url", Settings.require_merchant),
        ("merchant_username", Settings.require_merchant),
        ("merchant_api_key", Settings.require_merchant),
    ],
)
def test_a_missing_setting_is_named(missing, require):
    assert load(**WHOLE).has_merchant
    with pytest.raises(SettingsError, match=f"WMS_{missing.upper()} is not set"):
        require(load(**WHOLE | {missing: None}))


@pytest.mark.parametrize("name", secrets())
def test_every_secret_can_stand_in_a_file(name, tmp_path, monkeypatch):
    assert f"{name}_file" in Settings.model_fields
    path = tmp_path / "secret"
    path.write_text("  https://u:p@h/b4d-s3cret\n")
    monkeypatch.setenv(f"WMS_{name.upper()}_FILE", str(path))
    assert getattr(load(), name).get_secret_value() == "https://u:p@h/b4d-s3cret"
    assert getattr(load(**{name: "https://other"}), name).get_secret_value() == "https://other", "passed in"
    monkeypatch.setenv(f"WMS_{name.upper()}", "x")
    with pytest.raises(SettingsError, match=f"WMS_{name.upper()} and WMS_{name.upper()}_FILE are both set"):
        load()


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "cannot be read (No such file"), (b" \n", "is empty"), (b"b4d-s3cret\xff", "is not UTF-8")],
)
def test_an_unusable_secret_file_is_named_without_content(content, told, tmp_path, monkeypatch):
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("WMS_API_TOKEN_FILE", str(path))
    with pytest.raises(SettingsError) as error:
        load()
    assert f"WMS_API_TOKEN_FILE: {path} {told}" in str(error.value)
    assert "s3cret" not in str(error.value)
    assert error.value.__context__ is None or "s3cret" not in repr(error.value.__context__)


@pytest.fixture
def env_file(tmp_path, monkeypatch):
    """Writes lines into the .env of the present folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *lines: (tmp_path / ".env").write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    ("line", "variable", "said"),
    [
        ("WMS_API_TOKN", "WMS_HOST", "WMS_API_TOKN (in .env) is not a setting. Did you mean WMS_API_TOKEN?"),
        ("wms_pagesize", "WMS_HOST", "wms_pagesize (in .env) is not a setting. Did you mean WMS_PAGE_SIZE?"),
        ("WMS_COLOR", "WMS_HOST", "WMS_COLOR (in .env) is not a setting."),
        ("HOST", "WMS_API_TOKN", "WMS_API_TOKN (in the environment) is not a setting. Did you mean WMS_API_TOKEN?"),
    ],
)
def test_an_unknown_setting_names_the_nearest(env_file, monkeypatch, line, variable, said):
    """A variable of another program may have our prefix; it is refused only if it resembles a setting."""
    env_file(f"{line}=planted", "OTHER=1")
    monkeypatch.setenv(variable, "planted")
    with pytest.raises(SettingsError) as refused:
        Settings.load()
    assert str(refused.value) == f"Wrong settings (environment or .env):\n  {said}"


@pytest.mark.parametrize("line", ["WMS_DATA_DIR: /planted", 'WMS_DATA_DIR="/planted', "set WMS_DATA_DIR=/planted"])
def test_a_garbled_env_line_is_refused(env_file, line):
    """It was left out, and the run went on in another data folder."""
    env_file("OTHER: of another program", line, "WMS_PAGE_SIZE=5")
    with pytest.raises(SettingsError, match=r"^The file \.env cannot be parsed at line 2\. Write WMS_NAME=") as refused:
        Settings.load()
    assert "planted" not in str(refused.value)


def test_what_dagster_copied_is_read_from_the_file(env_file, monkeypatch):
    env_file("WMS_PAGE_SIZE=100", "WMS_PUSH_LIMIT=5")
    monkeypatch.setenv("WMS_PAGE_SIZE", "100")
    monkeypatch.setenv("WMS_PUSH_LIMIT", "7")
    Settings.leave_to_env_file()
    env_file("WMS_PAGE_SIZE=60", "WMS_PUSH_LIMIT=6")
    assert Settings.load().page_size == 60
    assert Settings.load().push_limit == 7, "the environment wins where it says something else"
