"""How much of each is run, all in one place: a share in the normal suite, the full count under ``--soak``.

======================================================  =====  ====
what                                                    suite  soak
======================================================  =====  ====
kills at random moments, of all kinds of runs               1   170
kills by name of the moment                                 8   all
seeds of a service that changes during every read           1   300
orders of versions that the clocks belie                   20   500
sizes of a disk that gets full, for a night                 1    20
sizes of a disk that gets full, for a forget                0    20
sequences of everything, against a model                   10   300
steps of a sequence                                         4     8
publishings that readers go through                         2    50
readers that open the file again and again                  1     3
moments at which another run takes over                     2   all
kills of machines whose disks vanish                        0   200
======================================================  =====  ====

Kills by name have no number here: in the suite each kind of run names its own few, and ``--soak`` takes every moment
that the run comes through. ``make soak`` prints each seed and each kill. The others are pairs, for the suite and for
``--soak``.
"""

RANDOM_KILLS = (1, 34)
MOVING_SERVICES = (1, 300)
ORDERS_OF_VERSIONS = (20, 500)
FULL_DISKS = (1, 20)
FULL_DISKS_OF_FORGETS = (0, 20)
SEQUENCES = (10, 300)
STEPS = (4, 8)
PUBLISHINGS = (2, 50)
READERS = (1, 3)
FRESH_DISKS = (0, 200)
