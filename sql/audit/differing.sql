-- grain: one row per shipment or order whose rows in one table differ from the slice
-- source: a table, and the slice's Parquet files for it; names in braces are identifiers from the catalogue
-- notes: only objects with the same updated_at on both sides are compared, and an order on two pages once; {incoming} is empty if the slice has no rows for the table
select distinct {root_key} as id
from (
    (
        select {columns}
        from {table}
        where {root_key} in (select same.id from {same} as same)
        except
        select {columns}
        from {incoming}
        where {root_key} in (select same.id from {same} as same)
    )
    union all
    (
        select {columns}
        from {incoming}
        where {root_key} in (select same.id from {same} as same)
        except
        select {columns}
        from {table}
        where {root_key} in (select same.id from {same} as same)
    )
)
