"""Every fault, group by group."""

from tests.faults import backups, content, creates, disclosure, fetching, leases, loading, recovery, transport

FAULTS = (
    *fetching.FAULTS,
    *transport.FAULTS,
    *content.FAULTS,
    *loading.FAULTS,
    *creates.FAULTS,
    *leases.FAULTS,
    *recovery.FAULTS,
    *backups.FAULTS,
    *disclosure.FAULTS,
)
