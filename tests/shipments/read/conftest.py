"""Reading in twelve pages: as many as of more and larger ones, which would prove no more."""

from itertools import count

import pytest
from starlette.responses import Response

from tests.bench import FEWER, Bench
from wms_sync.service.errors import ServiceFailed

SHIPMENTS = FEWER.shipments


@pytest.fixture
def bench(bench):
    bench.settings = bench.settings.model_copy(update={"page_size": SHIPMENTS // 12})
    return bench


def ids(sandbox) -> list[int]:
    """Those of all shipments."""
    return list(sandbox.sandbox._store.ids.tolist())


def change_midway(sandbox, **passes: float) -> list[int]:
    """Let this happen in the service once a second page is asked for; the ids of what changes then."""
    changed: list[int] = []

    def change(request):
        if "cursor_start" in request.query_params and not changed:
            changed.extend(sandbox.sandbox.advance(**passes).changed)

    sandbox.sandbox.intercept = change
    return changed


def read_until_down(bench, sandbox, served: int, asks=lambda query: True, read=Bench.read) -> None:
    """A read that fails: the service is down after so many requests with such a query, and up again afterwards."""
    numbers = count(1)
    sandbox.sandbox.intercept = lambda request: (
        Response("down", 500) if asks(request.url.query) and next(numbers) > served else None
    )
    with pytest.raises(ServiceFailed):
        read(bench)
    sandbox.sandbox.intercept = None
