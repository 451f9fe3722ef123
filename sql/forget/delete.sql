-- grain: no rows: deletes the rows of forgotten orders
-- source: a table of schema pii, and forgotten
-- notes: {key} is the table's column with the order's id
delete from {table}
where {key} in (select order_id from forgotten)
