"""A PostgreSQL server of the tests' own, on a socket in a temporary folder; nothing listens on a port."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest


def plain(url: str) -> str:
    """The URL as PostgreSQL's own clients read it."""
    return url.replace("+psycopg", "")


def connected(url: str) -> Any:
    """A connection to the database, in which each statement is committed."""
    import psycopg  # takes long, and few tests need it

    return psycopg.connect(plain(url), autocommit=True)


def end_sessions(url: str, which: str) -> None:
    """End those sessions of the database: as an administrator does, or a restart, or PostgreSQL itself when a machine
    answers no more."""
    with connected(url) as connection:
        ended = connection.execute(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity where pid <> pg_backend_pid() "
            f"and datname = current_database() and backend_type = 'client backend' and {which}"
        ).fetchall()
    assert ended


@contextmanager
def postgres_where_installed() -> Iterator[str]:
    """A server while the block lasts; gives its SQLAlchemy URL. Its test is skipped where PostgreSQL is absent.

    PostgreSQL refuses to run as root, so root steps down.
    """
    folders = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)  # where Debian puts it
    initdb = shutil.which("initdb", path=os.pathsep.join([os.environ["PATH"], *folders]))
    if initdb is None:
        pytest.skip("PostgreSQL is not installed here (initdb not found); .ci/run installs it")
    user = 65534 if os.geteuid() == 0 else None
    run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL, user=user, group=user)
    # in memory, where tests keep their files
    with tempfile.TemporaryDirectory(prefix="pg", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as folder:
        if user is not None:
            os.chown(folder, user, user)
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        control = [str(Path(initdb).with_name("pg_ctl")), "-D", f"{folder}/data"]
        run([initdb, "-D", f"{folder}/data", "-U", "wms", "-A", "trust", "-E", "UTF8", "--no-sync"])
        run([*control, "-o", options, "-l", f"{folder}/log", "-w", "start"])
        try:
            yield f"postgresql+psycopg://wms@/postgres?host={folder}"
        finally:
            run([*control, "-m", "immediate", "stop"])
