-- grain: one row per value of a column with a set of values, with its meaning
-- keys: column_name, value
-- source: the vendor's documentation (spec 10), and the tables for values that it does not name
-- notes: the sets of the service are open. An unknown value has is_known false and no meaning; marts count it neither
--     as open nor as closed. Values are compared in lower case, except kinds of products and goods
create or replace view ops.code_values as
with known (column_name, sort, "value", is_open, meaning, next_step) as (
    values
    ('shipments.status', 1, 'new', true, 'Created; nothing was done yet', 'Ask the warehouse for the reason'),
    ('shipments.status', 2, 'picking', true, 'Its items are being collected', 'Ask the warehouse for the reason'),
    ('shipments.status', 3, 'picked', true, 'Its items are collected', 'Ask the warehouse when it is packed'),
    ('shipments.status', 4, 'packing', true, 'It is being packed', 'Ask the warehouse when it is packed'),
    ('shipments.status', 5, 'packed', true, 'It is packed but not yet shipped', 'Ask the warehouse when the carrier comes'),
    ('shipments.status', 6, 'shipped', false, 'It was shipped', null),
    ('shipments.status', 7, 'canceled', false, 'It was canceled: its items will not be shipped with it', null),
    ('shipments.status', 8, 'voided', false, 'It was undone after its label was created: another shipment replaces it', null),
    ('orders.state', 1, 'new', true, 'Accepted; nothing was done yet', null),
    ('orders.state', 2, 'processing', true, 'Being fulfilled', null),
    ('orders.state', 3, 'holded', true, 'Held back', null),
    ('orders.state', 4, 'complete', false, 'Everything is done', null),
    ('orders.state', 5, 'canceled', false, 'Canceled', null),
    ('orders.status', 1, 'new', true, 'Same as the state', null),
    ('orders.status', 2, 'processing', true, 'Same as the state', null),
    ('orders.status', 3, 'partial_backorder', true, 'Some items wait for stock', 'Ship what is in stock, or inform the buyer'),
    ('orders.status', 4, 'backordered', true, 'All items wait for stock', 'Order the stock, or inform the buyer'),
    ('orders.status', 5, 'delayed_shipment', true, 'The shipment is delayed', 'Ask the warehouse for the new date'),
    ('orders.status', 6, 'unresolved', true, 'It waits for a decision', 'Look at the order: it waits for a decision'),
    ('orders.status', 7, 'invalid_address', true, 'The address was not accepted', 'Correct the address'),
    ('orders.status', 8, 'unable_to_process', true, 'It could not be processed', 'Look at the order: the warehouse cannot process it'),
    ('orders.status', 9, 'holded', true, 'Same as the state', 'Release the order, or cancel it'),
    ('orders.status', 10, 'complete', false, 'Same as the state', null),
    ('orders.status', 11, 'canceled', false, 'Same as the state', null),
    ('retailers.status', 1, 'active', null, 'In use', null),
    ('retailers.status', 2, 'archived', null, 'Hidden from lists; cannot be assigned to new orders', null),
    ('retailers.fulfillment_model', 1, 'wholesale', null, 'Goods are shipped to the retailer', null),
    ('retailers.fulfillment_model', 2, 'drop_ship', null, 'Goods are shipped to the retailer''s customers', null),
    ('retailers.fulfillment_model', 3, 'mixed', null, 'Both occur', null),
    ('retailers.default_duties_payor', 1, 'shipper', null, 'The sender pays duties', null),
    ('retailers.default_duties_payor', 2, 'recipient', null, 'The receiver pays duties', null),
    ('retailers.default_duties_payor', 3, 'third_party', null, 'Someone else pays duties', null),
    ('retailer_ship_to_locations.status', 1, 'active', null, 'In use', null),
    ('retailer_ship_to_locations.status', 2, 'inactive', null, 'Not in use', null),
    ('retailer_ship_to_locations.location_type', 1, 'dc', null, 'Distribution center', null),
    ('retailer_ship_to_locations.location_type', 2, 'store', null, 'Store', null),
    ('retailer_ship_to_locations.location_type', 3, 'mark_for', null, 'Final destination of goods shipped to another location', null),
    ('retailer_ship_to_locations.location_type', 4, 'drop_ship', null, 'A customer of the retailer', null),
    ('retailer_ship_to_locations.location_type', 5, 'other', null, 'Anything else', null),
    ('products.type', 1, 'Product', null, 'Something that is sold', null),
    ('products.type', 2, 'PackagingContainer', null, 'A box, envelope or other container', null),
    ('products.type', 3, 'PackagingSupplies', null, 'Something that is used up while packing, such as a label', null),
    ('products.type', 4, 'PackagingInfill', null, 'Material that fills the empty part of a container', null),
    ('products.type', 5, 'PackagingDataCollection', null, 'Asks the packer for a value, such as a serial number', null),
    ('products.type', 6, 'PackagingInstruction', null, 'An instruction for the packer', null),
    ('products.goods_type', 1, 'NORMAL', null, 'No hazardous goods', null),
    ('products.goods_type', 2, 'LIMITED_QUANTITIES_COMMODITIES', null, 'Hazardous goods in quantities with fewer rules', null),
    ('products.goods_type', 3, 'ORM_D', null, 'Other regulated materials, domestic', null),
    ('products.goods_type', 4, 'HAZMAT', null, 'Hazardous goods', null),
    ('products.inventory_virtual_inventory', 1, 'none', null, 'No virtual stock', null),
    ('products.inventory_virtual_inventory', 2, 'optimistic', null, 'Named by the service without a meaning', null),
    ('products.inventory_virtual_inventory', 3, 'realistic', null, 'Named by the service without a meaning', null),
    ('products.inventory_virtual_inventory', 4, 'pessimistic', null, 'Named by the service without a meaning', null),
    ('shipments.shipped_at_source', 1, 'order', null, 'The time at which the order was shipped', null),
    ('shipments.shipped_at_source', 2, 'packed', null, 'The time at which the shipment was packed', null),
    ('shipments.shipped_at_source', 3, 'unknown', null, 'It was shipped at an unknown time', null)
),

