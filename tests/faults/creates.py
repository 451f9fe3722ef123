"""Faults in pushing: something is created twice, or nobody knows that it may have been created."""

from tests.faults.fault import Fault

ONE = "Nothing is created twice unless someone accepts that risk with `--resend`"

FAULTS = (
    Fault(
        "a create is sent before its intent is written",
        (ONE, "`TEST_PUSH_ROWS=10000 TEST_PUSH_KILLS=20 .venv/bin/python -m pytest tests/master_data/test_kills.py`"),
        "src/wms_sync/master_data/apply.py",
        """\
        if batch or (is_due and self._unrecorded):
            self._intend(batch)
        for step in batch:
            self._running[pool.submit(self._send, step)] = step
""",
        """\
        for step in batch:
            self._running[pool.submit(self._send, step)] = step
        if batch or (is_due and self._unrecorded):
            self._intend(batch)
""",
        ("tests/master_data/test_push.py::test_nothing_is_sent_before_its_intent_is_written",),
    ),
    Fault(
        "an intent is not synced to disk before its create is sent",
        (ONE,),
        "src/wms_sync/state/engine.py",
        "pragma synchronous = full",
        "pragma synchronous = normal",
        ("tests/state/test_ledger.py::test_a_transaction_is_on_disk_before_it_counts",),
    ),
    Fault(
        "a product's create is sent before its journal is synced",
        (ONE,),
        "src/wms_sync/state/ledger.py",
        "            os.fsync(file.fileno())\n",
        "",
        ("tests/survival/test_order_of_steps.py::test_an_intent_is_synced_before_its_create",),
    ),
    Fault(
        "a push that was overtaken goes on sending",
        (ONE, '`make soak SOAK="-k overtaken"`'),
        "src/wms_sync/master_data/push.py",
        "policy=policy, allowed=store.lease.check, transport=transport) as api",
        "policy=policy, transport=transport) as api",
        ("tests/survival/test_taking_over.py::test_a_push_that_was_overtaken_sends_no_create",),
    ),
    Fault(
        "a second name of the service has a ledger of its own",
        (ONE,),
        "src/wms_sync/upkeep/recovery.py",
        "{store.service(), *store.ledger.services()}",
        "{store.service()}",
        ("tests/master_data/test_push.py::test_the_same_service_spelt_otherwise_gets_nothing_twice",),
    ),
)
