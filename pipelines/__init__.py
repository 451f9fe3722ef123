"""The Dagster code location: assets, checks, jobs, schedules and sensors, and their metadata in the UI.

Belongs here: code that needs Dagster. Keep out: HTTP, SQL text, business rules, and everything that the command line
does without Dagster. The body of an asset takes resources, makes one call to the library, and returns a result with
metadata. This package imports `wms_sync`, never the other way round, and uses only Dagster's documented interface. It
is installed as `wms_sync_pipelines`, because a folder in which an operator works may have its own `pipelines`.

    definitions      builds the Definitions from settings; `workspace.yaml` loads it
    asset_keys       the keys of all assets: group and name
    operation        the resource of every step: settings, the run of the library, its failures and retries
    shipments        the source assets: changes since the sync cursor, and days to read again
    tables           one asset for each table and mart, all loaded by one step
    coverage         checks of coverage, on the asset changed_shipments
    master_data      the assets of master data: CSV files are planned, and pushed if enabled or approved
    metadata         converts the library's reports to metadata
    jobs             nightly_sync, backfill_days, load_tables, rebuild_tables, plans, pushes, maintain, the schedules
    sensors          tables that follow reads, alerts, hourly upkeep
    master_data_files    the sensor that starts a run for new and changed files
    dead_runs        marks killed runs as failed, and finds the cause
    reporting        reports the results of commands to the catalogue
    home             prepares DAGSTER_HOME with `dagster.yaml`
"""
