"""What the program remembers between runs: windows, pages, audits, the ledger of creates, locks and epochs.

SQLAlchemy over SQLite or PostgreSQL. Belongs here: durable facts about the work. Does not: data of the service (raw
pages, Parquet, DuckDB), nor anything that can be computed from stored facts (coverage, the sync cursor).
"""
