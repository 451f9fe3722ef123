"""The state between runs: windows, pages, audits, the ledger of creates, locks and epochs.

SQLAlchemy over SQLite or PostgreSQL. Belongs here: durable facts about the work. Keep out: data of the service (raw
pages, Parquet, DuckDB), and anything that can be computed from stored facts (coverage, the sync cursor).
"""
