-- grain: one row per shipment that has a package with this tracking number
-- keys: id
-- source: packages
-- notes: case, spaces and hyphens are ignored, because people copy these numbers from labels and mails
select distinct shipment_id as id
from packages
where
    regexp_replace(upper($name), '[\s-]', '', 'g') in (
        regexp_replace(upper(tracking_ref), '[\s-]', '', 'g'),
        regexp_replace(upper(alt_tracking_number), '[\s-]', '', 'g')
    )
order by id
