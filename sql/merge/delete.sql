-- source: the stored table and winners
-- notes: a child's rows go with their root, as a set; names in braces are identifiers of the catalogue
delete from {table}
where {root_key} in (select winners.key from winners)
