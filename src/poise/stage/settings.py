"""What a stage is told when it is made, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from poise.errors import InputError, unknown_name

COUPLINGS = ("exact", "paper")
MOST_GRAVITY = 1000.0  # m/s2
STEPS = (1e-5, 0.05)  # s


def is_step(dt: float) -> bool:
    """Whether a stage can take steps of dt (s); round-off aside, since 1 / 1e5 frames a second is below 1e-5 s."""
    return math.isfinite(dt) and STEPS[0] * (1.0 - 1e-9) <= dt <= STEPS[1] * (1.0 + 1e-9)


def check_settings(
    dt: float, couple: str, gain: float, torque_only: bool, coupling_filter: float | None, threads: int
) -> None:
    """Raise InputError for what no stage can be."""
    if couple not in COUPLINGS:
        raise unknown_name("coupling", couple, COUPLINGS)
    if not is_step(dt):
        raise InputError(f"a step of {dt:g} s cannot be used; it must be from {STEPS[0]:g} to {STEPS[1]:g} s.")
    if not (math.isfinite(gain) and -10.0 <= gain <= 10.0):
        raise InputError(f"a coupling gain of {gain:g} cannot be used; it must be from -10 to 10.")
    if not (isinstance(threads, int) and 1 <= threads <= 256):
        raise InputError(f"a stage runs on 1 to 256 threads; {threads!r} given.")
    if torque_only and couple == "exact":
        raise InputError("torque alone is an option of the 'paper' coupling; 'exact' hands on the whole wrench.")
    if coupling_filter is not None:
        if couple == "exact":
            raise InputError("a coupling filter requires the 'paper' coupling; 'exact' uses no past accelerations.")
        if not 0.0 <= coupling_filter < 1.0:
            raise InputError(f"the coupling filter must be from 0 (as published) to below 1; got {coupling_filter:g}.")


def take_gravity(gravity: Iterable[float]) -> np.ndarray:
    """(3,) m/s2."""
    try:
        found = np.array([float(a) for a in gravity])
    except (TypeError, ValueError):
        raise InputError(f"gravity is three finite numbers (m/s2, world axes); given {gravity!r}.") from None
    if found.shape != (3,) or not np.isfinite(found).all():
        raise InputError(f"gravity is three finite numbers (m/s2, world axes); given {found.tolist()}.")
    pull = float(np.linalg.norm(found))
    if pull > MOST_GRAVITY:
        raise InputError(f"gravity is {pull:g} m/s2; at most {MOST_GRAVITY:g} can be used. The Earth's is 9.81.")
    return found
