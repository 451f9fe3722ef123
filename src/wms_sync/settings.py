"""Settings: environment variables (or ``.env``), read in one place.

A wrong or missing setting raises ``SettingsError``, which names the variable. Secrets are ``SecretStr``, so they do not
appear in a repr, a log or a traceback. Only the credentials of a bucket are read from the environment elsewhere
(``storage.opened``).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from wms_sync.cron import checked_cron
from wms_sync.errors import SettingsError, lacks
from wms_sync.layout import Layout
from wms_sync.setting_names import given, leave_to_env_file, misspelt, values_in
from wms_sync.storage.opened import bucket_files, checked_place
from wms_sync.timezones import (
    WarehouseTimezones,
    checked_zone,
    parse_warehouse_timezones,
)

PREFIX = "WMS_"
LOCATION = "wms-sync"
"""The name of Dagster's code location, as in ``workspace.yaml`` and ``deploy``, unless WMS_INSTANCE names it."""
ENV_FILE = ".env"
EARLIEST = date(1970, 1, 1)
LONGEST_OVERLAP_SECONDS = 366 * 86_400
LARGEST_TOLERANCE_SECONDS = 7 * 86_400
TOLERANCE = timedelta(minutes=5)
LONGEST_RETENTION_DAYS = 36_525
_VARIABLE = re.compile(r"\$\{?[A-Za-z_]\w*\}?(/|$)", re.ASCII)
_QUOTED = re.compile(r"""(['"]).*\1""", re.DOTALL)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_OWNER = re.compile(r"team:\w[\w.-]*|[\w.+-]+@[\w-]+(\.[\w-]+)+", re.ASCII)
_HOST = re.compile(r"(?=.{1,253}$)[\w-]{1,63}(\.[\w-]{1,63})*", re.ASCII)
_NUMERIC = re.compile(r"(.*\.)?(\d+|0x[0-9a-f]*)")
LOCALHOST = "localhost"
DEFAULT_PORTS = {"http": 80, "https": 443}
LEAST_MEMORY = 300 * 1000**2
LAKE_TAKES_AS_PATTERN = ("*", "?", "[", "\\")
"""Characters that DuckLake treats as a pattern in the path of its files when it looks for unused ones."""


