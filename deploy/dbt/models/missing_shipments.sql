-- grain: one row per shipment that the service no longer has
{{ config(materialized='table') }}
select
    cast(missing ->> 'shipment_id' as bigint) as shipment_id,
    cast(missing ->> 'missing_since' as timestamptz) as missing_since
from (
    select unnest(cast(about -> 'missing_shipments' as json[])) as missing
    from (
        select about
        from ({{ lists() }})
        where about is not null
        order by listed_at desc
        limit 1
    )
)
