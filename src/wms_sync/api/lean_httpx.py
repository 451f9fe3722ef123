"""httpx without its own command line, which imports rich and pygments where they are installed."""

from wms_sync.optional import without

with without("httpx._main"):
    import httpx as httpx
