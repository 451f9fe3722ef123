"""Reading in twelve pages: as many as of more and larger ones, which would prove no more."""

import pytest

from tests.bench import FEWER

SHIPMENTS = FEWER.shipments


@pytest.fixture
def bench(bench):
    bench.settings = bench.settings.model_copy(update={"page_size": SHIPMENTS // 12})
    return bench
