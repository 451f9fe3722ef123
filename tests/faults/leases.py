"""Faults in writing: files that a kill leaves half, and writers that do not wait for each other."""

from tests.faults.fault import Fault

KILLED = "`kill -9`, anywhere"
OVERTAKEN = (
    "the lock of a suspended run is deleted, or its file system or its session in PostgreSQL loses it, and another run "
    "takes over"
)
SOAK = '`make soak SOAK="-k overtaken"`'
LEASES = ("tests/state/test_leases.py",)
STEPS = ("tests/survival/test_order_of_steps.py",)

FAULTS = (
    Fault(
        "a page is recorded before it is synced",
        (KILLED,),
        "src/wms_sync/storage/durable.py",
        "        os.fsync(file.fileno())\n",
        "",
        STEPS,
    ),
    Fault(
        "a renamed file's new name is not synced",
        (KILLED,),
        "src/wms_sync/storage/durable.py",
        "    temporary.replace(path)\n    sync(path.parent)\n",
        "    temporary.replace(path)\n",
        STEPS,
    ),
    Fault(
        "the published file is renamed before it is synced",
        (KILLED,),
        "src/wms_sync/targets/file.py",
        "        sync(self._private)\n",
        "",
        STEPS,
    ),
    Fault(
        "a page is written in place",
        (KILLED, '`make soak SOAK="-k random"`'),
        "src/wms_sync/state/leases.py",
        "            write_synced(temporary, content)\n            self.put_in_place(temporary, path)\n",
        "            self.check()\n            write_synced(path, content)\n",
        LEASES,
    ),
    Fault(
        "a load changes the published file itself, not a copy",
        (KILLED, OVERTAKEN, SOAK),
        "src/wms_sync/targets/file.py",
        "            if self.is_published and not from_scratch:\n",
        "            private = self._layout.published\n            if False:\n",
        ("tests/shipments/load/test_merge.py::test_a_load_begins_without_what_one_that_was_overtaken_has_committed",),
    ),
    Fault(
        "the folder of a dead run is left as it is",
        ("files of a dead run stay in `work/`, or a stale lock",),
        "src/wms_sync/state/leases.py",
        "        self._take_earlier_folders_away()\n        self.folder",
        "        make_private(self.folder.parent)\n        self.folder",
        LEASES,
    ),
    Fault(
        "a run does not wait for the one that writes",
        ("a night, a backfill and a sync by hand start at once",),
        "src/wms_sync/state/lock.py",
        "        if _try_lock(file, fcntl.LOCK_EX):\n            return file\n",
        "        return file\n",
        ("tests/state/test_lock.py::test_second_writers_wait_one_by_one",),
    ),
    Fault(
        "a run that was overtaken puts its files in place",
        (OVERTAKEN, SOAK),
        "src/wms_sync/state/leases.py",
        '        """Move a synced file from the lease\'s folder to ``path``."""\n        self.check()\n',
        '        """Move a synced file from the lease\'s folder to ``path``."""\n',
        LEASES,
    ),
    Fault(
        "a run that was overtaken deletes files",
        (OVERTAKEN,),
        "src/wms_sync/state/leases.py",
        "        self.check()\n        away",
        "        away",
        LEASES,
    ),
    Fault(
        "a run that was overtaken writes to the state store",
        (OVERTAKEN,),
        "src/wms_sync/state/leases.py",
        "            self.lease.verify(connection)\n",
        "",
        LEASES,
    ),
)
