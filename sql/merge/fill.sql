-- source: the stored table, its kept rows, and filled_roots
-- notes: columns that the window omits keep the value from the kept row with the same key, if {same} holds: it is the same object
update {table} as present
set {columns}
from {kept} as kept
where present.{root_key} in (select filled_roots.key from filled_roots) and {same}
