-- grain: one row per value of a column with a set of values, with its meaning
-- keys: column_name, value
-- source: the vendor's documentation (spec 10), and the tables for values that it does not name
-- notes: the sets of the service are open. An unknown value has is_known false and no meaning; marts count it neither
--     as open nor as closed. Values are compared in lower case, except kinds of products and goods
create or replace view ops.code_values as
with known (column_name, sort, "value", is_open, meaning) as (
    values
    ('shipments.status', 1, 'new', true, 'Created; nothing was done yet'),
    ('shipments.status', 2, 'picking', true, 'Its items are being collected'),
    ('shipments.status', 3, 'picked', true, 'Its items are collected'),
    ('shipments.status', 4, 'packing', true, 'It is being packed'),
    ('shipments.status', 5, 'packed', true, 'It is packed but not yet shipped'),
    ('shipments.status', 6, 'shipped', false, 'It was shipped'),
    ('shipments.status', 7, 'canceled', false, 'It was canceled: its items will not be shipped with it'),
    ('shipments.status', 8, 'voided', false, 'It was undone after its label was created: another shipment replaces it'),
    ('orders.state', 1, 'new', true, 'Accepted; nothing was done yet'),
    ('orders.state', 2, 'processing', true, 'Being fulfilled'),
    ('orders.state', 3, 'holded', true, 'Held back'),
    ('orders.state', 4, 'complete', false, 'Everything is done'),
    ('orders.state', 5, 'canceled', false, 'Canceled'),
    ('orders.status', 1, 'new', true, 'Same as the state'),
    ('orders.status', 2, 'processing', true, 'Same as the state'),
    ('orders.status', 3, 'partial_backorder', true, 'Some items wait for stock'),
    ('orders.status', 4, 'backordered', true, 'All items wait for stock'),
    ('orders.status', 5, 'delayed_shipment', true, 'The shipment is delayed'),
    ('orders.status', 6, 'unresolved', true, 'It waits for a decision'),
    ('orders.status', 7, 'invalid_address', true, 'The address was not accepted'),
    ('orders.status', 8, 'unable_to_process', true, 'It could not be processed'),
    ('orders.status', 9, 'holded', true, 'Same as the state'),
    ('orders.status', 10, 'complete', false, 'Same as the state'),
    ('orders.status', 11, 'canceled', false, 'Same as the state'),
    ('retailers.status', 1, 'active', null, 'In use'),
    ('retailers.status', 2, 'archived', null, 'Hidden from lists; cannot be assigned to new orders'),
    ('retailers.fulfillment_model', 1, 'wholesale', null, 'Goods are shipped to the retailer'),
    ('retailers.fulfillment_model', 2, 'drop_ship', null, 'Goods are shipped to the retailer''s customers'),
    ('retailers.fulfillment_model', 3, 'mixed', null, 'Both occur'),
    ('retailers.default_duties_payor', 1, 'shipper', null, 'The sender pays duties'),
    ('retailers.default_duties_payor', 2, 'recipient', null, 'The receiver pays duties'),
    ('retailers.default_duties_payor', 3, 'third_party', null, 'Someone else pays duties'),
    ('retailer_ship_to_locations.status', 1, 'active', null, 'In use'),
    ('retailer_ship_to_locations.status', 2, 'inactive', null, 'Not in use'),
    ('retailer_ship_to_locations.location_type', 1, 'dc', null, 'Distribution center'),
    ('retailer_ship_to_locations.location_type', 2, 'store', null, 'Store'),
    ('retailer_ship_to_locations.location_type', 3, 'mark_for', null, 'Final destination of goods shipped to another location'),
    ('retailer_ship_to_locations.location_type', 4, 'drop_ship', null, 'A customer of the retailer'),
    ('retailer_ship_to_locations.location_type', 5, 'other', null, 'Anything else'),
    ('products.type', 1, 'Product', null, 'Something that is sold'),
    ('products.type', 2, 'PackagingContainer', null, 'A box, envelope or other container'),
    ('products.type', 3, 'PackagingSupplies', null, 'Something that is used up while packing, such as a label'),
    ('products.type', 4, 'PackagingInfill', null, 'Material that fills the empty part of a container'),
    ('products.type', 5, 'PackagingDataCollection', null, 'Asks the packer for a value, such as a serial number'),
    ('products.type', 6, 'PackagingInstruction', null, 'An instruction for the packer'),
    ('products.goods_type', 1, 'NORMAL', null, 'No hazardous goods'),
    ('products.goods_type', 2, 'LIMITED_QUANTITIES_COMMODITIES', null, 'Hazardous goods in quantities with fewer rules'),
    ('products.goods_type', 3, 'ORM_D', null, 'Other regulated materials, domestic'),
    ('products.goods_type', 4, 'HAZMAT', null, 'Hazardous goods'),
    ('products.inventory_virtual_inventory', 1, 'none', null, 'No virtual stock'),
    ('products.inventory_virtual_inventory', 2, 'optimistic', null, 'Named by the service without a meaning'),
    ('products.inventory_virtual_inventory', 3, 'realistic', null, 'Named by the service without a meaning'),
    ('products.inventory_virtual_inventory', 4, 'pessimistic', null, 'Named by the service without a meaning'),
    ('shipments.shipped_at_source', 1, 'order', null, 'The time at which the order was shipped'),
    ('shipments.shipped_at_source', 2, 'packed', null, 'The time at which the shipment was packed'),
    ('shipments.shipped_at_source', 3, 'unknown', null, 'It was shipped at an unknown time')
),

