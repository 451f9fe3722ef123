-- source: the stored table, kept rows of it, and narrow_roots
-- notes: what was not asked for keeps the value that it has in the kept row of the same key, where that is the same thing
update {table} as present
set {columns}
from {kept} as kept
where present.{root_key} in (select narrow_roots.key from narrow_roots) and {same}
