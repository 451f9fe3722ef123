-- grain: no row, where no quarantined object has a table of its own
-- keys: object, id
-- source: nothing
select
    null::varchar as object,
    null::bigint as id,
    null::timestamptz as extracted_at
where false
