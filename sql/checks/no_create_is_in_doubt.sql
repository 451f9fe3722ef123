-- severity: warn
-- blocking: no
-- table: ops_push_ledger
-- description: The outcome of every create that was sent is known.
-- wrong: It is unknown whether {count} [create|creates] took effect
-- named: {kind} {key}
-- notes: push the file again; for products that stay in doubt check the service, then use --resend if they are not there
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
