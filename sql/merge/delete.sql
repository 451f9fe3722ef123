-- source: the stored table and winners
-- notes: a child table's rows are deleted with their root, as a set; names in braces are identifiers from the catalogue
delete from {table}
where {root_key} in (select winners.key from winners)
