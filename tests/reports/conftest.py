"""What the tests of reports share: the service of a module, as in ``tests/shipments``."""

from tests.shipments.conftest import sandbox

__all__ = ["sandbox"]
