-- grain: one row per value or record of a page that does not fit its type
-- source: shipments/flatten/repair.py
insert into ops.quarantine by name
select
    $page_key as page_key,
    unnest($positions)::integer as position,
    unnest($objects) as object,
    unnest($object_ids)::bigint as object_id,
    unnest($paths) as path,
    unnest($texts) as text,
    unnest($whys) as why,
    $window_id as _window_id,
    $page::integer as _page,
    $extracted_at::timestamptz as _extracted_at
