-- grain: one row per proof that a shipment is missing from the service, by an audit or by a stub of a deleted shipment, including shipments that returned later
-- keys: shipment_id, window_id
-- source: the state store
-- notes: shipments._missing_since is set while returned_at is null
create table ops.missing_shipments (
    shipment_id bigint not null, -- The shipment; joins shipments.id.
    window_id varchar not null, -- Window of the audit that did not find it (joins ops.audits.window_id), or with the stub.
    missing_since timestamptz not null, -- When the service did not return the shipment by id, or served the stub (UTC, by the service's clock).
    returned_at timestamptz -- When a page contained the shipment again (UTC); null while it is missing.
)
