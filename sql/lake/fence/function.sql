-- grain: no rows: the function that refuses writes to the lake's catalogue by a session without the newest epoch
-- source: the epochs of the state store, which is in the same database
-- notes: runs in PostgreSQL, not in DuckDB. A session states its epoch in the option wms.epoch. The row stays locked until the
--     transaction ends, so no writer can take over between this check and the commit. The search path is that of the
--     function's creator, and finds the state store
create or replace function lake.wms_fence() returns trigger language plpgsql set search_path from current as $$
begin
    perform from leases
    where what = 'writer' and epoch = nullif(current_setting('wms.epoch', true), '')::bigint
    for share;
    if not found then
        raise exception 'wms-sync: this session does not have the newest epoch';
    end if;
    return null;
end
$$
