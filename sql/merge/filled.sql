-- grain: an expression: a tracked column, with the value of the previous version if the window omits it
-- source: placed of versions.sql
-- notes: names in braces are identifiers from the catalogue; omitting is the parameter with the windows
coalesce({column}, last_value(
    case when known_version is not null or {column} is not null or _window_id not in (select unnest({omitting})) then {{'value': {column}}} end
    ignore nulls
) over (partition by id order by place rows between unbounded preceding and current row).value) as {column}
