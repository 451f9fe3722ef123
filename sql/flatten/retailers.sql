-- grain: one row per retailer
-- keys: id
-- source: included.Retailer (spec 2.2)
with stated as (
    select
        _page,
        object as retailer
    from page."Retailer"
)

select
    retailer.id,
    retailer."type",
    retailer.code,
    retailer."name",
    retailer.status,
    retailer.fulfillment_model,
    retailer.parent_retailer.id as parent_retailer_id,
    retailer.legal_name,
    retailer.dba,
    retailer.default_duties_payor,
    retailer.default_shipping_method,
    retailer.allowed_shipping_methods,
    retailer.routing_guide_notes,
    retailer.custom_fields,
    retailer.created_at,
    retailer.updated_at,
    _page
from stated
