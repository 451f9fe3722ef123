-- grain: one row per shipment of the slice, in the tables or on its pages, with a verdict
-- keys: id
-- source: the slice's Parquet files of shipments, and the table before they are merged
-- notes: {incoming} and {quarantine} are empty if the slice has no shipment or no misfit; verdict is null if both sides have the same version, whose rows are then compared.
--     A shipment whose updated_at did not fit its type is not reported as missed, because it is in quarantine.
--     Absent excludes shipments already known to be missing, and shipments that were quarantined whole, unless the
--     slice has them as a stub that says deleted
create or replace temp table audit_slice as
with incoming as (
    select
        id,
        updated_at
    from {incoming}
),

stored as (
    select
        id,
        updated_at
    from shipments
    where id > $after_id and id <= $to_id and (updated_at is null or updated_at >= $start)
),

left_out as (
    select object_id as id
    from {quarantine}
    where
        object = 'Shipment'
        and object_id is not null
        and why <> $says_deleted
        and regexp_full_match(path, '\$\.collection\[\d+\]')
)

select
    coalesce(incoming.id, stored.id) as id,
    case
        when incoming.id is null then 'absent'
        when stored.id is not null and incoming.updated_at is not distinct from stored.updated_at then null
        when
            incoming.updated_at is null
            and incoming.id in (select audit_misfits.id from audit_misfits where audit_misfits.root = 'shipments')
            then 'did not fit'
        when incoming.updated_at >= $settled_at then 'moved on'
        when stored.updated_at > incoming.updated_at then 'moved back'
        else 'missed'
    end as verdict
from incoming
full join stored on incoming.id = stored.id
where
    incoming.id is not null
    or (
        stored.id not in (select unnest($known_missing::bigint[]))
        and stored.id not in (select left_out.id from left_out)
    )
