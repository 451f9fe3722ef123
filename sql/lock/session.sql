-- grain: one row per setting that was set
-- source: PostgreSQL's settings
-- notes: the session is idle for the length of a run, and ends within a minute after its machine is gone
select set_config(name, wanted.setting, false)
from pg_settings
inner join (
    values
    ('idle_session_timeout', '0'),
    ('tcp_keepalives_idle', '30'),
    ('tcp_keepalives_interval', '10'),
    ('tcp_keepalives_count', '3')
) as wanted (name, setting) using (name)
