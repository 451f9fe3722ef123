-- source: the kept rows of a child table, the stored table, and filled_roots
-- notes: child rows that the window omits stay, if their parent is still the same object
insert into {table} ({columns})
select {kept_columns}
from {kept} as kept
semi join filled_roots
    on kept.{root_key} = filled_roots.key
anti join (select distinct {set_keys} from {table}) as present
    using ({set_keys})
{below}
