"""What is remembered between runs: windows and their pages, and the ledger of creates.

SQLAlchemy over SQLite or PostgreSQL. Belongs here: durable facts about the work. Does not: data of the service (raw
pages, Parquet, DuckDB), nor anything that follows from what is stored (coverage and the sync cursor are computed).
"""
