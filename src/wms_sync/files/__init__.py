"""Raw pages, Parquet files and their manifests by key, wherever they lie.

A key is the place below the data folder: ``raw/shipments/<window>/page-00001.json.gz``. Belongs here: how files are put
once, read, listed and deleted. Does not: which files there are (``layout``) and what is in them.
"""
