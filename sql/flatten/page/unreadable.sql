-- grain: one row a text that the type does not take
-- source: texts of a page that did not pass the gate
-- notes: {type} is a type of sql/types
select text
from (select unnest($texts) as text)
where try_cast(text as {type}) is null
