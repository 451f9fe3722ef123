"""How much of each is run, all in one place: a share in the normal suite, the full count under ``--soak``.

======================================================  =====  ====
what                                                    suite  soak
======================================================  =====  ====
kills at random moments, of all kinds of runs               1   170
kills by name of the moment                                 8   all
seeds of a service that changes during every read           1   300
orders of versions that the clocks belie             20   500
sizes of a disk that gets full, for a night                 1    20
sizes of a disk that gets full, for a forget                0    20
sequences of everything, against a model                   10   300
steps of a sequence                                         4     8
publishings that readers go through                         2    50
readers that open the file again and again                  1     3
moments at which another run takes over                     2   all
moments of a lake at which sessions are lost                0   all
outages of the store                                        0    20
kills of machines whose disks vanish                        0   200
======================================================  =====  ====

Kills by name have no number here: in the suite each kind of run names its own few, and ``--soak`` takes every moment
that the run comes through. ``make soak`` prints each seed and each kill.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Count:
    """How often in the normal suite, and under ``--soak``."""

    suite: int
    soak: int

    def of(self, *, soak: bool) -> int:
        """The one that counts now."""
        return self.soak if soak else self.suite


RANDOM_KILLS = Count(1, 34)
MOVING_SERVICES = Count(1, 300)
ORDERS_OF_VERSIONS = Count(20, 500)
FULL_DISKS = Count(1, 20)
FULL_DISKS_OF_FORGETS = Count(0, 20)
SEQUENCES = Count(10, 300)
STEPS = Count(4, 8)
PUBLISHINGS = Count(2, 50)
READERS = Count(1, 3)
OUTAGES = Count(0, 20)
FRESH_DISKS = Count(0, 200)
