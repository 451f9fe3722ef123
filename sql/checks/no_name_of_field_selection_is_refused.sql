-- severity: warn
-- blocking: no
-- table: shipments
-- description: The service takes all that field selection asks for; what it refuses is not brought up to date.
select
    parameter,
    asked,
    lost,
    said,
    since
from ops.narrowed_fields
