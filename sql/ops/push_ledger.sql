-- grain: one row a thing that was sent to be created, as the state store knew it when the file was published
-- keys: service, kind, key
-- source: the state store
-- notes: state intended means that a push was killed, or runs; it counts as doubt
create table ops.push_ledger (
    service varchar not null, -- Address of the instance that it was sent to.
    kind varchar not null, -- What it is: location-tags, retailers or products.
    key varchar not null, -- Its natural key: name, code or sku.
    state varchar not null, -- intended, created, exists (was there before), refused, undone (the service failed), doubt (no answer came) or unproven (no answer came, and sent again it was refused without a reason).
    body json not null, -- What the file said of it, references by natural key.
    body_sha256 varchar not null, -- SHA-256 of body, hexadecimal.
    remote_id bigint, -- Its id in the service; null where no answer told it and no shipment has shown it.
    run_id varchar not null, -- Run that sent it last (Dagster's run id).
    attempts integer not null, -- Pushes that sent it, or were about to when they ended.
    message varchar, -- What the service said, or how it was settled.
    intended_at timestamptz not null, -- When it was about to be sent, by this machine's clock, UTC.
    settled_at timestamptz, -- When its outcome was known, UTC.
    seen_at timestamptz -- When a page of the service first showed it, UTC.
)
