"""How two feet share the ground's force.

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

The strength paper's own shares (`supporting_ratios.py`) can be had instead, for any number of supports. They hardly see
where the centre of mass is: over one foot they still say 52 : 48.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.dynamics.ground import GroundReaction
from poise.dynamics.supporting_ratios import compute_supporting_ratios

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


def share_between_feet(reaction: GroundReaction, center: np.ndarray, soles: Soles, contact: np.ndarray) -> FootForces:
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


def share_by_ratios(
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
