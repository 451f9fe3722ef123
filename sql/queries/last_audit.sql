-- grain: one row: the newest compared audit, and the progress of its round
-- source: ops.audits, shipments
-- notes: a round ends with the slice that reaches the largest BIGINT.
--     Each number is counted separately: DuckDB knows the number of rows, and skips blocks that the round has passed
with newest as (
    select *
    from ops.audits
    where compared is not null
    order by read_at desc
    limit 1
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
    newest.voided,
    (
        select count(*)
        from main.shipments
        where id <= (select to_id from newest)
    ) as round_shipments,
    (select count(*) from main.shipments) as shipments,
    (select count(_missing_since) from main.shipments) as missing_in_all
from newest
