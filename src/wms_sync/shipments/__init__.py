"""Shipments from the service to the tables, in the order in which one reads it.

    read      windows of time -> raw pages
    flatten   raw pages -> Parquet
    load      Parquet -> tables, checked and published
    audit     a slice of old shipments -> raw pages, compared by the next load
    sync      read, load and audit, in their order

Each step imports only those before it.
"""
