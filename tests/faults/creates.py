"""Faults in pushing: something is created twice, or nobody knows that it may have been created."""

from tests.faults.fault import Fault

ONE = "Nothing is created twice unless someone accepts that risk with `--resend`"
PUSHES_KILLED = "`TEST_PUSH_ROWS=10000 TEST_PUSH_KILLS=20 .venv/bin/python -m pytest tests/master_data/test_kills.py`"

FAULTS = (
    Fault(
        "a create is sent before its intent is written",
        (ONE, PUSHES_KILLED),
        "src/wms_sync/master_data/apply.py",
        """\
        if batch or (is_due and self._unrecorded):
            self._intend(batch)
        for step in batch:
            self._running.add(step.key)
            self._newest.append(pool.submit(self._send, step))
            self._newest[-1].add_done_callback(partial(self._answered, step.key))
""",
        """\
        for step in batch:
            self._running.add(step.key)
            self._newest.append(pool.submit(self._send, step))
            self._newest[-1].add_done_callback(partial(self._answered, step.key))
        if batch or (is_due and self._unrecorded):
            self._intend(batch)
""",
        ("tests/master_data/test_push.py::test_nothing_is_sent_before_its_intent_is_written",),
    ),
    Fault(
        "an intent is not synced to disk before its create is sent",
        (ONE,),
        "src/wms_sync/state/ledger.py",
        'super().__init__(url, turn, durable="full")',
        'super().__init__(url, turn, durable="normal")',
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
        "a product in doubt is sent again",
        (ONE,),
        "src/wms_sync/master_data/plan.py",
        'return replace(step, action=Action.IN_DOUBT, why=f"{sent}. {what_to_do(self._kind)}")',
        'return replace(step, action=Action.IN_DOUBT, why=f"{sent}. {what_to_do(self._kind)}", sends=True)',
        ("tests/master_data/test_push.py::test_what_an_answer_makes_of_a_row",),
    ),
    Fault(
        "a create that was not answered counts as not done",
        (ONE, PUSHES_KILLED),
        "src/wms_sync/service/connection.py",
        "    if request.repeatable:\n        return error\n",
        "    if True:\n        return error\n",
        ("tests/service/test_creates.py::test_what_is_in_doubt_and_sent_once",),
    ),
    Fault(
        "a create that was not answered is sent again at once",
        (ONE,),
        "src/wms_sync/service/answers.py",
        "    if isinstance(error, Unreachable) and not isinstance(error, NotSent):\n        return idempotent\n",
        "    if isinstance(error, Unreachable) and not isinstance(error, NotSent):\n        return True\n",
        ("tests/service/test_answers.py",),
    ),
    Fault(
        "a create whose connection broke counts as never sent",
        (ONE,),
        "src/wms_sync/service/connection.py",
        "raise Unreachable(self._too_slow() if lane.is_cut else _no_answer(self.base_url, error)) from None",
        "raise NotSent(self._too_slow() if lane.is_cut else _no_answer(self.base_url, error)) from None",
        ("tests/service/test_creates.py::test_what_is_in_doubt_and_sent_once",),
    ),
    Fault(
        "a proxy's failure is taken for the service's word that nothing was done",
        (ONE, PUSHES_KILLED),
        "src/wms_sync/service/connection.py",
        "if isinstance(error, ServiceFailed) and not error.is_from_service:",
        "if False:",
        ("tests/service/test_creates.py::test_what_is_in_doubt_and_sent_once",),
    ),
    Fault(
        "a 200 with a page of HTML counts as created",
        (ONE, PUSHES_KILLED),
        "src/wms_sync/service/creates.py",
        "if id_ is None and not reply.is_json and reply.status != _CREATED:",
        "if False:",
        ("tests/service/test_creates.py::test_what_is_in_doubt_and_sent_once",),
    ),
    Fault(
        "a refusal that proves nothing settles a doubt",
        (ONE,),
        "src/wms_sync/master_data/create.py",
        "if prior.in_doubt and not prior.is_last_word:",
        "if False:",
        ("tests/master_data/test_push.py::test_what_an_answer_makes_of_a_row",),
    ),
    Fault(
        "what was in flight when a push was killed counts as not sent",
        (ONE, PUSHES_KILLED),
        "src/wms_sync/state/ledger.py",
        "UNSURE = frozenset({State.INTENDED, State.DOUBT, State.UNPROVEN})",
        "UNSURE = frozenset({State.DOUBT, State.UNPROVEN})",
        ("tests/master_data/test_plan.py",),
    ),
    Fault(
        "what became of creates is not recorded when a push is interrupted",
        (ONE,),
        "src/wms_sync/master_data/apply.py",
        "            finally:\n                self._ledger.record(self._unrecorded)\n",
        "            finally:\n                pass\n",
        ("tests/master_data/test_push.py::test_an_interrupt_records_what_became_of_everything",),
    ),
    Fault(
        "products that are created are in the state store alone",
        (ONE, "`state.db` is deleted, or replaced by an old copy"),
        "src/wms_sync/state/ledger.py",
        "            self.journal.append(written)\n",
        "            pass\n",
        ("tests/master_data/test_push.py::test_a_lost_state_creates_no_product_twice",),
    ),
    Fault(
        "a ledger from a backup is taken for complete",
        (ONE, "the data folder is lost"),
        "src/wms_sync/master_data/plan.py",
        "if lacking is None or known_since or self._kind.is_unique:",
        "if True:",
        ("tests/master_data/test_push.py::test_after_a_restore_no_product_is_sent_unasked",),
    ),
    Fault(
        "two pushes of one kind plan and send at the same time",
        (ONE,),
        "src/wms_sync/master_data/push.py",
        "what=push_lock(kind.name), run_id=run_id",
        'what=f"push-{run_id}", run_id=run_id',
        ("tests/master_data/test_push.py::test_pushes_of_one_kind_wait_for_each_other",),
    ),
    Fault(
        "a push that was overtaken goes on sending",
        (ONE, '`make soak SOAK="-k overtaken"`'),
        "src/wms_sync/master_data/push.py",
        "policy=policy, allowed=turn.epoch.check, transport=transport) as api",
        "policy=policy, transport=transport) as api",
        ("tests/survival/test_taking_over.py::test_a_push_that_was_overtaken_sends_no_create",),
    ),
)
