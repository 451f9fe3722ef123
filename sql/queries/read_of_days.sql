-- grain: one row per day of updated_at (UTC) and page
-- keys: updated_on, window_id, page
-- source: the Parquet files of shipments of some windows
-- notes: a shipment on several pages of one day counts on the page that was read last
with shown as (
    select
        id,
        cast(updated_at at time zone 'UTC' as date) as updated_on,
        _window_id as window_id,
        _page as page,
        _extracted_at as extracted_at
    from read_parquet($files, union_by_name = true)
    where updated_at is not null
    qualify row_number() over (partition by id, updated_on order by extracted_at desc, window_id desc) = 1
)

select
    updated_on,
    window_id,
    page,
    count(*) as records
from shown
group by updated_on, window_id, page
