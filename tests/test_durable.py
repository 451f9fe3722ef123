"""Who may read what is written."""

import os
import stat

import pytest

from tests.bench import no_file_larger_than
from wms_sync.reports.doctor import examine, names_left
from wms_sync.settings import Settings
from wms_sync.storage.durable import Inaccessible, make_private, share_with_group, write_whole


@pytest.mark.parametrize(
    ("folder", "expected"), [(0o700, 0o400), (0o755, 0o400), (0o2700, 0o400), (0o2750, 0o440), (0o2755, 0o440)]
)
def test_a_file_is_shared_as_its_folder_is(tmp_path, folder, expected):
    path = tmp_path / "shared" / "file"
    path.parent.mkdir()
    path.parent.chmod(folder)
    path.touch()
    share_with_group(path.parent, path)
    assert (stat.S_IMODE(path.stat().st_mode), path.stat().st_gid) == (expected, path.parent.stat().st_gid)


@pytest.mark.parametrize(("files", "left"), [((10_000, 3, 3), 3), ((10_000, 5_000, 5_000), None), ((0, 0, 0), None)])
def test_a_file_system_with_few_names_left(files, left):
    """`No space left on device`, while there is room: the message alone sends nobody to its cause.

    ``files`` is how many a file system takes, how many more, and how many more of who is not root.
    """
    assert names_left(os.statvfs_result((4096, 4096, 9, 9, 9, *files, 0, 255))) == left


def test_a_file_without_room_leaves_nothing(tmp_path):
    path = tmp_path / "dictionary.html"
    with no_file_larger_than(100), pytest.raises(Inaccessible, match=rf"^{path} cannot be used \(File too large\)"):
        write_whole(path, bytes(1000))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "work").touch()
    with pytest.raises(Inaccessible, match=f"^{data}/work cannot be used .*check its kind"):
        make_private(data / "work" / "queue")
    settings = Settings.load(_env_file=None, data_dir=data)
    failed = {one.name: one.text for one in examine(settings) if one.severity == "error"}
    assert failed["disk"].startswith(f"{data}/work cannot be used (not a folder)")
