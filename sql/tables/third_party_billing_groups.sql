-- grain: one row per third-party billing group
-- keys: id
-- root: third_party_billing_groups by id
-- newer: _extracted_at
-- source: included.ThirdPartyBillingGroup (spec 2.5)
create table third_party_billing_groups (
    id bigint, -- The billing group. Source: ThirdPartyBillingGroup.id
    label varchar, -- Label. Source: ThirdPartyBillingGroup.label
    status varchar, -- Status. Source: ThirdPartyBillingGroup.status
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
