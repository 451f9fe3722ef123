-- grain: one row per check of which rows may have the same keys, or lack a part of them; other keys may have the same hash
-- keys: name
-- source: hashes of the keys of several tables
-- notes: the name in braces is a query for the hashes. One table of groups for all costs what one for each check costs
select
    name,
    count(*) as doubtful
from (
    select name
    from (
        {keys}
    )
    group by
        name,
        key_hash
    having count(*) > 1 or bool_or(lacks)
)
group by name