steps (column_name, "value", next_step) as (
    values
    ('orders.status', 'partial_backorder', 'Ship what is in stock, or inform the buyer'),
    ('orders.status', 'backordered', 'Order the stock, or inform the buyer'),
    ('orders.status', 'delayed_shipment', 'Ask the warehouse for the new date'),
    ('orders.status', 'unresolved', 'Look at the order: it waits for a decision'),
    ('orders.status', 'invalid_address', 'Correct the address'),
    ('orders.status', 'unable_to_process', 'Look at the order: the warehouse cannot process it'),
    ('orders.status', 'holded', 'Release the order, or cancel it'),
    ('shipments.status', 'new', 'Ask the warehouse for the reason'),
    ('shipments.status', 'picking', 'Ask the warehouse for the reason'),
    ('shipments.status', 'picked', 'Ask the warehouse when it is packed'),
    ('shipments.status', 'packing', 'Ask the warehouse when it is packed'),
    ('shipments.status', 'packed', 'Ask the warehouse when the carrier comes')
),

present as (
    select
        'shipments.status' as column_name,
        lower(status) as "value"
    from main.shipments
    union
    select
        'orders.state' as column_name,
        lower(state) as "value"
    from main.orders
    union
    select
        'orders.status' as column_name,
        lower(status) as "value"
    from main.orders
    union
    select
        'retailers.status' as column_name,
        lower(status) as "value"
    from main.retailers
    union
    select
        'retailers.fulfillment_model' as column_name,
        lower(fulfillment_model) as "value"
    from main.retailers
    union
    select
        'retailers.default_duties_payor' as column_name,
        lower(default_duties_payor) as "value"
    from main.retailers
    union
    select
        'retailer_ship_to_locations.status' as column_name,
        lower(status) as "value"
    from main.retailer_ship_to_locations
    union
    select
        'retailer_ship_to_locations.location_type' as column_name,
        lower(location_type) as "value"
    from main.retailer_ship_to_locations
    union
    select
        'products.type' as column_name,
        "type" as "value"
    from main.products
    union
    select
        'products.goods_type' as column_name,
        goods_type as "value"
    from main.products
    union
    select
        'products.inventory_virtual_inventory' as column_name,
        lower(inventory_virtual_inventory) as "value"
    from main.products
),

listed as (
    select
        known.column_name,
        known.sort,
        known."value",
        true as is_known,
        known.is_open,
        known.meaning,
        steps.next_step
    from known
    left join steps
        on known.column_name = steps.column_name and known."value" = steps."value"
    union all
    select
        present.column_name,
        null as sort,
        present."value",
        false as is_known,
        null as is_open,
        null as meaning,
        null as next_step
    from present
    anti join known
        on present.column_name = known.column_name and present."value" = known."value"
    where present."value" is not null
)

select
    column_name, -- Table and column, such as shipments.status; for columns of marts, the mart
    "value", -- The value
    is_known, -- Whether the meaning of the value is known; false for values in the tables without a description
    is_open, -- Whether a shipment or order with this value is still to be done; null for other columns and unknown values
    sort, -- Position of the value in the usual order of the column, from 1; null if the value is unknown
    meaning, -- Meaning of the value; null if it is unknown
    next_step -- What to do about a shipment that is open past its ship-by date while it, or its order, has this value; null if there is nothing of its own to do
from listed
