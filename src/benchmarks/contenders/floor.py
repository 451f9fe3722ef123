"""The floor: download the pages, land them compressed, decode them once into the types of `sql/types`. Nothing else.

No state, no sync to disk, no guards, no rows: the minimum for any program in Python that reads these pages into typed
values. Four threads read a window each; when its pages are there, the thread takes one of as many decoders as there are
processors. `--outputs` is the floor of a program that keeps something: Parquet files and a database (`outputs`).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from time import thread_time
from typing import Any

from benchmarks.contenders.listing import Listing
from benchmarks.contenders.objects import KINDS, Objects, Repetitions
from benchmarks.contenders.outputs import Outputs
from wms_sync.intervals import Interval

DATABASE = "floor.duckdb"
OUTPUTS = "--outputs"


class Floor:
    """One run. `seconds` are CPU seconds by phase, since the phases overlap."""

    def __init__(self, folder: Path, *, with_outputs: bool) -> None:
        self.seconds = {"read": 0.0, "decode": 0.0, "load": 0.0}
        self.shipments = 0
        self._folder = folder
        self._landing = folder / "raw"
        self._landing.mkdir(parents=True)
        self._outputs = Outputs(folder / "parquet") if with_outputs else None
        self._lock = Lock()
        repetitions = Repetitions()
        self._decoders = SimpleQueue[Objects]()
        for _ in range(os.cpu_count() or 1):
            self._decoders.put(Objects(repetitions))

    def run(self) -> None:
        """Read, decode and perhaps keep everything."""
        windows = self._listing().windows()
        with ThreadPoolExecutor(int(os.environ["WMS_MAX_PARALLEL_REQUESTS"])) as pool:
            list(pool.map(self._window, (f"{number:04d}" for number in range(len(windows))), windows))
        if self._outputs:
            with self._timed("load"):
                self._outputs.load(self._folder / DATABASE)

    def _listing(self) -> Listing:
        return Listing(self._landing, KINDS)

    def _window(self, window_id: str, window: Interval) -> None:
        with self._timed("read"):
            pages = list(self._listing().pages(window_id, window))
        decoder = self._decoders.get()
        with self._timed("decode"):
            shipments = self._decode(decoder, window_id, pages)
        self._decoders.put(decoder)
        with self._lock:
            self.shipments += shipments

    def _decode(self, decoder: Objects, window_id: str, pages: Sequence[Any]) -> int:
        decoder.put(pages)
        if not self._outputs:
            return decoder.decode()
        self._outputs.write(decoder, window_id, len(pages))
        return sum(len(page.collection) for page in pages)

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        started = thread_time()
        yield
        with self._lock:
            self.seconds[phase] += thread_time() - started


def main(result: Path, *, with_outputs: bool) -> None:
    """Run once over everything. Write the phases, and the rows if no database holds them, to `result`."""
    floor = Floor(Path(os.environ["WMS_DATA_DIR"]), with_outputs=with_outputs)
    floor.run()
    rows = {} if with_outputs else {"shipments": floor.shipments}
    result.write_text(json.dumps({"phases": floor.seconds, "rows": rows}))


if __name__ == "__main__":
    main(Path(sys.argv[-1]), with_outputs=OUTPUTS in sys.argv)
