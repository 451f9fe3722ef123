-- Photo galleries of shipments and packages (spec 2.4, 4.5).
create type gallery_item as struct(
    "type" varchar,
    id bigint,
    url varchar,
    thumbnail_url varchar,
    caption varchar,
    taken_at timestamptz,
    device_info json,
    media_info json,
    created_at timestamptz
);
create type gallery as struct(
    "type" varchar,
    id bigint,
    photo_count bigint,
    updated_at timestamptz,
    items gallery_item[]
);
