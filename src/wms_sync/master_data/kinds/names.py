"""The names of the kinds, for commands and reports that need nothing else of them: all of ``table`` takes long to
import, and a night pushes nothing. A test compares the two.
"""

from __future__ import annotations

NAMES = ("location-tags", "retailers", "products")
"""In the order of ``table``."""
IN_SHIPMENTS = ("retailers", "products")
"""Those that shipments show."""
