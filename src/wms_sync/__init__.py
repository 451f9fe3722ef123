"""Batch data sync between a warehouse fulfillment service and Parquet, DuckDB and CSV; imports no Dagster."""
