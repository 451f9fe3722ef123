-- grain: one row per object of a chain: the last version with the label at this step of the chain
-- keys: key
-- source: placed and chains
create or replace temp table chosen_versions as
select
    placed.key,
    placed._window_id,
    placed._page
from placed
inner join chains
    on placed.key = chains.key and placed.place = chains.places[$step]
where chains.labels = $chain::varchar[]
