"""Open a DuckDB file of wms-sync, for reading or for writing.

A *foreign log* is the log that another program left next to the published file when it wrote to an earlier one.
wms-sync always checkpoints the file before publishing, so it never leaves a log itself. DuckDB replays a log into the
file next to it without checking that they belong together: readers then see rows that no load wrote, or an internal
error. So the log is renamed before anything is read. It is not deleted, because it may be someone's work.
"""

from __future__ import annotations

import itertools
import logging
import os
import secrets
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from wms_sync.layout import FOREIGN_LOG, Layout, spill
from wms_sync.storage.durable import Inaccessible, accessing, make_private, make_private_file
from wms_sync.targets.database import complete, is_as_defined
from wms_sync.targets.errors import DatabaseForbidden, DatabaseNewer, DatabaseOpenError

logger = logging.getLogger(__name__)

_HEADER = struct.Struct("<8x4sQ")
# A core usually has two virtual processors, and two threads on one core merge no faster than one.
THREADS = max(1, (os.cpu_count() or 1) // 2)


BLOCK = "65536"
"""The block size of a new file in bytes; DuckDB's default is 262144. Each column that a load writes costs a block, in
memory and processor time. With this size a nightly load costs a quarter less and the file is 7% larger; with smaller
blocks the file is twice as large. Existing files keep their block size until they are compacted or rebuilt; DuckDB 1.1
reads both sizes."""
_DAMAGE = (duckdb.IOException, duckdb.Error)
"""What DuckDB 1 and DuckDB 2 raise for a damaged file; the other kinds of ``duckdb.Error`` say more."""
HOW_TO_WRITE = "connect with read_only=True; to write, use a copy"


@contextmanager
def open_for_writing(
    path: Path, *, memory_limit: str, called: Path | None = None, is_complete: bool = False
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the database at ``path``, create missing objects, and checkpoint and close it at the end.

    ``called`` is the path to show in errors if the file is a copy. ``is_complete`` says that this run has created the
    missing objects. Raise ``DatabaseOpenError`` or ``TablesNewer``.
    """
    try:
        connection = duckdb.connect(path, config=settings_of(path, memory_limit))  # type: ignore[arg-type]
    except duckdb.Error as error:
        shown = called or path
        _refuse_newer(path, shown)
        raise _unreadable(shown, _error_text(error, path, shown)) from None
    try:
        connection.execute("set timezone = 'UTC'")
        if not (is_complete or is_as_defined(connection)):
            connection.begin()  # hundreds of statements with a commit each take ten times as long
            complete(connection)
            connection.commit()
        yield connection
        connection.execute("checkpoint")
    finally:
        connection.close()


def settings_of(path: Path, memory_limit: str) -> dict[str, str]:
    """Return DuckDB's settings for writing the file at ``path``."""
    return {
        "memory_limit": memory_limit,
        "threads": str(THREADS),
        "temp_directory": str(make_private(spill(path.parent))),
        "preserve_insertion_order": "false",
        "checkpoint_threshold": "64MB",  # a commit of this size goes straight into the file, without the log
        "default_block_size": BLOCK,
        "storage_compatibility_version": "v0.10.2",  # DuckDB 2 would write what DuckDB 1 cannot read
        "experimental_metadata_reuse": "false",  # DuckDB 1.1 to 1.3 cannot read what it writes
        "autoinstall_known_extensions": "false",
        "python_enable_replacements": "false",  # the lookup of variables as tables imports numpy
    }


@contextmanager
def open_for_reading(
    layout: Layout, path: Path, *, memory_limit: str | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an existing database of wms-sync for reading; times are UTC. Raise ``DatabaseOpenError``.

    With ``memory_limit``, queries take no more than that and spill into the writer's folder, like the queries of a
    load.

    An analyst who has the published file open for writing (as root) locks everyone else out; then a copy is read. A log
    that another program left next to the published file is renamed first.
    """
    if path == layout.published:
        report_foreign_log(layout)
    try:
        with _connected(layout, path, memory_limit) as connection:
            connection.execute("set timezone = 'UTC'")
            yield connection
    except duckdb.Error as error:  # damage may appear only in a query
        if type(error) not in _DAMAGE:
            raise
        raise _unreadable(path, str(error)) from None


def _connected(layout: Layout, path: Path, memory_limit: str | None) -> duckdb.DuckDBPyConnection:
    config = settings_of(layout.work / path.name, memory_limit) if memory_limit else {}
    try:
        return duckdb.connect(path, read_only=True, config=config)  # type: ignore[arg-type]
    except duckdb.Error:
        _refuse_forbidden(path)
        _refuse_newer(path, path)
        copy = make_private_file(make_private(layout.work) / f"reading-{secrets.token_hex(4)}.duckdb")
    try:
        shutil.copyfile(path, copy)  # as of the last checkpoint: newer changes are in the log next to the file
        return duckdb.connect(copy, read_only=True, config=config)  # type: ignore[arg-type]
    except (duckdb.Error, OSError) as error:
        raise _unreadable(path, _error_text(error, copy, path)) from None
    finally:
        copy.unlink()  # an open file stays readable after this, until it is closed


def _refuse_forbidden(path: Path) -> None:
    """Raise ``DatabaseForbidden`` if this user may not read the file, rather than report it damaged or in use."""
    try:
        path.open("rb").close()
    except PermissionError as error:
        raise DatabaseForbidden(str(Inaccessible.by(path, error))) from None
    except OSError:  # copying the file reports it with advice
        return


def _refuse_newer(path: Path, shown: Path) -> None:
    """Raise ``DatabaseNewer`` if the file's storage version is later than the latest that this DuckDB writes."""
    with suppress(duckdb.Error, OSError), TemporaryDirectory() as folder:  # such as a full temporary folder
        latest = Path(folder) / "latest.duckdb"
        duckdb.connect(latest, config={"storage_compatibility_version": "latest"}).close()
        if (_storage_version(path) or 0) > (_storage_version(latest) or 0):
            raise DatabaseNewer(shown, duckdb.__version__)


def _storage_version(path: Path) -> int | None:
    """Return the number after the magic bytes (DuckDB's documentation of its storage); None if there is none."""
    with suppress(OSError, struct.error), path.open("rb") as file:
        magic, version = _HEADER.unpack(file.read(_HEADER.size))
        return int(version) if magic == b"DUCK" else None
    return None


def _unreadable(path: Path, reason: str) -> DatabaseOpenError:
    return DatabaseOpenError(
        f"{path} cannot be read ({reason}). If another program is changing it, close that program and try again. If it "
        "is damaged, move it to another folder and run `wms-sync sync`, which publishes the tables again."
    )


def _error_text(error: Exception, path: Path, shown: Path) -> str:
    """Return the text of an error with ``shown`` in place of ``path``."""
    return f"{type(error).__name__}: {error}".replace(str(path), str(shown))


def report_foreign_log(layout: Layout) -> None:
    """Rename the log next to the published file, if there is one, and report it.

    Raise ``Inaccessible`` if it cannot be renamed.
    """
    log = layout.published_log
    if not log.exists():
        return
    names = itertools.chain([log.name], (f"{log.name}.{number}" for number in itertools.count(2)))
    kept = next(path for name in names if not (path := log.with_name(f"{name}{FOREIGN_LOG}")).exists())
    with suppress(FileNotFoundError), accessing(log):  # another process may have renamed it first
        log.rename(kept)
        logger.warning(log_notice(kept, layout.published))


def log_notice(kept: Path, published: Path) -> str:
    """Return a message that explains the renamed log and gives advice."""
    return (
        f"Someone wrote to {published.name}, which only a load replaces. The changes are kept in {kept} and are "
        f"not in any table. Advice for the writer: {HOW_TO_WRITE}. Delete the log if nobody needs it."
    )
