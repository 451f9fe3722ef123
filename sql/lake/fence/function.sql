-- grain: no rows: the function that refuses what a session without the newest epoch writes to the catalogue of the lake
-- source: the epochs of the state store, which is in the same database
-- notes: PostgreSQL's, not DuckDB's. A session says its epoch in the option wms.epoch. The row stays locked until the
--     transaction ends, so nobody can take over between this look and the commit. The search path is that of whoever
--     makes the function, and finds the state store
create or replace function lake.wms_fence() returns trigger language plpgsql set search_path from current as $$
begin
    perform from turns
    where what = 'writer' and epoch = nullif(current_setting('wms.epoch', true), '')::bigint
    for share;
    if not found then
        raise exception 'wms-sync: this session does not have the newest epoch';
    end if;
    return null;
end
$$
