-- grain: the stored rows of objects that follow, which are about to be replaced
-- source: the stored table and filled_roots
-- notes: used only if a window of the batch omits data; names in braces are identifiers from the catalogue
create or replace temp table {kept} as
select *
from {table}
semi join filled_roots
    on {table}.{root_key} = filled_roots.key
