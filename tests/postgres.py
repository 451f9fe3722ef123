"""A PostgreSQL server of the tests' own, on a socket in a temporary folder; nothing listens on a port."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

UNPRIVILEGED = 65534


def programs() -> Path | None:
    """The folder of initdb and pg_ctl, wherever a distribution puts it."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else None


def plain(url: str) -> str:
    """The URL as PostgreSQL's own clients read it."""
    return url.replace("+psycopg", "")


def end_sessions(url: str, which: str) -> None:
    """End those sessions of the database: as an administrator does, or a restart, or PostgreSQL itself when a machine
    answers no more."""
    import psycopg  # takes long, and few tests need it

    with psycopg.connect(plain(url), autocommit=True) as connection:
        ended = connection.execute(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity where pid <> pg_backend_pid() "
            f"and datname = current_database() and backend_type = 'client backend' and {which}"
        ).fetchall()
    assert ended


@contextmanager
def postgres_where_installed() -> Iterator[str]:
    """A server while the block lasts; its test is skipped where PostgreSQL is absent."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed here (initdb not found); .ci/run installs it")
    beside = os.environ.get("PYTEST_DEBUG_TEMPROOT")  # in memory, where tests keep their files
    with tempfile.TemporaryDirectory(prefix="pg", dir=beside) as folder, postgres(Path(folder) / "server") as url:
        yield url


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Run a server; gives its SQLAlchemy URL. PostgreSQL refuses to run as root, so root steps down."""
    binaries = programs()
    assert binaries is not None
    data = folder / "data"
    data.mkdir(parents=True)
    as_root = os.geteuid() == 0
    user = UNPRIVILEGED if as_root else None
    if as_root:
        folder.parent.chmod(0o755)
        os.chown(folder, UNPRIVILEGED, UNPRIVILEGED)
        os.chown(data, UNPRIVILEGED, UNPRIVILEGED)
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    initdb = [str(binaries / "initdb"), "-D", str(data), "-U", "wms", "-A", "trust", "-E", "UTF8", "--no-sync"]
    start = [str(binaries / "pg_ctl"), "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start"]
    stop = [str(binaries / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, user=user, group=user)
    subprocess.run(start, check=True, stdout=subprocess.DEVNULL, user=user, group=user)
    try:
        yield f"postgresql+psycopg://wms@/postgres?host={folder}"
    finally:
        subprocess.run(stop, check=True, stdout=subprocess.DEVNULL, user=user, group=user)
