-- grain: one row per shipment or order of the slice with a value that did not fit its type
-- keys: root, id
-- source: the slice's Parquet files of ops.quarantine, shipments and order_items
-- notes: the names in braces are empty if the slice has no such rows. A path gives the position of a shipment on its
--     page, which is ordered by id; a record that was quarantined whole has a position but no row
create or replace temp table audit_misfits as
with misfit as (
    select
        object,
        object_id,
        _page,
        try_cast(regexp_extract(path, '^\$\.collection\[(\d+)\]', 1) as bigint) as place,
        regexp_full_match(path, '\$\.collection\[\d+\]') as is_whole
    from {quarantine}
),

whole as (
    select distinct
        _page,
        place
    from misfit
    where is_whole
),

counted as (
    select _page
    from {shipments}
    union all
    select _page
    from whole
),

place as (
    select
        _page,
        unnest(range(count(*))) as place
    from counted
    group by _page
),

taken as (
    select
        place._page,
        place.place,
        row_number() over (partition by place._page order by place.place) as nth
    from place
    anti join whole
        on place._page = whole._page and place.place = whole.place
),

shipment as (
    select
        id,
        _page,
        row_number() over (partition by _page order by id) as nth
    from {shipments}
)

select
    'shipments' as root,
    shipment.id
from misfit
inner join taken
    on misfit._page = taken._page and misfit.place = taken.place
inner join shipment
    on taken._page = shipment._page and taken.nth = shipment.nth
union
select
    'orders' as root,
    object_id as id
from misfit
where object = 'Order' and object_id is not null
union
select
    'orders' as root,
    item.order_id as id
from misfit
inner join {order_items} as item
    on misfit.object_id = item.id
where misfit.object = 'OrderItem'
