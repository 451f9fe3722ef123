-- grain: one row per check, with its result at the latest load
-- keys: name
-- source: the load step
-- notes: after a check has found nothing in whole tables, each load checks only the rows that it may have changed; after a finding, whole tables are checked until there is none
create table ops.checks (
    "name" varchar not null, -- The check, named as a sentence.
    table_slug varchar not null, -- The checked table; schema and name are joined by _ unless the schema is main.
    severity varchar not null, -- error or warn.
    blocking boolean not null, -- Whether a finding prevents the tables from being published.
    offending bigint not null, -- Number of offending rows.
    rows_asked bigint not null, -- Number of checked rows of the table.
    asked varchar not null, -- The checked rows: whole tables, or the rows of the load.
    whole_at timestamptz not null, -- When whole tables were last checked (UTC, by this machine's clock).
    rows_in_table bigint not null, -- Number of rows of the table at that load.
    release varchar not null, -- Release of wms-sync and digest of its checks; a load with a different release or digest checks whole tables.
    finding varchar -- The finding, with a few values; null if there is none.
)
