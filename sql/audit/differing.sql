-- grain: one row a shipment or order whose rows in one table are not those of the slice
-- source: a table, and the slice's Parquet files of it; names in braces are identifiers of the catalogue
-- notes: compared are versions with the same updated_at, an order on two pages once; {incoming} is empty where the slice has no rows of the table
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
