"""A load with a limit merges the first windows up to it; another load merges the rest."""

import pytest

from tests.bench import empty_tables, let_pass
from wms_sync.shipments.flatten.workers import flatten_landed
from wms_sync.shipments.load.pending import PendingWindows
from wms_sync.targets.target import target_of

SHIPMENTS_HELD = 60


def load_up_to(bench, most: int) -> PendingWindows:
    """Publish what a load of at most so many shipments merges, and the windows that it leaves to another."""
    with (
        target_of(bench.settings).load(bench.store.lease) as load,
    ):
        pending = PendingWindows(bench.run, most=most)
        while not pending.is_complete:
            with load.session() as session:
                pending.merge_next(session, bench.store.audits)
        with load.session() as session:
            pending.write_ops(session.connection, bench.store.audits)
            latest = session.connection.execute("select data_until from ops.latest_load").fetchall()
        load.publish()
    assert latest == [(bench.store.window(pending.merged[-1]).to_at,)], "what is left covers nothing yet"
    assert pending.landed == [*pending.merged]
    bench.store.mark_loaded(pending.landed)
    return pending


@pytest.mark.proof
def test_a_load_with_a_limit_leaves_windows_to_another(bench, sandbox):
    """The first window is merged even if it has more shipments than the limit."""
    for _ in range(4):
        let_pass(sandbox.sandbox, seconds=3600, changed=10)
        bench.read()
    first, second, third, fourth = bench.store.windows("landed")
    empty_tables(bench.layout.published)
    assert not flatten_landed(bench.settings, bench.store, from_scratch=False)
    for most, merged, later in (
        (1, [first], {second, third, fourth}),
        (second.records + third.records, [second, third], {fourth}),
        (fourth.records, [fourth], set()),
    ):
        pending = load_up_to(bench, most)
        assert (pending.merged, {*pending.later}) == ([one.id for one in merged], {one.id for one in later})
    bench.assert_equal(sandbox)
