-- grain: one row a name of field selection that the service refuses
-- keys: parameter
-- source: the state store
-- notes: what it would bring is not brought up to date; it is tried again once a day
create table ops.narrowed_fields (
    parameter varchar not null, -- The query parameter, as fields:order.brand.
    asked varchar not null, -- What is asked for instead, comma-separated; empty where it is left out.
    lost varchar not null, -- The tables, or the columns of one, that it does not bring.
    said varchar not null, -- The service's words.
    since timestamptz not null, -- When it was refused first, UTC.
    tried_at timestamptz not null -- When it was tried last, UTC.
)
