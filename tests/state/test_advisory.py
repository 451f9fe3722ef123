"""Locks of a real PostgreSQL: what becomes of a run whose session is lost, and poolers."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from time import sleep

import pytest

from tests.bench import logged
from tests.postgres import end_sessions
from tests.survival.installation import wait_until
from wms_sync.layout import Layout
from wms_sync.state.advisory import PostgresLock
from wms_sync.state.errors import StateError, StateSilent
from wms_sync.state.lock import lock_of
from wms_sync.state.schema import observations
from wms_sync.state.store import StateStore

POOL = """[databases]
postgres = host={folder} user=wms
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 4
logfile = {folder}/pool.log
pidfile = {folder}/pool.pid
"""


WRITES = "not query like '%pg_try_advisory_lock(hash%'"
IMPATIENT = "&options=-c%20idle_in_transaction_session_timeout%3D300"


@pytest.mark.parametrize(
    ("options", "ends"),
    [("", partial(end_sessions, which=WRITES)), (IMPATIENT, lambda _: sleep(1))],
    ids=["somebody ends it", "it is idle"],
)
def test_a_lost_session_rolls_back_and_is_replaced(postgres_url, tmp_path, options, ends):
    """PostgreSQL ends one that is idle in a transaction with an error of a class of its own.

    One that is lost between two statements fails nothing.
    """
    name = tmp_path.name

    def night() -> None:
        layout = Layout(tmp_path)
        with (
            lock_of(postgres_url, layout).hold("the night", run_id="one") as held,
            StateStore.opened(postgres_url + options) as opened,
            opened.leased(layout, held) as store,
        ):
            store.observe(name, 1, "before")
            with store._transaction() as connection:
                connection.execute(observations.delete().where(observations.c.name == name))
                ends(postgres_url)

    with pytest.raises(StateSilent, match=r"does not answer \("):
        night()
    with StateStore.opened(postgres_url) as store:
        assert store.observation(name) is not None, "the deletion was rolled back"
        end_sessions(postgres_url, WRITES)
        assert store.observation(name) is not None
    with lock_of(postgres_url, Layout(tmp_path)).hold("the next"):
        pass


def test_a_wait_that_is_ended_is_reported(postgres_url, tmp_path):
    lock = lock_of(postgres_url, Layout(tmp_path))
    with lock.hold("the night"), ThreadPoolExecutor(1) as pool, logged() as waiting:
        waits = pool.submit(ExitStack().enter_context, lock.hold("the next"))
        wait_until("it waits", 30, lambda: bool(waiting))
        end_sessions(postgres_url, "(query like '%the next%' or query like '%pg_locks%')")
        with pytest.raises(StateError, match="does not answer"):
            waits.result(30)
        assert "the night" in str(lock.holder())


@pytest.fixture
def pool(postgres_url, request) -> Iterator[str]:
    """PgBouncer before the server; gives its URL."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is not installed here; .ci/run installs it")
    folder = Path(postgres_url.partition("host=")[2])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    configuration = folder / "pool.ini"
    configuration.write_text(POOL.format(folder=folder, port=port, mode=request.param))
    configuration.chmod(0o644)  # a command that a test has run in this process may have set a umask

    def answers() -> bool:
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", port)) == 0

    with subprocess.Popen([program, "-q", str(configuration)], user=65534, group=65534) as process:
        wait_until("the pooler answers", 30, answers)
        yield f"postgresql+psycopg://wms@127.0.0.1:{port}/postgres"
        process.terminate()


@pytest.mark.parametrize("pool", ["transaction"], indirect=True)
def test_a_pooler_that_shares_sessions_is_refused(pool):
    with pytest.raises(StateError, match="pool with pool_mode session"), PostgresLock(pool).hold("night"):
        pass


@pytest.mark.parametrize("pool", ["session"], indirect=True)
def test_a_pooler_with_separate_sessions_is_accepted(pool, postgres_url):
    with PostgresLock(pool).hold("night"):
        assert "night" in str(PostgresLock(postgres_url).holder())
    assert PostgresLock(pool).holder() is None
