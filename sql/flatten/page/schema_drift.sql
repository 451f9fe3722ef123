-- grain: one row per unknown key of a page, or known key whose values were cast
-- source: shipments/flatten/repair.py
insert into ops.schema_drift by name
select
    $page_key as page_key,
    unnest($paths) as path,
    unnest($examples) as example,
    unnest($occurrences)::bigint as occurrences,
    unnest($whys) as why,
    $window_id as _window_id,
    $page::integer as _page,
    $extracted_at::timestamptz as _extracted_at
