"""Dagster and the command line: what runs, when, in which order, and what people see of it.

What belongs here: assets, checks, jobs, schedule, sensors, the `wms-sync` command. What does not: HTTP, SQL text, rules
of the business. An asset's body is resources in, one call of the library, a result with metadata out. `pipelines`
imports `wms_sync`, never the other way round.

    definitions      everything below put together from settings; what `workspace.yaml` loads
    operation        the resource: settings, who watches, what a run leaves behind
    days             daily partitions, and ranges of them as one run
    shipment_pages   the partitioned asset: raw pages, and the tables behind them in the same run
    tables           the unpartitioned assets: one a table and a mart, one step
    coverage         checks of what is covered, on shipment_pages
    master_data      the assets of master data: CSV files planned, and pushed where that is switched on
    stopping         the polite end of a push
    metadata         reports of the library as metadata
    jobs             shipments, tables, rebuild, a push of each kind
    schedules        nightly
    sensors          the tables follow the pages; coverage is watched
    master_data_files    new and changed files start a run
    alerts           the webhook that hears of failed runs
    failures         errors of the library as failures of a step
    instance         a home for Dagster: telemetry off, no retries, fast storage
    event_log        Dagster's SQLite storage, fast for many tables and many days
    running          jobs in this process, for the command line and tests
"""
