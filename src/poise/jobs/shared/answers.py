"""How a standing body answers its arms: gains and lags on the arms' shift, and how far it leaves the animation.

r(t)   m, the arms' shift: how far forward the arms' own joints have moved the centre of mass of the body.
           r = (m / M) (R' (a - p)) . f_chest,   f_chest = mean(R' f) / |mean(R' f)|
       m and a, kg and m, mass and centre of mass of both arms with clavicles and hands and the loads on them; M, kg,
       mass of the body with all its loads; p and R, place (m) and axes of the joint that carries the arms, the chest
       or what is there instead; f, forward in world axes. Motion of the chest does not change r.
f      level, unit, at a right angle to the line through both hip joints, averaged over the motion: any heading will do
x(t)   m, f . place in the world: of the centre of mass, of the hips, of the neck or of the head; as seen from a ground
       that moves

Both are cut to the band of `BAND`, without a delay. Then

    gain = <x r> / <r r>        mm per mm: a statue with moving arms has 1 for its centre of mass and 0 elsewhere, and a
                                body that shifts as a whole to keep its centre of mass still 0 and -1
    lag  = argmax_s correlation(x(t), -r(t - s))       ms that x comes after -r; within `LONGEST_LAG`

Recorded people who stand and gesture have gains of about 0, -0.9 and -1.7 of the centre of mass, hips and neck; their
hips lead by about 30 ms, and their necks by about 10.
"""

from __future__ import annotations

import numpy as np

from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.dynamics.kinematics import compute_world_pose
from poise.dynamics.tree import Tree
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.parts import part_joints
from poise.spatial import rotation
from poise.spatial.filter import lowpass
from poise.world.ground.floor import Floor

BAND = (0.5, 4.0)  # Hz: beats of gestures. Slower motion is posture
LEAST_SHIFT = 0.0005  # m RMS in the band: of smaller r a gain says nothing
LEAST_MOTION = 0.00005  # m RMS in the band: what moves less has no lag
LONGEST_LAG = 0.25  # s; half a period of what is fastest in most gestures
SHORTEST = 2.0 / BAND[0]  # s of motion: two periods of what is slowest
END = 0.5 / BAND[0]  # s at both ends that are left out after the cut: what went on before and after is not known there
SLOWEST_RATE = 4.0 * BAND[1]  # frames per second
GAINS = ("center_gain", "hips_gain", "neck_gain", "head_gain")
LAGS = ("hips_lag_ms", "neck_lag_ms", "head_lag_ms")
SHIFTS = ("hips_shift_mm", "head_shift_mm")


def measure_answer(
    clip: Clip, tree: Tree, animation: Clip | None, stands: bool = True, ground: float | Floor = 0.0
) -> dict[str, float | None]:
    """Return `GAINS`, `LAGS` and `SHIFTS` of a motion; None for what it does not have, or what says nothing.

    tree       of the character, with its loads
    animation  the same frames of the same skeleton without physics
    stands     whether it stands where it is for all of the clip: gains of one that steps or falls say nothing
    """
    travel = _find_travel(clip, ground)
    joints = {role: clip.skeleton.find_role(role) for role in ("hips", "neck", "head")}
    joints["hips"] = joints["hips"] or 0
    found: dict[str, float | None] = dict.fromkeys((*GAINS, *LAGS, *SHIFTS))
    if animation is not None:
        for key, joint in zip(SHIFTS, (joints["hips"], joints["head"]), strict=True):
            if joint is not None:
                apart = clip.positions[:, joint] - travel - animation.positions[:, joint]
                found[key] = 1000.0 * float(np.linalg.norm(apart, axis=-1).max())
    forward = _find_forward(clip)
    if not stands or forward is None or clip.duration < SHORTEST or (len(clip) - 1) / clip.duration < SLOWEST_RATE:
        return found
    centers = compute_world_pose(tree, *clip.poses).centers
    places = {"center": np.einsum("j,fja->fa", tree.masses, centers) / tree.mass}
    places |= {name: clip.positions[:, joint] for name, joint in joints.items() if joint is not None}
    shift = _find_shift(clip, tree, centers, forward)
    if shift is None:
        return found
    r, rate = _cut_band(shift, clip)
    if _rms(r) < LEAST_SHIFT:
        return found
    for name, place in places.items():
        x, _ = _cut_band((place - travel) @ forward, clip)
        found[f"{name}_gain"] = float(x @ r / (r @ r))
        if f"{name}_lag_ms" in LAGS and _rms(x) >= LEAST_MOTION:
            lag = find_lag(x, -r, rate)
            found[f"{name}_lag_ms"] = None if lag is None else 1000.0 * lag
    return found


