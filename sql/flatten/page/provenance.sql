-- grain: the rows of a table
-- source: a query from sql/flatten, in braces
-- notes: adds the source of the row besides its page number: the window, and the time when the page was received
select
    * exclude (_page),
    $window_id as _window_id,
    _page,
    list_extract($extracted_at::timestamptz[], list_position($numbers, _page)) as _extracted_at
from ({select})
