-- severity: warn
-- blocking: no
-- table: ops_audits
-- description: The shipments of the latest audit were in the tables exactly as the service has them. If every nightly sync finds differences, `wms-sync doctor` shows whether the service reads filters in another time zone.
-- wrong: The latest audit found changes that the sync had missed: {changed} [shipment|shipments] that changed without a new updated_at, {orders_changed} [order|orders] that changed without one of [its|their] shipments, {missed} [shipment that was|shipments that were] not in the tables, and {voided} [object|objects] whose updated_at moved back
-- notes: changed counts changes without a new updated_at, voided an updated_at that moved back; the merge has repaired every finding, and the next slices check the remaining shipments
select
    audits.window_id,
    audits.compared,
    audits.changed,
    audits.orders_changed,
    audits.missed,
    coalesce(audits.voided, 0) as voided,
    audits.examples
from ops.audits
where
    audits.read_at = (select max(newest.read_at) from ops.audits as newest)
    and audits.changed + audits.orders_changed + audits.missed + coalesce(audits.voided, 0) > 0
