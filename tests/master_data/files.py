"""CSV files that tests write and have checked."""

from pathlib import Path

from wms_sync.master_data.check import CheckedFile, check
from wms_sync.master_data.csv_file import CsvFile, read_csv
from wms_sync.master_data.kind import Kind

SAMPLES = Path(__file__).parents[2] / "src" / "wms_sync" / "master_data" / "samples"


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read(folder: Path, content: str | bytes) -> CsvFile:
    path = folder / "given.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_csv(path)


def checked(folder: Path, kind: Kind, *lines: str) -> CheckedFile:
    return check(read(folder, "".join(f"{line}\n" for line in lines)), kind)
