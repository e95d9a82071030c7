"""The lock of a stage: one thread at a time, which may take it again.

Compiled code reads and writes a stage's memory without asking: two threads in it would end the process, not in words.
"""

from __future__ import annotations

import threading

from poise.errors import BusyError


class StageLock:
    """A context that only one thread is in; another one gets a BusyError and does not wait."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise BusyError(
                "this stage is being stepped by another thread. Use a stage from one thread at a time, or run it in a "
                "Runner and post to that what is to be done."
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()
