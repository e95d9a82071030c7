"""A Python function where a law is expected: what it keeps goes with it, at once."""

from __future__ import annotations

import gc
import weakref

import numpy as np

from poise.compiled.law import Callback


class Heavy:
    """Something that takes memory, such as a simulation."""

    def step(self) -> None:
        """Fail."""
        raise ValueError("no")


def test_what_it_calls_goes_with_it() -> None:
    """It pointed at itself, so that every simulation of Bullet's stayed until somebody collected garbage."""
    gc.collect()
    gc.disable()
    try:
        heavy, raised = Heavy(), np.zeros(1, np.int64)
        gone, callback = weakref.ref(heavy), Callback(heavy.step, raised)
        del heavy
        assert gone() is not None
        del callback
        assert gone() is None
    finally:
        gc.enable()


def test_what_it_raised_is_kept_until_it_is_forgotten() -> None:
    import ctypes

    raised = np.zeros(1, np.int64)
    callback = Callback(Heavy().step, raised)
    ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(callback.address)(0, 0)
    assert raised[0] == 1 and isinstance(callback.error, ValueError)
    callback.forget()
    assert callback.error is None
