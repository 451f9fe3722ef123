-- grain: the stored rows that the winners are about to replace
-- source: the stored table and winners
-- notes: used only if a window of the batch omits data; names in braces are identifiers from the catalogue
create or replace temp table {kept} as
select *
from {table}
semi join winners
    on {table}.{root_key} = winners.key
