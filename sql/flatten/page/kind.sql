-- grain: one row per object of one kind on the pages of the batch
-- keys: none: several pages may contain the same object
-- source: the kind's file written by flatten/objects.py, one object per line
-- notes: strict: a value that does not fit its type makes the read fail; names in braces are quoted identifiers and literals
create or replace view {schema}.{kind} as
select
    page as _page,
    object
from read_json(
    {file},
    columns = {{'page': 'integer', 'object': {type}}},
    format = 'newline_delimited',
    records = true,
    auto_detect = false,
    maximum_object_size = {largest}
)
