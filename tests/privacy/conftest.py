"""The service of a module, as in ``tests/shipments``."""

from tests.shipments.conftest import sandbox

__all__ = ["sandbox"]
