-- source: the kept rows of a child table, the stored table, and narrow_roots
-- notes: child rows that were not sent stay, if their parent is still the same object
insert into {table} ({columns})
select {kept_columns}
from {kept} as kept
semi join narrow_roots
    on kept.{root_key} = narrow_roots.key
anti join (select distinct {set_keys} from {table}) as present
    using ({set_keys})
{below}
