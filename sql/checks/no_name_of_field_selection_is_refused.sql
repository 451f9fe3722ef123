-- severity: warn
-- blocking: no
-- table: shipments
-- asked: everything, because the tables that it reads are small
-- from: ops_narrowed_fields
-- description: The service accepts every field selection parameter; the data of a refused one is not updated.
-- wrong: The service refuses {count} field selection [parameter|parameters], whose data is not updated
-- named: {parameter}
select
    parameter,
    asked,
    lost,
    said,
    since
from ops.narrowed_fields
