-- severity: warn
-- blocking: no
-- table: ops_push_ledger
-- description: Every retailer and product that a push created more than 30 days ago has appeared on a page of the service.
-- wrong: {count} [retailer or product|retailers or products] that a push created more than 30 days ago [has|have] not appeared on a page of the service
-- named: {kind} {key}
-- notes: pages contain only objects that shipments refer to, so an unused retailer or product is not an error
select
    push_ledger.kind,
    push_ledger.key,
    push_ledger.remote_id,
    push_ledger.settled_at,
    push_ledger.run_id
from ops.push_ledger
where
    push_ledger.kind in ('retailers', 'products')
    and push_ledger.state = 'created'
    and push_ledger.seen_at is null
    and push_ledger.settled_at < now() - interval 30 day
