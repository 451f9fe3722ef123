-- grain: one row per root table of the batch: the number of winners, and facts about the objects in doubt
-- keys: root
-- source: contest
select
    root,
    count(*) filter (where outcome = 'wins') as winners,
    min(first_read) filter (where outcome = 'doubtful') as first_read,
    count(*) filter (where outcome = 'doubtful' and went_back) as went_back
from contest
group by root
