-- grain: one row per row of a table that the load wrote
-- source: the table
-- notes: names in braces are identifiers from the catalogue, and when the first page of the load was received; older blocks are not read. Whoever asks makes sure that the load wrote just these rows
select {columns}
from {table}
where {read_at} >= make_timestamptz({since})
