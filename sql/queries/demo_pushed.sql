-- grain: Pushed master data, and whether shipments refer to it yet
-- source: ops.push_ledger
select
    push_ledger.kind,
    push_ledger.key,
    push_ledger.state,
    push_ledger.remote_id as id,
    push_ledger.seen_at is not null as seen
from ops.push_ledger
order by push_ledger.kind, push_ledger.key
