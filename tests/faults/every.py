"""Every fault, group by group."""

from tests.faults import backups, content, creates, disclosure, fetching, loading, recovery, transport, turns

FAULTS = (
    *fetching.FAULTS,
    *transport.FAULTS,
    *content.FAULTS,
    *loading.FAULTS,
    *creates.FAULTS,
    *turns.FAULTS,
    *recovery.FAULTS,
    *backups.FAULTS,
    *disclosure.FAULTS,
)
