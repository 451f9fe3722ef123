-- grain: one row per order with a later version in the slice than in the tables, which a sync should have read
-- source: the slice's Parquet files of orders, and the table before they are merged
-- notes: the order changed before the sync's overlap, but no shipment of it has a new updated_at
with incoming as (
    select
        id,
        max(updated_at) as updated_at
    from {incoming}
    group by id
)

select incoming.id
from incoming
inner join orders as stored
    on incoming.id = stored.id
where stored.updated_at < incoming.updated_at and incoming.updated_at < $settled_at
order by incoming.id
