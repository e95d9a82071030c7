"""Being told to stop: a signal becomes an exception, so that what is half done is cleared away before Poise leaves."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

# Beside SIGINT, which Python makes a KeyboardInterrupt itself. Windows has no SIGHUP.
_SIGNALS = ("SIGTERM", "SIGHUP")


class Stopped(BaseException):
    """A signal asked the process to end. No Exception: nothing but `main` may catch it."""

    def __init__(self, number: int):
        super().__init__(number)
        self.exit_code = 128 + number  # as shells say it


@contextlib.contextmanager
def stop_on_signals() -> Iterator[None]:
    """Within the block, the usual signals to end raise `Stopped`. A second one ends the process at once.

    Signals that are ignored (as under nohup) or handled by somebody else are left as they are, and so are all of them
    outside the main thread, where Python cannot handle any.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {}
    for name in _SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            before[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise Stopped(number)
