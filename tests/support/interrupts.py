"""Calls that a signal interrupts."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Any

#: Seconds after which a call is interrupted, so that different phases of it are.
DELAYS = (0.0005, 0.002, 0.005, 0.01, 0.02, 0.04)
#: Seconds that a call may go on, on a busy machine.
_PATIENCE = 3.0


def interrupted(call: Callable[[], object]) -> int:
    """Interrupt a call after each of the delays; the number of times that this came before its end."""

    def handler(*_: Any) -> None:
        raise KeyboardInterrupt

    before, count = signal.signal(signal.SIGALRM, handler), 0
    try:
        for delay in DELAYS:
            start = time.monotonic()
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                call()
            except KeyboardInterrupt:
                count += 1
                assert time.monotonic() - start < delay + _PATIENCE
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    return count
