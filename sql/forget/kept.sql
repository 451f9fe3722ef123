-- grain: the rows of a table without the personal data of forgotten orders
-- source: a table that belongs to orders, stored or as one of its Parquet files, and forgotten
-- notes: {key} is the table's column with the order's id, {kept} the condition for rows that stay; {columns} are its columns, with personal data removed from free-form values
select {columns}
from {source} as held
left join forgotten on held.{key} = forgotten.order_id
where {kept}
