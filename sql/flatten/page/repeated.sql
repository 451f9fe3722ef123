-- grain: one row a page whose list of one kind under `included` names an object twice
-- source: page
-- notes: {kind} is a column of page; the first occurrence stays
update page
set {kind} = kept.objects
from (
    with repeated as (
        select
            _page,
            unnest({kind}) as object,
            generate_subscripts({kind}, 1) as place
        from page
        where len({kind}) > list_unique(list_transform({kind}, lambda object: object.id))
    ),

    firsts as (
        select *
        from repeated
        qualify row_number() over (partition by _page, object.id order by place) = 1
    )

    select
        _page,
        list(object order by place) as objects
    from firsts
    group by _page
) as kept
where page._page = kept._page
