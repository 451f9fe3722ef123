-- grain: one row an object of one kind, as it stands in the pages of the batch
-- keys: none: an object may stand on several pages
-- source: the kind's file of flatten/objects.py, a line an object
-- notes: strict: a value that does not fit fails the read loudly; names in braces are identifiers and literals
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
