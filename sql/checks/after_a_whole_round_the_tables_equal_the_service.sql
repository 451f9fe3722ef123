-- severity: warn
-- blocking: no
-- table: ops_audits
-- description: At the end of the last complete audit round, the service counted exactly the shipments in the tables that are not marked missing.
-- wrong: After the last whole audit round the tables differ from the service: {unproven} absent [shipment is|shipments are] not marked missing, {gone_from_the_service} [is|are] gone from the service and {never_read} [was|were] never read
-- notes: the next round finds shipments that were deleted, or returned, after their slice was read; unproven counts absent shipments of the round that are not marked missing; the merge has already repaired the differences of the last slice
with numbered as (
    select
        *,
        count(*) filter (where to_id = 9223372036854775807)
            over (order by read_at rows between unbounded preceding and 1 preceding)
            as round
    from ops.audits
),

ended as (
    select *
    from numbered
    where to_id = 9223372036854775807 and compared is not null
    qualify row_number() over (order by read_at desc) = 1
),

whole as (
    select
        round,
        sum(absent - missing) as unproven
    from numbered
    group by round
),

there as (
    select id
    from shipments
    where _missing_since is null
),

undated as (
    select id
    from shipments
    where updated_at is null
),

put_aside as (
    select count(distinct coalesce(object_id::varchar, text)) as records
    from ops.quarantine
    where
        object = 'Shipment'
        and (
            (
                regexp_full_match(path, '\$\.collection\[\d+\]')
                and (object_id is null or object_id not in (select there.id from there))
            )
            or (
                regexp_full_match(path, '\$\.collection\[\d+\]\.updated_at')
                and object_id in (select undated.id from undated)
            )
        )
)

select
    ended.window_id,
    whole.unproven,
    greatest(ended.total_in_tables - ended.total_counted, 0) as gone_from_the_service,
    greatest(ended.settled_counted - ended.settled_in_tables - ended.missed - put_aside.records, 0) as never_read
from ended
inner join whole on ended.round = whole.round
cross join put_aside
where
    whole.unproven > 0
    or ended.total_in_tables > ended.total_counted
    or ended.settled_counted > ended.settled_in_tables + ended.missed + put_aside.records
