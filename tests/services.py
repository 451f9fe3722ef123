"""The two forms in which tests reach a sandbox: in this process, or on a socket. Both have `sandbox` and `base_url`."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from starlette.responses import Response

from wms_sandbox.server import SandboxServer
from wms_sandbox.store import Store
from wms_sandbox.transport import InProcess

Service = InProcess | SandboxServer


def transport_to(service: Service) -> httpx.BaseTransport | None:
    """What the requests to a service go through; None is a socket."""
    return service if isinstance(service, InProcess) else None


def content_of(answer: Response) -> bytes:
    """The body of an answer of the sandbox, unpacked."""
    body = bytes(answer.body)
    return gzip.decompress(body) if "content-encoding" in answer.headers else body


@contextmanager
def data_of(service: Service) -> Iterator[Store]:
    """The service's own data, to change without a trace in ``updated_at``."""
    held = service.sandbox._store
    with service.sandbox._lock:
        yield held
        held.version += 1
