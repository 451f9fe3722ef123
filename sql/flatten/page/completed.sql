-- grain: one row per object that a page describes in two places
-- source: a statement from sql/flatten that has the header "completed", whose last "from stated" reads this instead
-- notes: a field that is null in the included object is taken from the stated object; names in braces come from the kind's type
select stated.* replace ({fields})
from stated
left join page.{kind} as included
    on stated._page = included._page and stated.id = included.id
