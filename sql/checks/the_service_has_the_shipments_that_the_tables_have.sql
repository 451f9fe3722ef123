-- severity: warn
-- blocking: no
-- table: ops_audits
-- description: The service counts as many shipments as the tables have, and the latest audit found every shipment of its slice.
-- wrong: The tables differ from the service: the latest audit did not find {absent} [shipment|shipments] and proved {missing} missing; by the service's counts {gone_from_the_service} [is|are] gone and {never_read} [was|were] never read
-- notes: fewer in the service: shipments were deleted there; those proven missing are marked now, the others when the audit round reaches them. Absent but not missing: there is no proof. More in the service: shipments were never read, returned although marked, or are only in ops.quarantine
with newest as (
    select *
    from ops.audits
    where read_at = (select max(read_at) from ops.audits)
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
    newest.window_id,
    newest.absent,
    newest.missing,
    greatest(newest.total_in_tables - newest.total_counted, 0) as gone_from_the_service,
    greatest(newest.settled_counted - newest.settled_in_tables - put_aside.records, 0) as never_read,
    newest.examples
from newest
cross join put_aside
where
    newest.absent > 0
    or newest.total_in_tables > newest.total_counted
    or newest.settled_counted > newest.settled_in_tables + put_aside.records
