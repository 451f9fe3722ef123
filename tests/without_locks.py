"""A process for which the kernel refuses ``flock``, as it does in some network file systems (seccomp of Linux)."""

import ctypes
import platform
import struct

FLOCK = {"x86_64": 73, "aarch64": 32}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW = 0x00050000, 0x7FFF0000


def refuse_locks(number: int) -> None:
    """Let every later ``flock`` of this process fail with this error."""
    steps = (
        (LOAD, 0, 0, 0),
        (JUMP_IF_EQUAL, 0, 1, FLOCK[platform.machine()]),
        (RETURN, 0, 0, REFUSE | number),
        (RETURN, 0, 0, ALLOW),
    )
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(filters))
    libc = ctypes.CDLL(None, use_errno=True)
    for option in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)):
        if libc.prctl(*option):
            raise OSError(ctypes.get_errno(), "prctl")
