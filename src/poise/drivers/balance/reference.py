"""What a balance aims at when it follows a clip: the clip's hips and centre of mass, as far as planted feet allow.

    centre of mass   the clip's without loads, changed as little as keeps its pressure centre within the inner support,
                     with a part of the load on either foot
    hip height       the clip's, counted from the height at which the body begins, no higher than legs that are not
                     quite straight reach from where the feet are, and no livelier than leaves a load on the feet
    hip orientation  the clip's
    legs             what their masses and their damping then ask of their joints (`planted_legs`)

Their rates go with them, and so does what the clip asks of the ground: the acceleration of its centre of mass and the
rate of its angular momentum. Without those a bow would throw the body on its back before the springs notice. Everything
is low-passed before rates are taken: these are forces, not poses.

A centre of mass c that moves as asked presses on the ground at s = c - (h F - M) / F_y. Where the clip's s leaves the
inner support (its feet are larger than the skeleton shows, its segments lighter, a hand held on to something), s is
brought back to it, and c is what then goes with it:

    c'' = F_y (c - s) / (m h) + M / (m h)

with c within the support at both ends: a boundary value problem, which is as stable as its initial value problem is
not. (The pressure-centre filter of biped robots: Kagami et al. 2002, A fast dynamically equilibrated walking
trajectory generation method of humanoid robot.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from poise.body.geometry.soles import leg_length
from poise.body.roles import SIDES
from poise.drivers.balance import settings as record
from poise.drivers.balance.planted_legs import find_leg_torques
from poise.drivers.balance.support_polygon import SupportPolygon, find_outline
from poise.drivers.body import Body
from poise.dynamics.kinematics import compute_center_of_mass, compute_momentum, compute_world_pose
from poise.dynamics.tree import TreeState, build_tree
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.spatial import rotation
from poise.spatial.filter import lowpass, lowpass_rotations, uniform_rate
from poise.world.foot_boxes import find_soles_of

# Of each sole about its middle: the share that a pressure centre may be asked to; of the load: what either foot carries
# at least. Feet that carry less are dragged along by their legs: at 0.2 some of a fighter's slid by 20 mm.
INNER, LEAST = 0.7, 0.3
# Hz: hips of people who stand move below it; noise of a recording above it would become force.
CUTOFF = 4.0
QUIET = 2.0  # Hz: a pressure centre that goes from heel to toe faster rolls the foot
BEGINNING = 0.6  # s, from rest into a clip that begins in the middle of a movement
# m/s2, the largest acceleration of a centre of mass that goes to its aim from where it begins: the pressure centre
# moves by 10 mm for it. Loads, arms of another clip and a support narrower than the person's begin up to 50 mm off.
# Measured on recordings with other people's arms: soles slid by 0.5 mm at 0.7 m/s2, by 0.15 at 0.3 and 0.2, by 0.06 at
# most at 0.1.
GENTLE = 0.1
_HELD = 60.0  # Hz, frames of a pose that is held
LIFT = (0.2, 2.0)  # of the weight: as much as a balance lets the ground push
CALM = (0.65, 1.45)  # of the weight: as much as a clip's hips may ask of the ground
STRAIGHT = 0.975  # the longest leg, hip to ankle, as a share of its length: a knee that is straighter can only be bent
_SLOWER = (2.8, 2.0, 1.4, 1.0, 0.7, 0.5)  # Hz
_GAUSS = 0.1325  # s Hz, half the width of a Gaussian window that halves the power at a frequency
_LOW = 0.1  # m: a centre of mass is never this low over feet that carry it
_LOWEST = 0.35  # of the leg's length, hip over ankle: below, no flat foot is under a body


@dataclass(eq=False)
class BalanceReference:
    """Aims over F times (s, the clip's).

    aims    (F, 39) the first 21 of `drivers/balance/settings.py`, and the torques of the legs
    habits  (F, 2) m, x and z from the hips to the centre of mass
    height  (F,) m, of the hips
    own_up  (3,) what points up in the root's axes where the hips are upright
    memory  (3,) whether it was written before, and the habit that was written last
    """

    times: np.ndarray
    aims: np.ndarray
    habits: np.ndarray
    height: np.ndarray
    own_up: np.ndarray
    memory: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def write(self, t: float, aim: np.ndarray, habit: np.ndarray) -> None:
        """The aim at a time, at rest before and after the clip; habit goes along with the clip's."""
        from poise.drivers.balance.kernels import follow

        follow(self.times, self.aims, self.habits, t, self.memory, aim, habit)

    def sinking(self, t: float) -> float:
        """m, how far the hips are to be from where they began."""
        return float(np.interp(t, self.times, self.height) - self.height[0])

    def wanted_up(self, t: float) -> np.ndarray:
        """(3,) where the body's own up is to point."""
        frame = int(np.clip(np.searchsorted(self.times, t), 0, len(self.times) - 1))
        return rotation.rotate(rotation.normalize(self.aims[frame, 3:7]), np.array([0.0, 1.0, 0.0]))


def build_following(
    clip: Clip, body: Body, legs: np.ndarray, corners: np.ndarray, ground: float, damping: np.ndarray
) -> BalanceReference:
    """The aims of a clip for a body that stands as it is going to.

    legs (2, 3), corners (2, 4, 3): see `drivers/balance/settings.py`;  ground  m, the height of the floor between the
    feet
    """
    if clip.skeleton.names != body.skeleton.names:
        raise InputError("a balance follows a clip of its own skeleton; this clip has other joints. Retarget it first.")
    clip.check_bones(range(len(clip.skeleton)))
    if len(clip) == 1:  # a pose: held while the body goes there, and from then on
        times = clip.times[0] + np.arange(round(2.0 * BEGINNING * _HELD)) / _HELD
        root, turns = (np.repeat(each, len(times), axis=0) for each in (clip.root, clip.rotations))
        clip = clip.replace(times=times, root=root, rotations=turns, shifts=None)
    rate = uniform_rate(clip.times)
    hips = int(body.tree.parents[legs[0, 0]])
    is_noisy = rate > 2.5 * CUTOFF and len(clip) > 3
    root = lowpass(clip.root, rate, CUTOFF) if is_noisy else clip.root
    turns = lowpass_rotations(clip.rotations, rate, CUTOFF) if is_noisy else clip.rotations
    pose = compute_world_pose(body.tree, root, turns)
    # The clip carries no loads: a loaded body keeps its centre of mass where the bare one has it.
    bare = build_tree(body.character)
    middle = compute_center_of_mass(bare, root, turns)
    loaded = compute_center_of_mass(body.tree, root, turns) - middle
    places = pose.joints[:, hips]
    turned = rotation.make_continuous(rotation.from_matrix(pose.turns[:, hips]))
    places, middle, turned = _begin_at_rest(places, middle, turned, rate)
    habit = (middle + loaded - places)[:, [0, 2]]
    inner = _find_inner(find_soles_of(body.R, body.p, legs[:, 2], corners))
    height = body.p[hips, 1] + places[:, 1] - places[0, 1]
    reach = _find_reach(body, legs, turned, _clamp_all(inner, middle[:, [0, 2]]) - habit, hips)
    height = np.minimum(height, reach)
    height = np.maximum(height, _find_lowest(body, legs))
    over = middle[:, 1] + loaded[:, 1] - places[:, 1] - ground
    if is_noisy:  # clamping made corners
        height = lowpass(height, rate, CUTOFF)
        height = _stay_below(_calm(height + over, rate, body.weight_per_mass) - over, reach, rate)
        height += _fade(body.p[[hips], 1] - height[0], -(height[1:2] - height[0]) * rate, len(height), rate)[:, 0]
    above = height + over
    lifting = np.gradient(np.gradient(above, 1.0 / rate), 1.0 / rate)
    moment = np.gradient(_angular_momentum(body, root, turns, rate), 1.0 / rate, axis=0)
    center = _find_feasible(
        middle[:, [0, 2]], above, lifting, moment[:, [2, 0]] * [1.0, -1.0] / body.tree.mass, rate, inner, QUIET
    )
    # Hips at rest, and what they carry as fast as it is: a trunk on springs is at rest, too.
    carried = habit[1] - habit[0] if body.trunk_moves else 0.0
    late = (carried - center[1] + center[0]) * rate
    center += _fade(np.zeros(2), late, len(center), rate) + _fade_calmly(body.c[[0, 2]] - center[0], len(center), rate)
    speed = np.gradient(center, 1.0 / rate, axis=0)
    rising = np.gradient(height, 1.0 / rate)
    hips_at = np.stack([center[:, 0] - habit[:, 0], height, center[:, 1] - habit[:, 1]], axis=1)
    torques = find_leg_torques(body, legs, hips_at, turned, rate, damping)
    aims = np.zeros((len(clip), record.HOME + torques[0].size))
    for at, values in (
        (record.CENTER_X, center),
        (record.HEIGHT, height[:, None]),
        (record.TURN, turned),
        (record.CENTER_SPEED, speed),
        (record.HIP_SPEED, speed - np.gradient(habit, 1.0 / rate, axis=0)),
        (record.CENTER_PULL, np.gradient(speed, 1.0 / rate, axis=0)),
        (record.RISING, rising[:, None]),
        (record.LIFTING, lifting[:, None]),
        (record.SPIN, _spin(turned, rate)),
        (record.MOMENT, moment),
        (record.HOME, torques.reshape(len(clip), -1)),
    ):
        aims[:, at : at + values.shape[1]] = values
    up = body.R[0].T @ body.R[hips][:, 1]
    return BalanceReference(*(np.ascontiguousarray(a, float) for a in (clip.times, aims, habit, height, up)))


def _calm(above: np.ndarray, rate: float, gravity: float) -> np.ndarray:
    """(F,) m, a height over the ground (F,) that asks no more of it than `CALM`: smoothed only where it would.

    Feet that carry little slide; and where they carry nothing, no moment keeps a body upright.
    """
    from scipy.ndimage import gaussian_filter1d, maximum_filter1d

    for cutoff in _SLOWER:
        force = 1.0 + np.gradient(np.gradient(above, 1.0 / rate), 1.0 / rate) / gravity
        wild = (force < CALM[0]) | (force > CALM[1])
        if not wild.any() or rate <= 2.5 * cutoff:
            break
        reach = int(np.ceil(0.5 * rate / cutoff))
        near = maximum_filter1d(wild, 2 * reach + 1, mode="nearest")
        sigma = _GAUSS * rate / cutoff
        share = gaussian_filter1d(near.astype(float), sigma, mode="nearest")
        above = above + share * (gaussian_filter1d(above, sigma, mode="nearest") - above)
    return above


def _stay_below(height: np.ndarray, most: np.ndarray, rate: float) -> np.ndarray:
    """(F,) m, a height (F,) that nowhere exceeds another (F,), lowered smoothly about where it would."""
    from scipy.ndimage import gaussian_filter1d, maximum_filter1d

    excess = np.maximum(height - most, 0.0)
    if not excess.any():
        return height
    sigma = _GAUSS * rate / QUIET
    wide = maximum_filter1d(excess, 2 * int(np.ceil(3.0 * sigma)) + 1, mode="nearest")
    return height - gaussian_filter1d(wide, sigma, mode="nearest", truncate=3.0)


def _find_inner(soles: np.ndarray) -> SupportPolygon:
    """Where a pressure centre may be asked to: within `INNER` of each sole, with `LEAST` of the load on either foot.

    soles  (2, 4, 3) m, corners
    """
    middles = soles.mean(axis=1, keepdims=True)
    inner = middles + INNER * (soles - middles)
    shared = [LEAST * middles[k, 0] + (1.0 - LEAST) * corner for k in range(2) for corner in inner[1 - k]]
    return find_outline(np.array(shared))


def _begin_at_rest(
    places: np.ndarray, middle: np.ndarray, turns: np.ndarray, rate: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hips (F, 3), centre of mass (F, 3) and hips' orientation (F, 4) of a clip, from hips at rest into its motion.

    A body that begins to balance stands still. A recording may begin anywhere in a movement.
    """
    f = len(places)
    spin = _spin(turns[:2], rate)[0]
    slowed = _fade(np.zeros(3), -(places[1] - places[0]) * rate, f, rate)
    turned_back = _fade(np.zeros(3), -spin, f, rate)
    carried = np.cross(turned_back, middle - places)
    return places + slowed, middle + slowed + carried, rotation.multiply(rotation.exp(turned_back), turns)


def _fade(value: np.ndarray, slope: np.ndarray, frames: int, rate: float) -> np.ndarray:
    """(F, n) a value (n,) with a slope (n,) 1/s that both go to 0 within `BEGINNING`: Hermite's cubic."""
    u = np.minimum(np.arange(frames) / (rate * BEGINNING), 1.0)[:, None]
    return np.asarray((1.0 + 2.0 * u) * (1.0 - u) ** 2 * value + BEGINNING * u * (1.0 - u) ** 2 * slope)


def _fade_calmly(value: np.ndarray, frames: int, rate: float) -> np.ndarray:
    """(F, n) m, a value (n,) that goes to 0, at rest at both ends, with accelerations of at most `GENTLE`."""
    # of a minimum-jerk motion over d in T: 10 / sqrt(3) d / T^2 at most
    seconds = max(BEGINNING, np.sqrt(10.0 / np.sqrt(3.0) * float(np.linalg.norm(value)) / GENTLE))
    u = np.minimum(np.arange(frames) / (rate * seconds), 1.0)[:, None]
    return np.asarray((1.0 - u) ** 3 * (1.0 + 3.0 * u + 6.0 * u * u) * value)


def _find_feasible(
    center: np.ndarray,
    above: np.ndarray,
    lifting: np.ndarray,
    moment: np.ndarray,
    rate: float,
    inner: SupportPolygon,
    quiet: float | None = None,
) -> np.ndarray:
    """(F, 2) m, x and z of a centre of mass near a given one (F, 2) whose pressure centre stays within an outline.

    above    (F,) m, its height over the ground;  lifting (F,) m/s2, its upward acceleration
    quiet    Hz, above which the pressure centre does not move; None: as fast as it is asked to
    moment   (F, 2) N m/kg, what the pressure centre has to give besides: (M_z, -M_x) / m
    """
    from scipy.linalg import solve_banded
    from scipy.ndimage import gaussian_filter1d

    from poise.dynamics.tree import GRAVITY

    weight = np.clip(-GRAVITY[1] + lifting, *(share * -GRAVITY[1] for share in LIFT))[:, None]
    h = np.maximum(above, _LOW)[:, None]
    pull = np.zeros_like(center)
    pull[1:-1] = (center[2:] - 2.0 * center[1:-1] + center[:-2]) * rate**2
    # s = c - (h F - M) / F_y
    pressure = _clamp_all(inner, center - (h * pull - moment) / weight)
    if quiet is not None:  # means of points of a convex outline are in it, too
        pressure = gaussian_filter1d(pressure, _GAUSS * rate / quiet, axis=0, mode="nearest")
    # c'' - a c = b - a s  with  a = F_y / (m h),  b = M / (m h);  c is the pressure centre at both ends
    a, b = weight / h, moment / h
    bands = np.zeros((3, len(center)))
    bands[0, 2:] = bands[2, :-2] = rate**2
    bands[1] = -2.0 * rate**2 - a[:, 0]
    bands[1, [0, -1]] = 1.0
    wanted = b - a * pressure
    wanted[[0, -1]] = _clamp_all(inner, center[[0, -1]])
    return np.asarray(solve_banded((1, 1), bands, wanted))


def _angular_momentum(body: Body, root: np.ndarray, turns: np.ndarray, rate: float) -> np.ndarray:
    """(F, 3) N m s about the centre of mass, world axes."""
    spins = np.empty((*turns.shape[:2], 3))
    steps = rotation.log(rotation.multiply(rotation.conjugate(turns[:-1]), turns[1:])) * rate
    spins[0], spins[-1], spins[1:-1] = steps[0], steps[-1], 0.5 * (steps[1:] + steps[:-1])
    velocity = np.gradient(root, 1.0 / rate, axis=0)
    still = np.zeros_like(velocity), np.zeros_like(spins)
    return compute_momentum(body.tree, TreeState(root, turns, velocity, spins, *still)).angular


def _clamp_all(outline: SupportPolygon, points: np.ndarray) -> np.ndarray:
    return np.array([outline.clamp(x, z) for x, z in points])


def _find_reach(body: Body, legs: np.ndarray, turns: np.ndarray, aside: np.ndarray, hips: int) -> np.ndarray:
    """(F,) m, the highest that the hips may be for both legs to reach their ankles."""
    most = np.full(len(turns), np.inf)
    for side, leg in zip(SIDES, legs, strict=True):
        ankle, length = body.p[leg[2]], STRAIGHT * leg_length(body.skeleton, side)
        socket = rotation.rotate(turns, body.R[hips].T @ (body.p[leg[0]] - body.p[hips]))
        flat = np.linalg.norm(aside + socket[:, [0, 2]] - ankle[[0, 2]], axis=1)
        up = np.sqrt(np.maximum(length**2 - flat**2, (_LOWEST * length) ** 2))
        most = np.minimum(most, ankle[1] + up - socket[:, 1])
    return most


def _find_lowest(body: Body, legs: np.ndarray) -> float:
    """m, the lowest that the hips may be."""
    return float(
        min(body.p[leg[2], 1] + _LOWEST * leg_length(body.skeleton, s) for s, leg in zip(SIDES, legs, strict=True))
    )


def _spin(turns: np.ndarray, rate: float) -> np.ndarray:
    """(F, 3) rad/s in world axes."""
    steps = rotation.log(rotation.multiply(turns[1:], rotation.conjugate(turns[:-1]))) * rate
    return np.concatenate([steps[:1], 0.5 * (steps[1:] + steps[:-1]), steps[-1:]])
