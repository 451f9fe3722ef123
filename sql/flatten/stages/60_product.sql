-- grain: one row per product or packaging item of a page
-- source: included.Product and the five packaging kinds
-- notes: the options object has a different name in each packaging kind; all become one column
with product as (
    select
        _page,
        object as product,
        null::json as options
    from page."Product"
),

container as (
    select
        _page,
        object as packaging
    from page."PackagingContainer"
),

supplies as (
    select
        _page,
        object as packaging
    from page."PackagingSupplies"
),

data_collection as (
    select
        _page,
        object as packaging
    from page."PackagingDataCollection"
),

instruction as (
    select
        _page,
        object as packaging
    from page."PackagingInstruction"
),

infill as (
    select
        _page,
        object as packaging
    from page."PackagingInfill"
),

packaging as (
    select
        _page,
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
        _page,
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
        _page,
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
        _page,
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
        _page,
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
    _page,
    options,
    unnest(product)
from product
union all by name
select *
from packaging
