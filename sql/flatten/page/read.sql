-- grain: one row a page
-- source: raw pages of a batch, as received or repaired
-- notes: strict: a value that does not fit fails the read loudly; a join with the batch would copy every page once more
insert into page by name
with raw as (
    select
        list_position($files, filename) as place,
        collection,
        included
    from read_json(
        $files,
        columns = {'collection': 'shipment[]', 'included': 'included'},
        format = 'unstructured',
        maximum_object_size = $largest,
        filename = true
    )
)

select
    $window_id as _window_id,
    list_extract($numbers, place)::integer as _page,
    list_extract($extracted_at, place)::timestamptz as _extracted_at,
    collection,
    unnest(included)
from raw