def find_lag(x: np.ndarray, lead: np.ndarray, rate: float) -> float | None:
    """Return s by which x (F,) comes after another signal, to a part of a frame; None if it is over `LONGEST_LAG`.

    Where their correlation is largest, and on the parabola through it and its neighbours.
    """
    n, reach = len(x), int(np.ceil(LONGEST_LAG * rate)) + 1
    shifts = range(-reach, reach + 1)
    pairs = [(x[max(s, 0) : n + min(s, 0)], lead[max(-s, 0) : n - max(s, 0)]) for s in shifts]
    overlaps = np.array([late @ early / np.sqrt((late @ late) * (early @ early)) for late, early in pairs])
    best = int(np.argmax(overlaps))
    if overlaps[best] <= 0.0 or best in (0, 2 * reach):
        return None
    before, most, after = overlaps[best - 1 : best + 2]
    return float(shifts[best] + 0.5 * (before - after) / (before - 2.0 * most + after)) / rate


def _find_shift(clip: Clip, tree: Tree, centers: np.ndarray, forward: np.ndarray) -> np.ndarray | None:
    """r (F,) m; None where there are no arms. centers: (F, J, 3) m of all bodies."""
    arms = _find_arms(clip.skeleton)
    masses = tree.masses[arms]
    if not masses.sum() > 0.0:
        return None
    chest = _find_carrier(clip.skeleton, arms)
    positions, orientations = clip.world
    middle = np.einsum("j,fja->fa", masses, centers[:, arms]) / masses.sum()
    back = rotation.conjugate(orientations[:, chest])
    seen = rotation.rotate(back, middle - positions[:, chest])
    ahead = rotation.rotate(back, np.broadcast_to(forward, seen.shape)).mean(axis=0)
    return np.asarray(masses.sum() / tree.mass * seen @ (ahead / np.linalg.norm(ahead)))


def _find_arms(skeleton: Skeleton) -> list[int]:
    try:
        return part_joints(skeleton, "arms")
    except InputError:
        return []


def _find_carrier(skeleton: Skeleton, arms: list[int]) -> int:
    """The last joint on the way from the root to all of the arms that is not in an arm."""
    chains = [[i for i in skeleton.chain(arm) if i not in arms] for arm in arms]
    return max(set(chains[0]).intersection(*chains), default=0)


def _find_forward(clip: Clip) -> np.ndarray | None:
    """(3,) level and unit; None where there are no hip joints, or they turn all the way round."""
    joints = [clip.skeleton.find_role(side + "UpperLeg") for side in SIDES]
    if None in joints:
        return None
    across = (clip.positions[:, joints[0]] - clip.positions[:, joints[1]]).mean(axis=0)
    forward = np.array([-across[2], 0.0, across[0]])
    size = float(np.linalg.norm(forward))
    return None if size < 1e-6 else forward / size


def _find_travel(clip: Clip, ground: float | Floor) -> np.ndarray:
    """(F, 3) m, how far a ground has moved."""
    if not isinstance(ground, Floor):
        return np.zeros((len(clip), 3))
    return ground.find_under(np.zeros((len(clip), 0, 3)), np.asarray(clip.times) - clip.times[0])[1]


def _cut_band(values: np.ndarray, clip: Clip) -> tuple[np.ndarray, float]:
    """What a signal (F,) has in the band, at an even rate (Hz)."""
    rate = (len(clip) - 1) / clip.duration
    even = np.interp(np.linspace(clip.times[0], clip.times[-1], len(clip)), clip.times, values)
    low, high = BAND
    end = round(END * rate)
    return (lowpass(even, rate, high) - lowpass(even, rate, low))[end:-end], rate


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))
