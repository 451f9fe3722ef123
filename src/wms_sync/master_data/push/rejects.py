"""The file of rejected rows: the rows as they were written, with their reasons in an extra column.

Once corrected, the file can be pushed as it is: the extra column is ignored. It comes first, so that a row with too
many cells keeps them in place. A byte-order mark keeps Excel from reading the file as Windows-1252.
"""

from __future__ import annotations

import csv
import glob
import io
from collections.abc import Mapping
from pathlib import Path

from wms_sync.durable import make_private, write_whole
from wms_sync.layout import Layout
from wms_sync.master_data.check.header import REASONS
from wms_sync.master_data.check.rows import Checked
from wms_sync.master_data.file.csv_file import canonical

LONGEST_STEM = 80


def write_rejects(layout: Layout, checked: Checked, run_id: str, reasons: Mapping[int, str]) -> Path | None:
    """Write the rows with ``reasons`` (by line) and return the path; None if no row could be corrected there.

    If the same rows with the same reasons are in the file of an earlier push, or in the pushed file itself, nothing is
    written, and that is the path.
    """
    file = checked.file
    lines = [line for line in sorted(reasons) if line in file.cells]
    if not lines or checked.header_is_wrong:
        return None
    earlier = next((at for at, name in enumerate(file.header) if canonical(name) == REASONS), None)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=file.delimiter)
    writer.writerow([REASONS, *_without(file.header, earlier)])
    writer.writerows([reasons[line], *_without(file.cells[line], earlier)] for line in lines)
    content, folder = text.getvalue().encode("utf-8-sig"), make_private(layout.rejects)
    stem = f"{checked.kind}-{file.path.stem[:LONGEST_STEM]}"
    # an id is matched by its length: a stem may be the beginning of another one
    earlier_files = sorted(folder.glob(f"{glob.escape(stem)}-{'?' * len(run_id)}.csv"))
    pushed = [file.path] if file.path.absolute().parent == folder.absolute() else []
    for known in (*pushed, *earlier_files):
        if known.stat().st_size == len(content) and known.read_bytes() == content:
            return known
    path = folder / f"{stem}-{run_id}.csv"
    write_whole(path, content)
    return path


def _without(cells: tuple[str, ...], position: int | None) -> list[str]:
    """Drop the reasons of an earlier push of the same rows."""
    return [cell for at, cell in enumerate(cells) if at != position]
