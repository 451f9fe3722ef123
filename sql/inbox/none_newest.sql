-- grain: no row, for the case that no quarantined object has its own table
-- keys: object, id
-- source: nothing
select
    null::varchar as object,
    null::bigint as id,
    null::timestamptz as extracted_at
where false
