"""Durable writes, and files by key in a folder or a bucket.

A key is the place below the data folder: ``raw/shipments/<window>/page-00001.json.gz``. Belongs here: how files are
written once, read, listed and deleted. Keep out: which files there are (``layout``) and what they contain.
"""
