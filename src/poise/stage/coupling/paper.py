"""The `paper` coupling where it is sound, and a refusal where it is not.   [mix, eq 2-7]

The paper puts -k W on each connector, with W found from the connector's acceleration of the step before. Between the
accelerations x of the physical freedoms, step after step, that is an iteration, whatever the step is:

    H x(n+1) = f - k B y(n)              y(n+1) = (1 - s) y(n) + s x(n+1)

    H  inertia of the physical part without what it carries;  B: what kinematic parts, locked, ask for at its freedoms
    s  the filter factor: fraction of the last step in the acceleration that W is found from; 1 as published

It dies out where every u of B x = u H x has |1 - s (1 + k u)| < 1, so for s (1 + k u) < 2: u is how many times heavier
the locked parts are than what carries them. It is 3 for both arms on a trunk in one piece, 9 when they are stretched
out, 36 on a spine of three segments with collar bones, 90 for all above the hips. Contacts, dampers and hinges make the
physical part heavier, and u smaller. No s will do where 1 + k u is negative: a gain that takes away more inertia than
there is. With a small s the heaviest are still followed at once; what weighs as much as its carrier is followed

    dt / (4 s)

late, at worst, and where that is most of the body, a balance falls over it. Measured: the whole upper body on its legs
stands at a step of 1 ms (21 ms late), sways twice as far or falls at 2.5 (53 ms), falls at 5; both arms of any body
stand at up to 10 ms.

A blow meets the physical part alone before what it carries is felt, and makes that too fast by

    J / M  dt / (s T)                    J its impulse, T how long it lasts, M the whole body

so a shorter push is spread over `SPREAD` dt / s, with the same impulse.

W has the weight of what is given in it, so that a gain other than 1 takes |1 - k| of that away from a body that floats,
or puts it on: the ground meets another body than the one that balances. Arms are a tenth of a body, and k = 2 stands;
at half of the upper body's weight a balance threw it into the air.

Late is a matter of how fast things turn, too: a body that falls or floats and whose heavier part is given tumbles on
its own. Where more than `HEAVY` of the body is given it has to stand, and is let go where it no longer does.

A live motion may jump, which is a blow from within that nothing can spread: most of a body is not driven by one.

u goes with the pose: the step's law finds it anew every `EVERY` steps (`stage/step/kernels.py:differentiate`).

`Stage(coupling_filter=f)` sets s = 1 - f for good and leaves out all checks: f = 0 is the law as published, which
diverges by a factor of -k u per step if k u > 1.
"""

from __future__ import annotations

import numpy as np

from poise.drivers.body import Body
from poise.dynamics.tree import Tree
from poise.errors import InputError
from poise.world.forces import Push

EVERY = 10  # steps
LATEST = 0.04  # s, of how late the body's mass may be followed
HEAVY = 0.3  # of the body's mass
MOST_WEIGHT = 0.2  # of the body's: as much as a gain may take away or put on
SPREAD = 3.0  # times dt / s: a blow makes nothing faster than by a third too much


def lags(filter_factor: float) -> bool:
    """Return whether prescribed parts are followed late; a falling body cannot bear that."""
    from poise.stage.coupling.paper_kernels import DEFAULT_FACTOR

    return 0.0 < filter_factor < DEFAULT_FACTOR


def check_standing(body: Body, given: np.ndarray, stands: bool, name: str) -> None:
    """Raise InputError if most of a floating body is given (J,), and nothing keeps it on its feet."""
    fraction = float(body.tree.masses[given].sum()) / body.tree.mass
    if not (stands or given[0]) and fraction > HEAVY:
        raise InputError(
            f"{100.0 * fraction:.0f} % of '{name}' would be kinematic while it does not stand: the 'paper' coupling, "
            f"which is late, takes {100.0 * HEAVY:.0f} % at most. Couple by 'exact', or drive less by a motion."
        )


def check_live(body: Body, joints: list[int], name: str) -> None:
    """Raise InputError if joints that follow a live motion are most of a body: a jump cannot be followed late."""
    fraction = float(body.tree.masses[joints].sum()) / body.tree.mass
    if 0 not in joints and fraction > HEAVY:
        raise InputError(
            f"{100.0 * fraction:.0f} % of '{name}' would follow a live motion, which may jump: the 'paper' coupling, "
            f"which is late, takes {100.0 * HEAVY:.0f} % at most. Couple by 'exact', or drive less by it."
        )


def spread(push: Push, filter_factor: float, dt: float) -> Push:
    """Return a push of the same impulse that lasts at least as long as the coupling takes to follow it."""
    least = SPREAD * dt / filter_factor if lags(filter_factor) else 0.0
    if push.seconds >= least:
        return push
    x, y, z = (a * push.seconds / least for a in push.force)
    return Push(push.joint, (x, y, z), least, push.start)


def find_filter(
    body: Body, given: np.ndarray, gain: float, torque_only: bool, name: str, max_mass_ratio_time: float
) -> float:
    """Return the filter factor s for a body in its present pose; raise InputError if the coupling would be unstable.

    given  (J,) bool, joints whose motion is given
    name   of the actor, for errors
    max_mass_ratio_time  s, the engine's: see `Capabilities`
    """
    from poise.dynamics.body_kernels import pose_bodies
    from poise.stage.coupling.paper_kernels import DEFAULT_FACTOR, choose_filter, find_ratio

    if given.all() or not given.any():
        return DEFAULT_FACTOR
    changed = abs(1.0 - gain) * float(body.tree.masses[given].sum()) / body.tree.mass
    if not given[0] and changed > MOST_WEIGHT:
        raise InputError(
            f"at a gain of {gain:g} the 'paper' coupling changes the weight of '{name}' by {100.0 * changed:.0f} %, "
            f"and {100.0 * MOST_WEIGHT:.0f} % is the most. Couple by 'exact', drive less by a motion, or take a gain "
            "nearer to 1."
        )
    if gain == 0.0:
        return DEFAULT_FACTOR
    tree, straight = body.tree, body.state.q.copy()
    straight[given] = [1.0, 0.0, 0.0, 0.0]
    factors, ratios, R, p = [], [], np.empty((len(tree), 3, 3)), np.empty((len(tree), 3))
    for q in (body.state.q, straight):
        pose_bodies(tree.parents, tree.offsets, body.state.root, q, R, p)
        ratio = float(find_ratio(body.block, given, R, p, torque_only))
        ratios.append(ratio)
        factors.append(float(choose_filter(ratio, gain)))
    is_heavy = ratios[0] * body.dt > max_mass_ratio_time
    if min(factors) == 0.0 or is_heavy or find_delay(tree, given, gain, factors[0], body.dt) > LATEST:
        raise InputError(
            f"what is kinematic of '{name}' weighs {ratios[0]:.3g} times what carries it: at a gain of {gain:g} and a "
            f"step of {body.dt:g} s the 'paper' coupling, which is late, would not be stable. Couple by 'exact', drive "
            "less by a motion, or take a smaller step."
        )
    return factors[0]


def find_delay(tree: Tree, given: np.ndarray, gain: float, filter_factor: float, dt: float) -> float:
    """Return the largest delay (s) of the given parts, weighted by the fraction of the body's mass that they are."""
    from poise.stage.coupling.paper_kernels import DEFAULT_FACTOR

    carried, own = float(tree.masses[given].sum()), float(tree.masses[~given].sum())
    weight = min(1.0, abs(gain) * carried / own) if own > 0.0 else 1.0
    return 0.0 if filter_factor >= DEFAULT_FACTOR else weight * dt / (4.0 * filter_factor)
