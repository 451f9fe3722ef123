"""``wms-sync backup`` and ``wms-sync restore`` killed anywhere: nothing half done looks whole, and the next one is.

After a killed backup every backup that has a record is whole, and another one deletes what was left. After a killed
restore either the folder is as it was, or the restore has ended, or no command reads or writes until it is repeated;
analysts have a published file at every moment.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable

from tests.survival.installation import ENDED, KILLED, Installation, kill_at_each, moments_of, rows
from tests.survival.moments import Moment
from wms_sync.upkeep.backups import Backups

Install = Callable[..., Installation]
FAILED = 1
SHARE = {
    "backup": (Moment("backup > write_whole > put_in_place: before replace", 2),),
    "restore": (Moment("restore > _swap > _replace_files: before rename", 2),),
}


def chosen(title: str, command: tuple[str, ...], installation: Installation, soak: bool) -> list[Moment]:
    return moments_of(command, installation) if soak else list(SHARE[title])


def test_a_backup_killed_at_each_moment_by_name(install: Install, tmp_path, request):
    installation = install()
    kills = chosen("backup", ("backup", str(tmp_path / "listed")), installation, request.config.getoption("--soak"))

    def survive(number: int, kill: Moment) -> bool:
        folder = tmp_path / f"kept{number}"
        command = ("backup", str(folder))
        process = installation.run(*command, kill=kill)
        assert process.exitcode in {*ENDED, KILLED}, installation.log.read_text()
        kept = Backups.at(folder)
        if kept.layout.backups():
            assert installation.run("verify", str(folder)).exitcode == 0, installation.log.read_text()
        assert installation.run(*command).exitcode == 0, installation.log.read_text()
        assert installation.run("verify", str(folder)).exitcode == 0, installation.log.read_text()
        assert kept.layout.unfinished() == []
        shutil.rmtree(folder)
        return process.exitcode == KILLED

    kill_at_each("backup", kills, survive)


def test_a_restore_killed_at_each_moment_by_name(install: Install, tmp_path, request):
    whole = install()
    before = rows(whole.layout)
    kept = str(tmp_path / "kept")
    assert whole.run("backup", kept).exitcode == 0, whole.log.read_text()
    command = ("restore", kept)
    listed = install("listed")
    kills = chosen("restore", (*command, "--over", str(listed.data)), listed, request.config.getoption("--soak"))

    def survive(number: int, kill: Moment) -> bool:
        installation: Installation = install(f"data{number}")
        over = (*command, "--over", str(installation.data))
        process = installation.run(*over, kill=kill)
        assert process.exitcode in {*ENDED, KILLED}, installation.log.read_text()
        assert rows(installation.layout) == before
        if installation.layout.restoring.exists():
            assert installation.run("rebuild").exitcode == FAILED, installation.log.read_text()
            assert installation.run("backup", str(tmp_path / "never")).exitcode == FAILED
        else:
            assert installation.run("verify").exitcode == 0, installation.log.read_text()
        assert installation.run(*over).exitcode in ENDED
        assert not installation.layout.staged.root.exists()
        assert rows(installation.layout) == before
        installation.assert_coverage_is_true()
        shutil.rmtree(installation.data)
        return process.exitcode == KILLED

    kill_at_each("restore", kills, survive)
