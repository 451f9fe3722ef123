"""What the system refuses is said in our own words."""

import errno
import os
import threading

import pytest

from wms_sync.errors import NoThread, OutOfMemory, TooManyFiles
from wms_sync.targets.errors import reported_refusals

LARGER_THAN_ANY_MACHINE = 1 << 46


def test_what_the_system_refuses_is_told():
    with pytest.raises(OutOfMemory), reported_refusals():
        b"." * LARGER_THAN_ANY_MACHINE
    before = threading.stack_size(LARGER_THAN_ANY_MACHINE)
    try:
        with pytest.raises(NoThread), reported_refusals():
            threading.Thread().start()
    finally:
        threading.stack_size(before)
    with pytest.raises(RuntimeError, match="something else"), reported_refusals():
        raise RuntimeError("something else")
    with pytest.raises(TooManyFiles, match="ulimit -n"), reported_refusals():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "page-00001.json.gz")
