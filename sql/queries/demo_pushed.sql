-- grain: Pushed retailers
-- source: ops.push_ledger
select
    push_ledger.key,
    push_ledger.state,
    push_ledger.remote_id as id,
    push_ledger.seen_at is not null as in_shipments
from ops.push_ledger
where push_ledger.kind = 'retailers'
order by push_ledger.key
