-- grain: the receipt of one window, inserted in the transaction that merges it
-- source: the load step
insert into ops.loads (
    window_id, from_at, to_at, reason, run_id, load_run_id, pages, records, quarantined, rows_flattened, loaded_at
)
values (
    $window_id,
    $from_at,
    $to_at,
    $reason,
    $run_id,
    $load_run_id,
    $pages,
    $records,
    $quarantined,
    $rows_flattened,
    $loaded_at
)
