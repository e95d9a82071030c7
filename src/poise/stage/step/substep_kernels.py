"""Substeps: joint limits and damping are computed again before each.

Drivers compute their torques once per step. Where something is fast the engine divides that step
(`SimulationLaws.substep`), and a joint that is struck in its middle would pass through its range before its limit acts.
"""

from __future__ import annotations

from typing import Annotated

from poise.compiled.law import law
from poise.compiled.layout import Floats, Layout, at
from poise.compiled.views import record
from poise.dynamics.body_kernels import Body, update_body
from poise.engines.engine import SUBSTEP


class StepCommands(Layout):
    """The commands of one body's drivers for the entire step."""

    joints: int
    substep: int  # address of the engine's block of SUBSTEP
    dt: float  # s, of the step
    torque: Annotated[Floats, "joints", 3]  # N m
    damping: Annotated[Floats, "joints"]  # N m s/rad
    R: Annotated[Floats, "joints", 3, 3]  # orientations of the bodies as the step begins


@law
def keep_commands(body: int, block: int) -> None:
    """Keep the commands of the drivers."""
    b, x = at(body, Body), at(block, StepCommands)
    x.dt = b.dt
    x.damping[:] = b.damping
    x.torque[:] = b.torque
    x.R[:] = b.R


@law
def renew_commands(body: int, block: int) -> None:
    """Write the kept commands at the beginning of a substep, turned with the bodies, which the engine has moved."""
    b, x = at(body, Body), at(block, StepCommands)
    update_body(b)
    b.dt = record(x.substep, SUBSTEP).dt
    torque, kept, before, R, nudged = b.torque, x.torque, x.R, b.R, b.nudged
    b.damping[:] = x.damping
    for i in range(b.joints):
        nudged[i] = 0
        for c in range(3):
            torque[i, c] = 0.0
        for k in range(3):
            local = before[i, 0, k] * kept[i, 0] + before[i, 1, k] * kept[i, 1] + before[i, 2, k] * kept[i, 2]
            for c in range(3):
                torque[i, c] += R[i, c, k] * local


@law
def end_substeps(body: int, block: int) -> None:
    """Set the length of the entire step again."""
    b, x = at(body, Body), at(block, StepCommands)
    b.dt = x.dt
