"""A step that the engine makes in parts: what keeps joints in their ranges and calms them is asked for before each.

Drivers give their torques once a step. Where something is fast the engine cuts that step (`SimulationLaws.again`), and
a joint that is struck in its middle would go through its range before anybody looks.
"""

from __future__ import annotations

from poise.compiled.law import fields, law
from poise.compiled.views import blocks, floats, integers, record, vectors
from poise.dynamics.body_kernels import BODY, update_body
from poise.engines.engine import AGAIN

# torque (J, 3), damping (J,) of the drivers, turns (J, 3, 3) of the bodies as the step began;  again: the engine's
# block of AGAIN;  dt: s, of the step
PARTS = fields(arrays="torque damping turns", integers="again", floats="dt")


@law
def keep(body: int, block: int) -> None:
    """What drivers ask for."""
    b, x = record(body, BODY), record(block, PARTS)
    j = b.joints
    torque, turns, R = vectors(x.torque, j, 3), blocks(x.turns, j, 3, 3), blocks(b.R, j, 3, 3)
    now, damping, own = vectors(b.torque, j, 3), floats(x.damping, j), floats(b.damping, j)
    x.dt = b.dt
    for i in range(j):
        damping[i] = own[i]
        for a in range(3):
            torque[i, a] = now[i, a]
            for c in range(3):
                turns[i, a, c] = R[i, a, c]


@law
def renew(body: int, block: int) -> None:
    """The same at the beginning of a part, turned with the bodies; the body is where the engine has it."""
    b, x = record(body, BODY), record(block, PARTS)
    j = b.joints
    update_body(b)
    b.dt = record(x.again, AGAIN).dt
    torque, turns, R = vectors(x.torque, j, 3), blocks(x.turns, j, 3, 3), blocks(b.R, j, 3, 3)
    now, damping, own = vectors(b.torque, j, 3), floats(x.damping, j), floats(b.damping, j)
    nudged = integers(b.nudged, j)
    for i in range(j):
        own[i], nudged[i] = damping[i], 0
        for a in range(3):
            now[i, a] = 0.0
        for c in range(3):
            local = turns[i, 0, c] * torque[i, 0] + turns[i, 1, c] * torque[i, 1] + turns[i, 2, c] * torque[i, 2]
            for a in range(3):
                now[i, a] += R[i, a, c] * local


@law
def end_parts(body: int, block: int) -> None:
    """The step is whole again."""
    b, x = record(body, BODY), record(block, PARTS)
    b.dt = x.dt
