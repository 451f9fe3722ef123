-- grain: one row a third-party billing group
-- keys: id
-- root: third_party_billing_groups by id
-- newer: _extracted_at
-- source: included.ThirdPartyBillingGroup (spec 2.5)
create table third_party_billing_groups (
    id bigint, -- The billing group. Source: ThirdPartyBillingGroup.id
    label varchar, -- Label. Source: ThirdPartyBillingGroup.label
    status varchar, -- Status. Source: ThirdPartyBillingGroup.status
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
