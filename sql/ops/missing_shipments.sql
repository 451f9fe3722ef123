-- grain: one row a time that a shipment was proven missing from the service, also when it returned later
-- keys: shipment_id, window_id
-- source: the state store
-- notes: those without returned_at are marked shipments._missing_since
create table ops.missing_shipments (
    shipment_id bigint not null, -- The shipment; joins shipments.id.
    window_id varchar not null, -- The audit that did not find it; joins audits.window_id.
    missing_since timestamptz not null, -- When the service was asked for it by id and did not have it, by its own clock, UTC.
    returned_at timestamptz -- When a page of the service showed it again, UTC; null while it is missing.
)
