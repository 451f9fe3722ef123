-- grain: the newest audit that was compared, and how far its round is
-- source: ops.audits, shipments
-- notes: a round ends with the slice that reaches the largest BIGINT
with newest as (
    select *
    from ops.audits
    where compared is not null
    qualify row_number() over (order by read_at desc) = 1
)

select
    newest.window_id,
    newest.run_id,
    newest.read_at,
    newest.after_id,
    nullif(newest.to_id, 9223372036854775807) as to_id,
    newest.compared,
    newest.changed,
    newest.orders_changed,
    newest.missed,
    newest.absent,
    newest.missing,
    count(*) filter (where shipments.id <= newest.to_id) as round_shipments,
    count(shipments.id) as shipments,
    count(shipments._missing_since) as missing_in_all
from newest
left join shipments on true
group by all
