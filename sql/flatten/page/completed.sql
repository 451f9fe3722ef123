-- grain: one object, of which a page says something in two places
-- source: flatten/shape.py
-- notes: a field that the preferred one has no value for is the other's; names in braces are those of a type of sql/types
create macro completed_{type}(preferred, other) as struct_pack({fields})
