-- grain: one row per create that was sent, as recorded in the state store when the file was published
-- keys: service, kind, key
-- source: the state store
-- notes: state intended means that a push is running or was killed; it counts as in doubt
create table ops.push_ledger (
    service varchar not null, -- Address of the instance to which the create was sent.
    kind varchar not null, -- Kind of master data, as in wms-sync push KIND, such as products.
    key varchar not null, -- Natural key: name, code or sku.
    state varchar not null, -- intended, created, exists (existed already), refused, undone (the service failed and created nothing), doubt (no answer) or unproven (no answer, and the service refused the second attempt without a reason).
    body json not null, -- Fields from the CSV file; references by natural key.
    body_sha256 varchar not null, -- SHA-256 of body, hexadecimal.
    remote_id bigint, -- Id in the service; null if no answer gave the id and no page has shown the object.
    run_id varchar not null, -- Run that last sent the create (Dagster run id).
    attempts integer not null, -- Number of pushes that sent the create, or were about to when they ended.
    message varchar, -- Message of the service, or how the doubt was settled.
    intended_at timestamptz not null, -- When the intent was recorded, just before sending (UTC, by this machine's clock).
    settled_at timestamptz, -- When the outcome was known (UTC).
    seen_at timestamptz -- When a page first showed the object (UTC).
)
