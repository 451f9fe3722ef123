-- grain: one row per third-party billing group
-- keys: id
-- needs: ThirdPartyBillingGroup
-- source: included.ThirdPartyBillingGroup (spec 2.5)
select
    id,
    label,
    status,
    _page
from page."ThirdPartyBillingGroup"