class Settings(BaseModel):
    """Every setting with its default; the field ``x`` is the variable ``WMS_X``."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True, frozen=True, validate_default=True)

    base_url: str | None = None
    api_token: SecretStr | None = None
    api_token_file: Path | None = None
    merchant_username: str | None = None
    merchant_api_key: SecretStr | None = None
    merchant_api_key_file: Path | None = None
    data_dir: Path = Path("data")
    analytics: Literal["file", "ducklake"] = "file"
    files_url: Annotated[str, AfterValidator(checked_place)] | None = None
    files_endpoint: str | None = None
    instance: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]*$")
    state_url: SecretStr | None = None
    state_url_file: Path | None = None
    start_date: date = Field(default=date(2024, 1, 1), ge=EARLIEST)
    page_size: int = Field(default=1000, ge=1, le=1000)
    max_parallel_requests: int = Field(default=4, ge=1, le=64)
    overlap_seconds: int = Field(default=600, ge=0, le=LONGEST_OVERLAP_SECONDS)
    clock_tolerance_seconds: int = Field(default=int(TOLERANCE.total_seconds()), ge=0, le=LARGEST_TOLERANCE_SECONDS)
    audit_pages: int = Field(default=1, ge=0)
    include_addresses: bool = False
    warehouse_timezones: str = ""
    raw_retention_days: int | None = Field(default=None, ge=1, le=LONGEST_RETENTION_DAYS)
    maintenance_nights: int = Field(default=7, ge=0, le=LONGEST_RETENTION_DAYS)
    api_version: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}$")
    schedule_cron: Annotated[str, AfterValidator(checked_cron)] = "0 2 * * *"
    schedule_timezone: Annotated[str, AfterValidator(checked_zone)] = "UTC"
    asset_owners: str = ""
    alert_webhook_url: SecretStr | None = None
    alert_webhook_url_file: Path | None = None
    alert_urls: SecretStr | None = None
    alert_urls_file: Path | None = None
    heartbeat_url: SecretStr | None = None
    heartbeat_url_file: Path | None = None
    metrics_url: str | None = None
    ui_url: str | None = None
    log_format: Literal["text", "json"] = "text"
    master_data_dir: Path | None = None
    report: bool = False
    on_time_target: float | None = Field(default=None, gt=0, le=100)
    push_limit: int = Field(default=1000, ge=1)
    push_enabled: bool = False
    memory_limit: str = Field(default="700MB", pattern=r"^\d+(\.\d+)?\s?([KMGT]i?B)$")

    @model_validator(mode="before")
    @classmethod
    def _read_secrets(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Read each secret that is given as a file: ``x`` from the file that ``x_file`` names."""
        read = {name: _secret_in(given, name) for name in secrets() if given.get(f"{name}_file")}
        return {**given, **read}

    @model_validator(mode="after")
    def _lake_has_a_catalogue(self) -> Self:
        if self.analytics == "ducklake" and not self.database_url.startswith("postgresql"):
            raise ValueError(
                "WMS_ANALYTICS=ducklake keeps the lake's catalogue in the PostgreSQL of WMS_STATE_URL: set "
                "WMS_STATE_URL=postgresql+psycopg://user:password@host/database"
            )
        if self.analytics == "ducklake" and self.files_url and not self.files_url.startswith(("s3:", "file:")):
            raise ValueError(
                "WMS_ANALYTICS=ducklake supports only S3 and folders, but WMS_FILES_URL names a different store: set "
                "WMS_ANALYTICS=file"
            )
        place = self.files_url or str(self.data_dir)
        if self.analytics == "ducklake" and (
            wild := [character for character in LAKE_TAKES_AS_PATTERN if character in place]
        ):
            raise ValueError(
                f"WMS_ANALYTICS=ducklake cannot keep files in {place}: DuckLake treats {' and '.join(wild)} as a "
                "pattern, and would keep deleted files or delete the files of others. Choose another "
                f"{'WMS_FILES_URL' if self.files_url else 'WMS_DATA_DIR'}"
            )
        return self

    @field_validator("*", mode="before")
    @classmethod
    def _is_meant(cls, value: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - of any field
        """Refuse a value that is probably not what was meant. Its message hides the value, which may be secret."""
        if not isinstance(value, str | Path):
            return value
        text = str(value)
        if info.field_name != "alert_urls" and _CONTROL.search(text):  # these may stand on lines of their own
            raise ValueError("contains a line break or another control character: write it without")
        if _QUOTED.fullmatch(text):
            raise ValueError("stands in quotes, which are taken for a part of it: write it without")
        if _VARIABLE.match(text):
            raise ValueError("starts with the name of a $VARIABLE, which is not replaced by its value: write the value")
        return value

    @field_validator("alert_urls", "analytics", "files_url", "report", "state_url")
    @classmethod
    def _extra_is_installed(cls, value: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - of any of these fields
        extra = _extra_of(str(info.field_name), value)
        if extra is not None and (said := lacks(extra)):
            raise ValueError(said)
        return value

    @field_validator("base_url", "files_endpoint")
    @classmethod
    def _origin_is_safe(cls, value: str | None) -> str | None:
        return None if value is None else checked_base_url(value)

    @field_validator("alert_webhook_url", "heartbeat_url")
    @classmethod
    def _address_is_safe(cls, value: SecretStr | None) -> SecretStr | None:
        """Refuse an invalid address, and http except to loopback. It may be secret, so the message hides it."""
        if value is None:
            return None
        url = urlsplit(value.get_secret_value().strip())
        if url.scheme not in {"http", "https"} or not url.hostname:
            raise ValueError("must look like https://hooks.example.com/...")
        if url.scheme == "http" and not _is_loopback(url.hostname):
            raise ValueError("must be https: plain http would send the address in the clear (allowed to loopback only)")
        return value

    @field_validator("alert_urls")
    @classmethod
    def _are_urls(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not all("://" in url for url in value.get_secret_value().split()):
            raise ValueError("must be URLs that apprise accepts, such as slack://..., separated by spaces")
        return value

    @field_validator("metrics_url", "ui_url")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        url = urlsplit(value.strip())
        is_http = url.scheme in {"http", "https"} and url.hostname
        if not is_http or url.username or url.password or url.query or url.port == 0:  # `port` refuses a wrong one
            raise ValueError("must look like https://host.example.com, without credentials or query")
        return value.strip().rstrip("/")

    @field_validator("start_date")
    @classmethod
    def _has_begun(cls, value: date) -> date:
        if value > datetime.now(UTC).date():
            raise ValueError("is in the future: it must be today (UTC) or earlier")
        return value

    @field_validator("memory_limit")
    @classmethod
    def _memory_is_enough(cls, value: str) -> str:
        if memory_bytes(value) < LEAST_MEMORY:
            raise ValueError("must be at least 300MB")
        return value

    @field_validator("asset_owners")
    @classmethod
    def _owners_are_known_to_dagster(cls, value: str) -> str:
        if wrong := next((owner for owner in _parts(value) if not _OWNER.fullmatch(owner)), None):
            raise ValueError(f"{wrong!r} is neither an e-mail address nor team:NAME")
        return value

    @field_validator("warehouse_timezones")
    @classmethod
    def _warehouses_have_zones(cls, value: str) -> str:
        parse_warehouse_timezones(value)
        return value

    @field_validator("data_dir", "master_data_dir")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        try:
            found = None if value is None else value.expanduser().absolute()
            str(found).encode()
        except RuntimeError:
            raise ValueError("starts with ~, but the home folder is unknown: write the whole path") from None
        except FileNotFoundError:
            raise ValueError("is relative to the current folder, which was deleted: change to another folder") from None
        except UnicodeEncodeError:
            raise ValueError(
                "is not UTF-8: rename the folder, or, if its name is right, set LC_ALL=C.UTF-8, because Python does "
                "not decode such letters with the current locale"
            ) from None
        if "?" in str(found):
            raise ValueError(
                "contains a question mark, at which DuckDB cuts off the path of its log: rename the folder"
            )
        return found

    @classmethod
    def load(cls, *, _env_file: str | None = ENV_FILE, **overrides: object) -> Self:
        """Read the environment and ``.env``; the environment wins over the file, and ``overrides`` win over both.

        Raise ``SettingsError`` with every misspelt variable or, if there is none, with every wrong value.
        """
        unread = {f"{name}_file": None for name in secrets() if name in overrides}
        try:
            in_file = values_in(None if _env_file is None else Path(_env_file), PREFIX)
            if wrong := misspelt({PREFIX + name.upper() for name in cls.model_fields}, PREFIX, in_file):
                raise SettingsError(_listed(wrong))
            return cls.model_validate({**given(PREFIX, in_file), **unread, **overrides})
        except ValidationError as error:
            raise SettingsError(_explain(error)) from None

    @staticmethod
    def leave_to_env_file() -> None:
        """Remove Dagster's copy of ``.env`` from the environment, so that ``load`` reads the file each time."""
        with suppress(SettingsError):  # `load` reports it
            leave_to_env_file(PREFIX, Path(ENV_FILE))

    @property
    def owners(self) -> tuple[str, ...]:
        """Return the owners of the assets in Dagster's catalogue."""
        return _parts(self.asset_owners)

    @property
    def timezones(self) -> WarehouseTimezones:
        """Return the time zones of the warehouses."""
        return parse_warehouse_timezones(self.warehouse_timezones)

    @property
    def start(self) -> datetime:
        """Return midnight UTC of ``start_date``, the first day to read."""
        return datetime(self.start_date.year, self.start_date.month, self.start_date.day, tzinfo=UTC)

    @property
    def layout(self) -> Layout:
        """Return the paths below the data folder, and the store of raw pages and Parquet files."""
        here = Layout(self.data_dir)
        if self.files_url is None:
            return here
        return Layout(self.data_dir, bucket_files(self.files_url, self.files_endpoint, here.copies))

    @property
    def database_url(self) -> str:
        """Return the SQLAlchemy URL of the state store: SQLite in the data folder unless ``WMS_STATE_URL`` is set."""
        if self.state_url is not None:
            return self.state_url.get_secret_value()
        return f"sqlite:///{quote(str(self.layout.state))}"  # the path may have characters with a meaning in a URL

    @property
    def clock_tolerance(self) -> timedelta:
        """Return how far the service's clock may be ahead of this machine's and still be trusted."""
        return timedelta(seconds=self.clock_tolerance_seconds)

    @property
    def has_merchant(self) -> bool:
        """Return whether the Merchant API is configured."""
        return self.merchant_username is not None and self.merchant_api_key is not None

    def require_base_url(self) -> str:
        """Return the base URL. Raise ``SettingsError`` if it is not set."""
        if self.base_url is None:
            raise SettingsError(
                "WMS_BASE_URL is not set. Set it to your instance, for example WMS_BASE_URL=https://acme.example.com "
                "(in the environment or in .env), or try `wms-sync demo`, which needs no service."
            )
        return self.base_url

    def require_service(self) -> tuple[str, SecretStr]:
        """Return the base URL and token. Raise ``SettingsError`` for the first that is not set."""
        base_url = self.require_base_url()
        if self.api_token is None:
            raise SettingsError(
                "WMS_API_TOKEN is not set. Create a Custom Global Integration in the service and put its access "
                "token into WMS_API_TOKEN (in the environment or in .env)."
            )
        return base_url, self.api_token

    def reread_token(self) -> SecretStr | None:
        """Read ``api_token_file`` again. Return None if it is not set, or cannot be read while it is replaced."""
        with suppress(ValueError):
            if self.api_token_file is not None:
                return SecretStr(_secret_in({"api_token_file": self.api_token_file}, "api_token"))
        return None

    def require_merchant(self) -> tuple[str, str, SecretStr]:
        """Return base URL, username and key of the Merchant API. Raise ``SettingsError`` if one of them is not set."""
        base_url = self.require_base_url()
        if self.merchant_username is None:
            raise SettingsError("WMS_MERCHANT_USERNAME is not set. Set it to the username of the merchant's API user.")
        if self.merchant_api_key is None:
            raise SettingsError("WMS_MERCHANT_API_KEY is not set. Set it to the API key of that API user.")
        return base_url, self.merchant_username, self.merchant_api_key


def logs_json() -> bool:
    """Return whether ``WMS_LOG_FORMAT`` is ``json``, even if other settings are wrong: a log reports them too."""
    in_file: dict[str, str | None] = {}
    with suppress(SettingsError):
        in_file = values_in(Path(ENV_FILE), PREFIX)
    return given(PREFIX, in_file).get("log_format") == "json"


def secrets() -> tuple[str, ...]:
    """Return the names of the secret settings. Each can be read from a file, whose path is ``<name>_file``."""
    return tuple(name for name, field in Settings.model_fields.items() if field.annotation == SecretStr | None)


def _extra_of(name: str, value: Any) -> str | None:  # noqa: ANN401 - of any field
    """Return the extra that a setting needs with this value; None if it needs none."""
    if name == "state_url":
        is_postgres = value is not None and value.get_secret_value().startswith("postgresql")
        return "postgres" if is_postgres else None
    if name == "analytics":
        return "lake" if value == "ducklake" else None
    return {"alert_urls": "alerts", "files_url": "files", "report": "report"}[name] if value else None


def _secret_in(given: dict[str, Any], name: str) -> str:
    variable = f"{PREFIX}{name.upper()}"
    path = Path(given[f"{name}_file"]).expanduser()
    if given.get(name):
        raise ValueError(f"{variable} and {variable}_FILE are both set, in the environment or in .env: unset one")
    try:
        content = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:  # the error contains the whole file, so it is not chained
        raise ValueError(f"{variable}_FILE: {path} is not UTF-8") from None
    except OSError as error:
        raise ValueError(f"{variable}_FILE: {path} cannot be read ({error.strerror})") from None
    if not content:
        raise ValueError(f"{variable}_FILE: {path} is empty")
    return content


def _parts(value: str) -> tuple[str, ...]:
    """Return the parts of a comma-separated list."""
    return tuple(part.strip() for part in value.split(",") if part.strip())


def checked_base_url(value: str) -> str:
    """Return an origin in canonical form, because each key of the ledger contains it.

    Raise ``ValueError`` for anything else. The origin must use https, which keeps the token private; plain http is for
    loopback only.
    """
    url = urlsplit(value.strip())
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise ValueError("must look like https://acme.example.com")
    if "@" in url.netloc or url.query or url.fragment or url.path.strip("/"):
        raise ValueError("must be the bare address of the instance, without path, credentials or query")
    try:
        host, port = _canonical_host(url.hostname), url.port
    except ValueError:
        raise ValueError(
            "has an invalid host name, IP address or port: type it by hand, in ASCII letters, without invisible letters"
        ) from None
    if url.scheme == "http" and not _is_loopback(host):
        raise ValueError("must be https: plain http would send secrets in the clear (allowed to loopback only)")
    if url.scheme == "http" and host == LOCALHOST:  # with https, the certificate may have only the given name
        host = "127.0.0.1"
    shown = f"[{host}]" if ":" in host else host
    return f"{url.scheme}://{shown}" if port in {None, DEFAULT_PORTS[url.scheme]} else f"{url.scheme}://{shown}:{port}"


def _canonical_host(given: str) -> str:
    """Return the one spelling of a host name or IP address. Raise ``ValueError`` if it cannot be one."""
    host = given.removesuffix(".")
    if ":" in host or _NUMERIC.fullmatch(host):  # the resolver also takes 127.1 and 0x7f000001 for addresses
        return str(ipaddress.ip_address(host))
    if not _HOST.fullmatch(host):
        raise ValueError(host)
    for label in host.split("."):
        if label.startswith("xn--"):
            from httpx import URL  # slow to import

            _ = URL(f"https://{label}").host  # decodes the label, as each request does
    return host


def memory_bytes(limit: str) -> int:
    """Return a memory limit such as ``500MB`` or ``1.5 GiB`` in bytes."""
    number, unit = limit.rstrip("KMGTiB "), limit.lstrip("0123456789. ")
    return int(float(number) * (1024 if "i" in unit else 1000) ** (1 + "KMGT".index(unit[0])))


def is_same_service(name: str, other: str) -> bool:
    """Return whether two origins are the same service.

    Ignore the port of loopback addresses: a sandbox gets a different port each time.
    """
    return _without_loopback_port(name) == _without_loopback_port(other)


def _without_loopback_port(base_url: str) -> str:
    url = urlsplit(base_url)
    return base_url.removesuffix(f":{url.port}") if _is_loopback(url.hostname or "") else base_url


def _is_loopback(host: str) -> bool:
    if host == LOCALHOST:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _explain(error: ValidationError) -> str:
    lines = []
    for problem in error.errors(include_input=False, include_url=False):
        name = PREFIX + str(problem["loc"][0]).upper() if problem["loc"] else "settings"
        lines.append(f"{name}: {problem['msg'].removeprefix('Value error, ')}")
    return _listed(lines)


def _listed(lines: Iterable[str]) -> str:
    return "Wrong settings (environment or .env):\n  " + "\n  ".join(lines)
