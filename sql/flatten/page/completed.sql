-- grain: one object that a page describes in two places
-- source: flatten/shape.py
-- notes: a field that is null in the preferred place is taken from the other; names in braces come from a type in sql/types
create macro completed_{type}(preferred, other) as struct_pack({fields})
