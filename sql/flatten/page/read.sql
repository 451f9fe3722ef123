-- grain: one row a page
-- source: raw pages of a batch, as received or repaired
-- notes: strict: a value that does not fit fails the read loudly
insert into page by name
with batch as (
    select
        unnest($files) as filename,
        unnest($numbers) as number,
        unnest($extracted_at) as extracted_at
),

raw as (
    select
        filename,
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
    batch.number::integer as _page,
    batch.extracted_at::timestamptz as _extracted_at,
    raw.collection,
    unnest(raw.included)
from raw
inner join batch on raw.filename = batch.filename
