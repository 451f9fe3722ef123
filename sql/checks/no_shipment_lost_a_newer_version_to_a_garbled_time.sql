-- severity: warn
-- blocking: no
-- table: shipments
-- description: No shipment, order or retailer is outdated because a newer version of it had an unreadable updated_at.
-- wrong: {count} newer [version|versions] with an unreadable updated_at did not replace the stored [version|versions]
-- named: {object} {object_id}
-- notes: such a version is ranked ten minutes before it was read, so the stored version has an updated_at after that time; an audit or a backfill repairs this
with stored as (
    select
        'Shipment' as object,
        id,
        updated_at,
        _extracted_at
    from shipments
    union all
    select
        'Order',
        id,
        updated_at,
        _extracted_at
    from orders
    union all
    select
        'Retailer',
        id,
        updated_at,
        _extracted_at
    from retailers
)

select
    quarantine.object,
    quarantine.object_id,
    quarantine.text,
    quarantine._window_id,
    quarantine._page,
    stored.updated_at as shown_updated_at
from ops.quarantine
inner join stored
    on quarantine.object = stored.object and quarantine.object_id = stored.id
where
    quarantine.path like '%.updated_at'
    and stored._extracted_at < quarantine._extracted_at
