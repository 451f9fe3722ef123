-- grain: one row per root table of the batch: how many versions win and lose, what is known of the objects in doubt, and
--     when the first page was received, in microseconds of the epoch
-- keys: root
-- source: contest
select
    root,
    count(*) filter (where outcome = 'wins') as winners,
    min(first_read) filter (where outcome = 'doubtful') as first_read,
    count(*) filter (where outcome = 'doubtful' and went_back) as went_back,
    count(*) filter (where outcome = 'loses') as losers,
    epoch_us(min(first_read)) as since
from contest
group by root
