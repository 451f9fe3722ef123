-- grain: one row per table of the catalogue with values of columns that PostgreSQL may sample
-- keys: relname
-- source: PostgreSQL's catalogue
select sampled.relname
from pg_class as sampled
inner join pg_attribute as described on sampled.oid = described.attrelid
where
    sampled.oid in ('lake.ducklake_file_column_stats'::regclass, 'lake.ducklake_table_column_stats'::regclass)
    and described.attname in ('min_value', 'max_value')
    and described.attstattarget is distinct from 0
group by sampled.relname
order by sampled.relname
