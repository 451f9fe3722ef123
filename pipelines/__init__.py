"""Dagster and the command line: what runs, when, in which order, and what people see of it.

Belongs here: assets, checks, jobs, schedule, sensors, the `wms-sync` command. Does not: HTTP, SQL text, business rules.
The body of an asset takes resources, makes one call to the library, and returns a result with metadata. `pipelines`
imports `wms_sync`, never the other way round.

    definitions      builds the Definitions from settings; `workspace.yaml` loads it
    asset_keys       the keys of all assets, behind the name of the instance where it has one
    operation        the resource of every step: settings, progress watchers, the run of the library
    progress_lines   progress as lines of text
    days             daily partitions, and ranges of them as one run
    shipment_pages   the partitioned asset: raw pages, and the tables loaded from them in the same run
    shown_days       the materialisations of days, each with its own numbers
    event_batch      logs what a step shows as one batch
    tables           the unpartitioned assets: one per table and mart, all made by one step
    coverage         checks of coverage, on shipment_pages
    master_data      the assets of master data: CSV files are planned, and pushed if that is switched on
    stopping         signals that end a push in an orderly way
    metadata         converts the library's reports to metadata
    jobs             sync_now, backfill, tables, rebuild, one push job per kind
    schedules        nightly
    nights           tries a scheduled night again
    sensors          load the tables after the pages, watch coverage and show covered days, mark dead runs
    master_data_files    starts a run for new and changed files
    sources          who started a run and what for, as its tags
    dead_runs        marks killed runs as failed, and finds what ended them
    alerts           sends alerts, and records runs that could not do so themselves
    failures         turns errors of the library into failures of a step
    instance         prepares DAGSTER_HOME: telemetry off, no retries, fast storage
    history          deletes old runs of Dagster's history
    home             the folder of DAGSTER_HOME
    home_state       whether the schedule is on and the daemon runs, without Dagster
    installed        how the program was installed, for what it says to do next
    event_log        Dagster's SQLite storage, made fast for many tables and many days
    running          runs jobs in this process, for the command line with a home, and tests
    directly         runs the same without Dagster, for the command line without a home
    local_sandbox    the sandbox as a child process
    ui               `wms-sync ui`, `make ui`
    cli/             the command line
"""
