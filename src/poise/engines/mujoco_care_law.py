"""MuJoCo's step where its own would not do, as a law; see `mujoco_care`."""

from __future__ import annotations

from typing import Any

from poise.engines.mujoco_care import GRADIENTS, LONGEST
from poise.engines.mujoco_landing_law import LANDING, look, meet
from poise.engines.mujoco_law import DATA, keep_before
from poise.engines.mujoco_moved_law import shift
from poise.spatial.addresses import call_with_two, record, shorts
from poise.spatial.compile import kernel
from poise.spatial.law import law


@law
def step(_body: int, block: int) -> None:
    """MuJoCo's step, with contacts ahead of what falls, and such as know how fast the segments in them are."""
    d = record(block, DATA)
    if d.is_away == 1:
        keep_before(d)
    is_fast = False
    if d.landing != 0:
        is_fast = look(d, record(d.landing, LANDING))
    d.unsolved = 0
    call_with_two(d.forward, d.model, d.data)
    is_met = False
    if d.landing != 0:
        is_met = meet(d, record(d.landing, LANDING), is_fast)
    if shift(d) or is_met:
        call_with_two(d.solve, d.model, d.data)
    if shorts(d.data + d.niter, 1)[0] >= shorts(d.model + d.iterations, 1)[0]:
        _solve_again(d)
    call_with_two(d.advance, d.model, d.data)


@kernel
def _solve_again(d: Any) -> None:
    """Contacts by conjugate gradients, where Newton's method has found no end."""
    solver, most = shorts(d.model + d.solver, 1), shorts(d.model + d.iterations, 1)
    before, usual = solver[0], most[0]
    solver[0], most[0] = GRADIENTS, LONGEST
    call_with_two(d.solve, d.model, d.data)
    d.unsolved = 1 if shorts(d.data + d.niter, 1)[0] >= LONGEST else 0
    solver[0], most[0] = before, usual