present as (
    select
        'shipments.status' as column_name,
        lower(status) as "value"
    from main.shipments
    union
    select
        unnest(['orders.state', 'orders.status']) as column_name,
        unnest([lower(state), lower(status)]) as "value"
    from main.orders
    union
    select
        unnest(['retailers.status', 'retailers.fulfillment_model', 'retailers.default_duties_payor']) as column_name,
        unnest([lower(status), lower(fulfillment_model), lower(default_duties_payor)]) as "value"
    from main.retailers
    union
    select
        unnest(['retailer_ship_to_locations.status', 'retailer_ship_to_locations.location_type']) as column_name,
        unnest([lower(status), lower(location_type)]) as "value"
    from main.retailer_ship_to_locations
    union
    select
        unnest(['products.type', 'products.goods_type', 'products.inventory_virtual_inventory']) as column_name,
        unnest(["type", goods_type, lower(inventory_virtual_inventory)]) as "value"
    from main.products
)

select
    known.column_name, -- Table and column, such as shipments.status; for columns of marts, the mart
    known."value", -- The value
    true as is_known, -- Whether the meaning of the value is known; false for values in the tables without a description
    known.is_open, -- Whether a shipment or order with this value is still to be done; null for other columns and unknown values
    known.sort, -- Position of the value in the usual order of the column, from 1; null if the value is unknown
    known.meaning, -- Meaning of the value; null if it is unknown
    known.next_step -- What to do about a shipment that is open past its ship-by date while it, or its order, has this value; null if there is nothing of its own to do
from known
union all by name
select
    present.*,
    false as is_known
from present
anti join known on present.column_name = known.column_name and present."value" = known."value"
where present."value" is not null
