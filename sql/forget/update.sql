-- grain: no rows: removes the personal data of forgotten orders from the values of their rows
-- source: a table that belongs to orders, and forgotten
-- notes: {key} is the table's column with the order's id, {personal} the condition for personal data, {changes} the new values of the columns
update {table} as held
set {changes}
where {key} in (select order_id from forgotten) and ({personal})
