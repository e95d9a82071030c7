"""The force of the ground that a motion needs: its sum, where it acts, and how the feet share it.

The sum and the point where it acts.

Nothing but the world outside can hold the root of a body, so the force and moment that inverse dynamics leaves there,
when no external wrench is given, are those of the ground (if nothing else touches the body).

How two feet share the ground's force.

Motion alone gives the net force F and its pressure centre p; with both feet down their shares are not determined. Two
assumptions settle them. First, the vertical shares are those of statics for two legs without ankle moments across the
line between them: with c_1, c_2 the middles of the two areas of contact,

    lambda = clip( (p - c_2) . (c_1 - c_2) / |c_1 - c_2|^2, 0, 1 )       the first foot's share
    p_k    = c_k + (p - lambda c_1 - (1 - lambda) c_2)                   its own pressure centre

Second, both feet push towards one point V on the net force's line, somewhat above the centre of mass, the virtual pivot
point of Maus, Lipfert, Gross, Rummel and Seyfarth (2010), *Upright human gait did not provide a major mechanical
challenge for our ancestors*: the foot ahead brakes while the one behind drives.

    V   = p + h F / F_y                                                  h: its height over the ground
    F_k = lambda_k F_y (V - p_k) / h                                     adds up to F, without moment about V

So the shares add up to the net force *and* the net moment. The ground can only push under a sole, so each p_k is moved
to the nearest point of it; what moment is lost by that is left at the root, where it can be seen.

In a physical motion a foot that lands takes over from zero as the pressure centre passes. Where the motion is not
physical the shares would jump there, so a foot comes into play by degrees: with w_k from 0 (just touching) to 1,

    a_1 = lambda w_1 w_2 + w_1 (1 - w_2),   a_2 likewise,   lambda_k = a_k / (a_1 + a_2)

The strength paper's own shares (`ground_reaction.py`) can be had instead, for any number of supports. They hardly see
where the centre of mass is: over one foot they still say 52 : 48.

How much of the ground's push each support takes, by the strength paper's own formula.   [strength, eq 2]

    alpha_i = ((a_m - g) . u_i) (n_i . u_i),   u_i = l_i / |l_i|         clipped below at 0, then made to add up to 1

a_m  acceleration of the centre of mass; m (a_m - g) is the net force of what supports the body
l_i  from the point of contact to the centre of mass
n_i  normal of what is touched, towards the body

Differences from the source: it has a_m where a_m - g stands, and a figure at rest would get zeros. Where all are
clipped nothing carries the body: it flies. Force and torque are shared in proportion to alpha_i (it says a_m).

The formula hardly sees where the centre of mass is: at rest on level ground alpha_i is the squared cosine of how far
l_i leans. Straight over one foot, with the other 0.29 of its height aside, it says 52 : 48 where statics say 100 : 0.
`ground_reaction.py` has shares that do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.dynamics.newton_euler import JointForces, compute_inverse_dynamics
from poise.dynamics.tree import GRAVITY, Tree, TreeState
from poise.spatial import rotation

# Below this share of body weight the pressure centre divides noise by almost nothing; force-plate software commonly
# stops at 2 to 5 %.
LEAST_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class GroundReaction:
    """The net wrench of the ground on the body, in world axes.

    force        (..., 3) N
    moment       (..., 3) N m about the world's origin
    pressure     (..., 3) m, centre of pressure (on flat ground: the zero-moment point) on the plane at `height`;
                 NaN where the ground hardly pushes
    free_moment  (...,) N m about the vertical through it
    """

    force: np.ndarray
    moment: np.ndarray
    pressure: np.ndarray
    free_moment: np.ndarray


def compute_ground_reaction(
    tree: Tree, state: TreeState, height: float = 0.0, gravity: np.ndarray = GRAVITY
) -> GroundReaction:
    """Net ground force and centre of pressure from motion alone. `height` m is where the ground is."""
    free = compute_inverse_dynamics(tree, state, gravity=gravity)
    return find_pressure(tree, *root_wrench(state, free), height=height, gravity=gravity)


def root_wrench(state: TreeState, forces: JointForces) -> tuple[np.ndarray, np.ndarray]:
    """What is left at the root: force (..., 3) N and moment (..., 3) N m about the world's origin, world axes."""
    torque = rotation.rotate(state.rotations[..., 0, :], forces.torque[..., 0, :])
    return forces.force, torque + np.cross(state.root, forces.force)


