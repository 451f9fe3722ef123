-- source: the stored table, its kept rows, and narrow_roots
-- notes: columns that were not requested keep the value from the kept row with the same key, if {same} says it is the same object
update {table} as present
set {columns}
from {kept} as kept
where present.{root_key} in (select narrow_roots.key from narrow_roots) and {same}
