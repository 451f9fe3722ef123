-- grain: one row per field selection parameter that the service refuses
-- keys: parameter
-- source: the state store
-- notes: the data it would bring is not updated; wms-sync tries the parameter again once a day
create table ops.narrowed_fields (
    parameter varchar not null, -- Query parameter, such as fields:order.brand.
    asked varchar not null, -- Value requested instead, comma-separated; empty if the parameter is left out.
    lost varchar not null, -- Tables, or columns of a table, that are not updated because of it.
    said varchar not null, -- Error message of the service.
    since timestamptz not null, -- When the service first refused it (UTC).
    tried_at timestamptz not null -- When it was last tried (UTC).
)