def find_pressure(
    tree: Tree, force: np.ndarray, moment: np.ndarray, height: float | np.ndarray = 0.0, gravity: np.ndarray = GRAVITY
) -> GroundReaction:
    """The point of the plane y = height about which the horizontal moment vanishes.   [strength, section 4.2]

    height  m, or (...,) where the ground differs from frame to frame
    M = p x f + free moment, with p_y = height; only the tangential moment can be made zero (erratum of eq 3).
    """
    pushes = force[..., 1] > LEAST_SHARE * tree.mass * float(np.linalg.norm(gravity))
    lift = np.where(pushes, force[..., 1], np.nan)
    x = (moment[..., 2] + height * force[..., 0]) / lift
    z = (height * force[..., 2] - moment[..., 0]) / lift
    pressure = np.stack([x, np.where(pushes, height, np.nan), z], axis=-1)
    free_moment = np.where(pushes, moment[..., 1] - (z * force[..., 0] - x * force[..., 2]), 0.0)
    return GroundReaction(force, moment, pressure, free_moment)


# Half a foot's breadth over its length, 0.055 and 0.152 of stature (Drillis and Contini 1966; Winter 2009, fig. 4.1).
HALF_BREADTH = 0.5 * 0.055 / 0.152
# Height of V over that of the centre of mass. On three walks over force plates the fore-aft force of each foot in
# double support is then 2 to 3 % of body weight off; 1.2 to 1.5 do alike, 1.0 gives 4 %, parallel forces give 7 %.
PIVOT = 1.3


@dataclass(frozen=True, eq=False)
class FootForces:
    """What the ground does to each of two feet, or of n supports, in world axes.

    share        (..., n) of the net vertical force, 0 to 1; all 0 where nothing is down
    force        (..., n, 3) N
    point        (..., n, 3) m, pressure centre of each foot; the foot's own middle where it carries nothing
    free_moment  (..., n) N m about the vertical
    """

    share: np.ndarray
    force: np.ndarray
    point: np.ndarray
    free_moment: np.ndarray

    def pick(self, supports: slice) -> FootForces:
        """Those of some supports."""
        return FootForces(
            self.share[..., supports],
            self.force[..., supports, :],
            self.point[..., supports, :],
            self.free_moment[..., supports],
        )


@dataclass(frozen=True, eq=False)
class Soles:
    """Where two feet, or n supports, could be pushed; (..., n, 3) m each.

    middle      middle of the area of contact, or of the foot where it has none
    heel, tip   where the sole begins and ends; the same point for a knee
    """

    middle: np.ndarray
    heel: np.ndarray
    tip: np.ndarray


def split_by_pivot(reaction: GroundReaction, center: np.ndarray, soles: Soles, contact: np.ndarray) -> FootForces:
    """Share the net ground force between two feet.

    center   (..., 3) m, centre of mass
    contact  (..., 2) how far each foot is in play, 0 (in the air) to 1
    """
    pushes = np.isfinite(reaction.pressure).all(axis=-1) & (contact > 0).any(axis=-1)
    pressure = np.where(pushes[..., None], reaction.pressure, soles.middle[..., 1, :])
    share = _vertical_shares(pressure, soles.middle, contact) * pushes[..., None]
    middle = np.sum(share[..., None] * soles.middle, axis=-2)
    moved = _onto_sole(soles.middle + (pressure - middle)[..., None, :], soles)
    point = np.where((share > 0)[..., None], moved, soles.middle)
    height = np.maximum(PIVOT * (center - pressure)[..., 1], 0.1)
    lift = np.where(pushes, reaction.force[..., 1], 1.0)
    pivot = pressure + reaction.force * (height / lift)[..., None]
    force = (share * (lift / height)[..., None])[..., None] * (pivot[..., None, :] - point)
    net = np.where(pushes[..., None], reaction.force, 0.0)
    force = force + share[..., None] * (net - force.sum(axis=-2))[..., None, :]  # what moving onto the soles took
    return FootForces(share, force, point, share * reaction.free_moment[..., None])


