-- grain: one row a third-party billing group
-- keys: id
-- source: included.ThirdPartyBillingGroup (spec 2.5)
with stated as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest("ThirdPartyBillingGroup") as billing_group
    from page
)

select
    billing_group.id,
    billing_group.label,
    billing_group.status,
    _window_id,
    _page,
    _extracted_at
from stated
