-- grain: one row a row of a table without what is personal of a forgotten order
-- source: a table that belongs to orders, as it is stored or as one of its Parquet files, and forgotten
-- notes: {key} is the table's column that holds the order, {kept} tells which rows stay; {columns} are its columns, with free-form values cleaned
select {columns}
from {source} as held
left join forgotten on held.{key} = forgotten.order_id
where {kept}
