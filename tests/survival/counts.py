"""How much of each is run, all in one place: a share in the normal suite, the full count under ``--soak``.

Kills by name and moments of taking over have no number here: in the suite each kind of run names its own few, and
``--soak`` takes every moment that the run comes through. ``make soak`` prints each seed and each kill.
"""

COUNTS = {
    # what, how many in the suite, and how many under --soak
    "random kills of each kind of run": (1, 34),
    "services that change during every read": (1, 300),
    "orders of versions that the clocks belie": (20, 500),
    "sizes of a disk that gets full, for a night": (1, 20),
    "sizes of a disk that gets full, for a forget": (0, 20),
    "sequences of everything, against a model": (10, 300),
    "steps of a sequence": (4, 8),
    "publishings that readers go through": (2, 50),
    "readers that open the file again and again": (1, 3),
    "kills of machines whose disks vanish": (0, 200),
}
