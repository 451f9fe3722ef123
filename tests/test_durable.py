"""Who may read what is written."""

from __future__ import annotations

import os
import stat

import pytest

from wms_sync.durable import make_private, share_with_group, write_whole


@pytest.mark.parametrize(
    ("folder", "expected"), [(0o700, 0o600), (0o755, 0o600), (0o2700, 0o600), (0o2750, 0o640), (0o2755, 0o640)]
)
def test_a_file_is_shared_with_a_group_only_where_its_folder_was_given_to_one(tmp_path, folder, expected):
    path = tmp_path / "shared" / "file"
    path.parent.mkdir()
    path.parent.chmod(folder)
    path.touch()
    share_with_group(path.parent, path)
    assert stat.S_IMODE(path.stat().st_mode) == expected
    assert path.stat().st_gid == path.parent.stat().st_gid


def test_folders_are_private_all_the_way_down(tmp_path):
    before = os.umask(0)
    try:
        folder = make_private(tmp_path / "a" / "b" / "c")
        write_whole(folder / "file", b"x")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.parents[:2])] == [0o700] * 3
    assert stat.S_IMODE((folder / "file").stat().st_mode) == 0o600
