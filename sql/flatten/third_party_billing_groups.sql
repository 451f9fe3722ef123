-- grain: one row per third-party billing group
-- keys: id
-- source: included.ThirdPartyBillingGroup (spec 2.5)
with stated as (
    select
        _page,
        object as billing_group
    from page."ThirdPartyBillingGroup"
)

select
    billing_group.id,
    billing_group.label,
    billing_group.status,
    _page
from stated
