"""How many cores there are for us."""

import os


def usable_cores() -> int:
    """Those this process may run on, not all that the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
