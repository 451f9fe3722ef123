-- grain: one row per check: what it found when the tables were last loaded
-- keys: name
-- source: the load step
-- notes: a check that found nothing in the tables is then asked only of what a load may have changed; one that found something is asked of whole tables until it finds nothing
create table ops.checks (
    "name" varchar not null, -- The check, named as a sentence.
    table_slug varchar not null, -- Table that it is about; schema and name are joined by _ unless the schema is main.
    severity varchar not null, -- error or warn.
    blocking boolean not null, -- Whether the tables are not published while it finds something.
    offending bigint not null, -- Number of rows that offend.
    rows_asked bigint not null, -- Number of rows of the table that it was asked about.
    asked varchar not null, -- What it was asked about: whole tables, or the rows of the load.
    whole_at timestamptz not null, -- When it was last asked of whole tables (UTC, by this machine's clock).
    rows_in_table bigint not null, -- Number of rows of the table at that load.
    release varchar not null, -- Release of wms-sync and digest of its checks; with another one, whole tables are asked.
    finding varchar -- What is wrong, with a few values; null if it found nothing.
)
