-- grain: one row per check, with its result at the latest load
-- keys: name
-- source: the load step
create table ops.checks (
    "name" varchar not null, -- The check, named as a sentence.
    table_slug varchar not null, -- The checked table; schema and name are joined by _ unless the schema is main.
    severity varchar not null, -- error or warn.
    blocking boolean not null, -- Whether a finding prevents the tables from being published.
    offending bigint not null, -- Number of offending rows.
    rows_in_table bigint not null, -- Number of rows of the table at that load.
    finding varchar -- The finding, with a few values; null if there is none.
)
