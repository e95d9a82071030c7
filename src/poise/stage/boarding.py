"""Getting on a thing that moves: a root that is to ride on it has its speed at once, and so has all of the body."""

from __future__ import annotations

import numpy as np

from poise.drivers.body import Body
from poise.errors import InputError
from poise.spatial import rotation

MOST_JUMP = 10.0  # m/s, of any point of the body: faster than anybody jumps on anything


def check_boarding(body: Body, prop: str, name: str) -> None:
    """Raise InputError where a root that rides on a prop from now on would jump to another speed, or be flung off.

    As fast as the prop is where the root is now, and half a body's height from there.
    """
    seat, state = body.read_prop(prop), body.state
    arm = state.root - seat.position
    jump = float(np.linalg.norm(seat.velocity + np.cross(seat.spin, arm) - state.v))
    turn = float(np.linalg.norm(seat.spin - rotation.rotate(state.q[0], state.w[0])))
    fast = jump + 0.5 * body.character.stature * turn
    if not fast <= MOST_JUMP:
        raise InputError(
            f"'{prop}' is {np.linalg.norm(arm):.2g} m from the root of '{name}' and turns at "
            f"{np.linalg.norm(seat.spin):.2g} rad/s: who rides on it from now on would be faster by {fast:.3g} m/s at "
            f"once, and {MOST_JUMP:g} is the most. Have it slower, or nearer."
        )
