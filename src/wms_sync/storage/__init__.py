"""Durable writes, and files by key in a folder or a bucket.

A key is a path relative to the data folder: ``raw/shipments/<window>/page-00001.json.gz``. Belongs here: writing files
once, reading, listing and deleting them. Keep out: which files exist (``layout``) and what they contain.
"""
