"""Dagster alone: what runs, when, in which order, and what people see of it in the UI.

Belongs here: assets, checks, jobs, schedules, sensors. Does not: HTTP, SQL text, business rules, and what the command
line can do without Dagster. The body of an asset takes resources, makes one call to the library, and returns a result
with metadata. `pipelines` imports `wms_sync`, never the other way round, and of Dagster only what it documents.

    definitions      builds the Definitions from settings; `workspace.yaml` loads it
    asset_keys       the keys of all assets: group and name
    operation        the resource of every step: settings, the run of the library, its failures
    shipments        the source assets: what changed since the sync cursor, and days read again
    tables           one asset a table and mart, all made by one step
    coverage         checks of coverage, on what changed
    master_data      the assets of master data: CSV files are planned, and pushed if that is switched on
    metadata         converts the library's reports to metadata
    jobs             nightly_sync, backfill_days, rebuild_tables, pushes, and their schedules
    sensors          nights tried again, alerts, hourly upkeep, automation conditions
    master_data_files    the sensor that starts a run for new and changed files
    dead_runs        marks killed runs as failed, and finds what ended them
    reporting        reports to the catalogue what a command made
    home             prepares DAGSTER_HOME with `dagster.yaml`
"""
