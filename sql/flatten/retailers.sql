-- grain: one row per retailer
-- keys: id
-- needs: Retailer
-- source: included.Retailer (spec 2.2)
select
    id,
    "type",
    code,
    "name",
    status,
    fulfillment_model,
    parent_retailer.id as parent_retailer_id,
    legal_name,
    dba,
    default_duties_payor,
    default_shipping_method,
    allowed_shipping_methods,
    routing_guide_notes,
    custom_fields,
    created_at,
    updated_at,
    _page
from page."Retailer"
