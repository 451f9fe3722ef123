"""Shipments on their way from the service to the tables, in reading order.

    read      windows of time -> raw pages
    flatten   raw pages -> Parquet
    load      Parquet -> tables, checked and published
    audit     a slice of old shipments -> raw pages, compared by the next load

Each step imports only earlier steps.
"""
