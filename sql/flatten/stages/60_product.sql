-- grain: one row a product or packaging item of a page
-- source: included.Product and the five packaging kinds
-- notes: the options object has another name in each packaging kind and becomes one column
with product as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest("Product") as product,
        null::json as options
    from page
),

container as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest("PackagingContainer") as packaging
    from page
),

supplies as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest("PackagingSupplies") as packaging
    from page
),

data_collection as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest("PackagingDataCollection") as packaging
    from page
),

instruction as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest("PackagingInstruction") as packaging
    from page
),

infill as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest("PackagingInfill") as packaging
    from page
),

packaging as (
    select
        _window_id,
        _page,
        _extracted_at,
        coalesce(packaging."type", 'PackagingContainer') as "type",
        packaging.id,
        packaging.sku,
        packaging."name",
        packaging.is_enabled,
        packaging.merchant,
        packaging.created_at,
        packaging.updated_at,
        packaging.container_options as options
    from container
    union all
    select
        _window_id,
        _page,
        _extracted_at,
        coalesce(packaging."type", 'PackagingSupplies') as "type",
        packaging.id,
        packaging.sku,
        packaging."name",
        packaging.is_enabled,
        packaging.merchant,
        packaging.created_at,
        packaging.updated_at,
        packaging.supplies_options as options
    from supplies
    union all
    select
        _window_id,
        _page,
        _extracted_at,
        coalesce(packaging."type", 'PackagingDataCollection') as "type",
        packaging.id,
        packaging.sku,
        packaging."name",
        packaging.is_enabled,
        packaging.merchant,
        packaging.created_at,
        packaging.updated_at,
        packaging.data_collection_options as options
    from data_collection
    union all
    select
        _window_id,
        _page,
        _extracted_at,
        coalesce(packaging."type", 'PackagingInstruction') as "type",
        packaging.id,
        packaging.sku,
        packaging."name",
        packaging.is_enabled,
        packaging.merchant,
        packaging.created_at,
        packaging.updated_at,
        packaging.instruction_options as options
    from instruction
    union all
    select
        _window_id,
        _page,
        _extracted_at,
        coalesce(packaging."type", 'PackagingInfill') as "type",
        packaging.id,
        packaging.sku,
        packaging."name",
        packaging.is_enabled,
        packaging.merchant,
        packaging.created_at,
        packaging.updated_at,
        packaging.infill_options as options
    from infill
)

select
    _window_id,
    _page,
    _extracted_at,
    options,
    unnest(product)
from product
union all by name
select *
from packaging
