-- severity: warn
-- blocking: no
-- table: ops_push_ledger
-- description: Of every create that was sent it is known whether the service did it.
-- notes: push the file again; products that stay in doubt need a look into the service, then --resend
select
    push_ledger.kind,
    push_ledger.key,
    push_ledger.state,
    push_ledger.intended_at,
    push_ledger.message
from ops.push_ledger
where
    push_ledger.state in ('doubt', 'unproven')
    or (push_ledger.state = 'intended' and push_ledger.intended_at < now() - interval 1 hour)
