-- grain: one row a stored row that the winners are about to replace
-- source: the stored table and winners
-- notes: only where the batch was not asked for all that the table has; names in braces are identifiers of the catalogue
create or replace temp table {kept} as
select *
from {table}
semi join winners
    on {table}.{root_key} = winners.key
