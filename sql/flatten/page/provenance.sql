-- grain: one row a row of a table
-- source: one of sql/flatten, in braces
-- notes: where the row came from, beside the number of its page: the window, and when the page was served
select
    * exclude (_page),
    $window_id as _window_id,
    _page,
    list_extract($extracted_at::timestamptz[], list_position($numbers, _page)) as _extracted_at
from ({select})
