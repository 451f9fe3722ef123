-- grain: one row per packaging item of a page
-- source: the five packaging kinds under included
-- notes: the options object has a different name in each packaging kind; all become one column
select
    _page,
    coalesce("type", 'PackagingContainer') as "type",
    id,
    sku,
    "name",
    is_enabled,
    merchant.id as merchant_id,
    created_at,
    updated_at,
    container_options as options
from page."PackagingContainer"
union all
select
    _page,
    coalesce("type", 'PackagingSupplies') as "type",
    id,
    sku,
    "name",
    is_enabled,
    merchant.id as merchant_id,
    created_at,
    updated_at,
    supplies_options as options
from page."PackagingSupplies"
union all
select
    _page,
    coalesce("type", 'PackagingDataCollection') as "type",
    id,
    sku,
    "name",
    is_enabled,
    merchant.id as merchant_id,
    created_at,
    updated_at,
    data_collection_options as options
from page."PackagingDataCollection"
union all
select
    _page,
    coalesce("type", 'PackagingInstruction') as "type",
    id,
    sku,
    "name",
    is_enabled,
    merchant.id as merchant_id,
    created_at,
    updated_at,
    instruction_options as options
from page."PackagingInstruction"
union all
select
    _page,
    coalesce("type", 'PackagingInfill') as "type",
    id,
    sku,
    "name",
    is_enabled,
    merchant.id as merchant_id,
    created_at,
    updated_at,
    infill_options as options
from page."PackagingInfill"