def split_by_supporting_ratios(
    reaction: GroundReaction,
    center: np.ndarray,
    soles: Soles,
    contact: np.ndarray,
    paths: Sequence[int] | None = None,
) -> FootForces:
    """Share the net ground force between n supports in proportion to the strength paper's ratios.   [strength, eq 2]

    Each gets the same part of the force and of its moment, so that all push along the net force's line: through its
    pressure centre, or the point of the support that is nearest to it. What moment is lost by that is left at the root,
    and it is much wherever the ratios are not those of statics.

    center   (..., 3) m, centre of mass
    contact  (..., n) how far each support is in play, 0 (in the air) to 1
    paths    (n,) see `compute_supporting_ratios`
    """
    pushes = np.isfinite(reaction.pressure).all(axis=-1)
    share = compute_supporting_ratios(reaction.force, center, soles.middle, contact, paths=paths) * pushes[..., None]
    pressure = np.where(pushes[..., None], reaction.pressure, 0.0)[..., None, :]
    lift = np.where(pushes, reaction.force[..., 1], 1.0)[..., None]
    rise = (soles.middle - pressure)[..., 1] / lift  # along the force's line to the height of each support
    line = pressure + rise[..., None] * reaction.force[..., None, :]
    point = np.where((share > 0)[..., None], _onto_sole(line, soles), soles.middle)
    # F_i = alpha_i F   [strength, section 4.1, with its erratum]
    force = share[..., None] * reaction.force[..., None, :]
    return FootForces(share, force, point, share * reaction.free_moment[..., None])


def _vertical_shares(pressure: np.ndarray, middle: np.ndarray, contact: np.ndarray) -> np.ndarray:
    """(..., 2), adding up to 1."""
    apart = (middle[..., 0, :] - middle[..., 1, :]) * [1.0, 0.0, 1.0]
    distance = np.maximum(np.sum(apart * apart, axis=-1), 1e-12)
    lever = np.clip(np.sum((pressure - middle[..., 1, :]) * apart, axis=-1) / distance, 0.0, 1.0)
    levers = np.stack([lever, 1.0 - lever], axis=-1)
    other = contact[..., ::-1]
    shares = levers * contact * other + contact * (1.0 - other)
    total = shares.sum(axis=-1, keepdims=True)
    return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 0.5)


def _onto_sole(point: np.ndarray, soles: Soles) -> np.ndarray:
    """The nearest point of the rectangle around heel and toe tip, seen from above; heights stay."""
    flat = np.array([1.0, 0.0, 1.0])
    along = (soles.tip - soles.heel) * flat
    length = np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-9)
    along = along / length
    across = np.cross([0.0, 1.0, 0.0], along)
    away = (point - soles.heel) * flat
    forward = np.sum(away * along, axis=-1, keepdims=True)
    sideways = np.sum(away * across, axis=-1, keepdims=True)
    limit = HALF_BREADTH * length
    moved = soles.heel + np.clip(forward, 0.0, length) * along + np.clip(sideways, -limit, limit) * across
    return np.where(flat > 0, moved, point)


UP = np.array([0.0, 1.0, 0.0])


def compute_supporting_ratios(
    push: np.ndarray,
    center: np.ndarray,
    points: np.ndarray,
    contact: np.ndarray,
    normals: np.ndarray = UP,
    paths: Sequence[int] | None = None,
) -> np.ndarray:
    """(..., n) the share of each of n supports, adding up to 1; all 0 in flight.

    push     (..., 3) along a_m - g, of any length: the net force, say
    center   (..., 3) m, centre of mass
    points   (..., n, 3) m, where each support touches
    contact  (..., n) how far it is in play, 0 (in the air) to 1
    normals  (..., n, 3) unit, of what is touched; level ground if not given
    paths    (n,) supports with the same number lie on one path to the root, as a knee and the foot below it: of these
             the one with the largest ratio carries and the others are neglected. None: no two do
    """
    away = center[..., None, :] - points
    length = np.linalg.norm(away, axis=-1, keepdims=True)
    u = away / np.where(length > 0.0, length, 1.0)
    # alpha_i = ((a_m - g) . l_i / |l_i|) (n_i . l_i / |l_i|)   [strength, eq 2, with its erratum]
    alpha = np.sum(push[..., None, :] * u, axis=-1) * np.sum(normals * u, axis=-1)
    alpha = np.maximum(alpha, 0.0) * contact
    if paths is not None:
        alpha = _keep_largest(alpha, paths)
    total = alpha.sum(axis=-1, keepdims=True)
    return alpha / np.where(total > 0.0, total, 1.0)


def _keep_largest(alpha: np.ndarray, paths: Sequence[int]) -> np.ndarray:
    """The ratios with only the largest of each path, the first of equal ones.   [strength, section 4.1]"""
    kept = np.zeros_like(alpha)
    for path in sorted(set(paths)):
        members = [i for i, other in enumerate(paths) if other == path]
        of_path = alpha[..., members]
        largest = np.arange(len(members)) == np.argmax(of_path, axis=-1)[..., None]
        kept[..., members] = np.where(largest, of_path, 0.0)
    return kept
