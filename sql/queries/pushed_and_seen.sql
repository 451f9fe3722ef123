-- grain: one row per create in the ledger whose object appears in the tables for the first time
-- keys: kind, key
-- source: ops.push_ledger, and all queries in sql/objects
-- notes: matches by id, or by natural key if no answer gave the id. A key that is not unique proves a create only if
--     exactly one object with that key was created since the create was sent, and not in the future: such a time is wrong,
--     or local time without a zone
with objects as ({objects}),

unseen as (
    select
        push_ledger.kind,
        push_ledger.key,
        push_ledger.remote_id,
        push_ledger.intended_at
    from ops.push_ledger
    where
        push_ledger.service = $service
        and push_ledger.seen_at is null
        and push_ledger.state in ('intended', 'created', 'exists', 'doubt', 'unproven')
),

matched as (
    select
        unseen.kind,
        unseen.key,
        objects.id,
        objects._extracted_at,
        true as is_proof
    from unseen
    inner join objects
        on
            unseen.kind = objects.kind
            and unseen.remote_id = objects.id
    union all
    select
        unseen.kind,
        unseen.key,
        objects.id,
        objects._extracted_at,
        objects.is_unique or objects.created_at <= now() + $clocks_differ as is_proof
    from unseen
    inner join objects
        on
            unseen.kind = objects.kind
            and unseen.key = objects.key
    where
        unseen.remote_id is null
        and (objects.is_unique or objects.created_at >= unseen.intended_at - $clocks_differ)
)

select
    kind,
    key,
    any_value(id) as id,
    any_value(_extracted_at) as seen_at
from matched
group by kind, key
having count(*) = 1 and bool_and(is_proof)
order by kind, key
