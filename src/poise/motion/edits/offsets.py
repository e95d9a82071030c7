"""Hands put where they should be at moments of a clip, and eased there and back.   [tracking, section 5.1: Z7]

At a moment t_k the limb's joints (shoulder, elbow, wrist; hip, knee, ankle) turn by as little as brings a point of the
hand or foot to its place, which is found by BFGS (`ik.bfgs`); the hand's orientation in the world stays. The joints'
offsets, in their own axes, are then added to the motion around that moment:

    q_i(t) -> q_i(t) exp(sum_k w_k(t) d_ik),    exp(d_ik) = q_i(t_k)^-1 q*_ik

w_k rises from 0 to 1 within `before` s, stays, and falls to 0 within `after` s by the sinusoidal ease: with one offset
at a time that is the slerp from the motion to what was found, without a jump of place or speed; joints that would leave
their ranges on the way are kept in. The frames on both sides of t_k have the whole offset: it is exact there, between
frames too. Where two windows of one limb overlap, each ends where the other is whole, so that the limb goes from one
offset to the next and both are exact.

For a window with a `hold` offsets are found for every frame of it, so that the hand stays where it is put; they go on
as they were going where the hold begins and ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.joints import JointLimits, find_limits
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.ik.bfgs import LimbChain, ReachedPlace, reach_by_bfgs
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.motion.edits.blend import ease
from poise.motion.edits.body_points import find_point
from poise.motion.edits.targets import Target, as_spot
from poise.motion.motion import Pose
from poise.spatial import rotation

WINDOW = 0.3  # s before and after
MET = 1e-3  # m
_LIMBS = (("UpperArm", "LowerArm", "Hand"), ("UpperLeg", "LowerLeg", "Foot"))
_LONGEST = 600.0  # s
_SAME_TIME = 1e-9
_SLIGHT = np.radians(20.0)


@checked
@dataclass(frozen=True, eq=False)
class Offset:
    """A hand, foot or other joint that is to be somewhere at a moment.

    joint   name or role: the limb that ends there is changed
    time    s on the clip's clock
    place   (3,) m in the world, or a `Target`: on a prop, on another body, between two hands
    point   of the joint: palm, fist, fingertip, sole, ..., or (3,) m in its frame; see `find_point`
    before, hold, after  s: eased in, kept there (half of it before the moment), and eased out
    turn    "keep": the joint is turned in the world as it was; "free": as comes; or (4,) wxyz in the world
    joints  names or roles of the joints that change, from the trunk outward, the last is `joint`; None: the limb's own
    """

    joint: str
    time: float
    place: Target | Sequence[float]
    point: str | Sequence[float] = "joint"
    before: float = WINDOW
    hold: float = 0.0
    after: float = WINDOW
    turn: str | Sequence[float] = "keep"
    joints: Sequence[str] | None = None

    def __post_init__(self) -> None:
        times = {"time": self.time, "before": self.before, "hold": self.hold, "after": self.after}
        for name, value in times.items():
            if not np.isfinite(value) or (name != "time" and not 0.0 <= value <= _LONGEST):
                raise InputError(
                    f"the {name} of an offset of '{self.joint}' is {'a finite time' if name == 'time' else '0 to 600'} "
                    f"in seconds; given {value:g}."
                )
        object.__setattr__(self, "place", as_spot(self.place))
        if isinstance(self.turn, str):
            if self.turn not in ("keep", "free"):
                raise InputError(
                    f'the turn of an offset is "keep", "free" or four numbers w, x, y, z; given \'{self.turn}\'.'
                )
        else:
            turn = np.array(self.turn, float)
            if turn.shape != (4,) or not np.isfinite(turn).all() or np.linalg.norm(turn) < 1e-9:
                raise InputError(f"the turn of an offset is four finite numbers, not zero; given {self.turn!r:.80}.")
            object.__setattr__(self, "turn", rotation.normalize(turn))

    def find_place(self, t: float) -> np.ndarray:
        """(3,) m, where the point should be at a time."""
        return as_spot(self.place).find(t)


@dataclass(frozen=True, eq=False)
class OffsetMet:
    """How an offset went, measured on the clip that came out.

    miss     m that the point is off its place at the moment
    before   m that it was off before
    turned   rad by which the hand's orientation in the world differs from what was asked
    change   rad, the largest turn of a joint
    beyond   rad by which a joint is farther out of its range than it was, within the window; the largest
    """

    offset: Offset
    miss: float
    before: float
    turned: float
    change: float
    beyond: float

    @property
    def is_met(self) -> bool:
        """Whether the point is within a millimetre."""
        return self.miss <= MET


@dataclass(frozen=True, eq=False)
class OffsetClip:
    """A clip with offsets, and how each went, in the order they were given."""

    clip: Clip
    met: tuple[OffsetMet, ...]


@checked
def apply_offsets(clip: Clip, offsets: Sequence[Offset], limits: Mapping[str, JointLimits] | None = None) -> OffsetClip:
    """The clip with every offset in it.

    limits  joint -> its range, as a character has it; None: those of the skeleton's roles. {}: none
    """
    skeleton = clip.skeleton
    limits = find_limits(skeleton) if limits is None else limits
    limbs: dict[tuple[int, ...], list[Offset]] = {}
    for offset in offsets:
        if not clip.times[0] - _SAME_TIME <= offset.time <= clip.times[-1] + _SAME_TIME:
            raise InputError(
                f"an offset of '{offset.joint}' is at {offset.time:g} s; the clip runs from {clip.times[0]:g} s to "
                f"{clip.times[-1]:g} s."
            )
        find_point(skeleton, offset.joint, offset.point)
        limbs.setdefault(find_limb(skeleton, offset.joint, offset.joints), []).append(offset)
    result = clip
    for joints, own in limbs.items():
        result = _change_limb(result, joints, sorted(own, key=lambda each: each.time), limits)
    return OffsetClip(result, tuple(_measure(clip, result, offset, limits) for offset in offsets))


def find_limb(skeleton: Skeleton, joint: str, joints: Sequence[str] | None = None) -> tuple[int, ...]:
    """The joints that bring a joint somewhere, from the trunk outward: those given, or those of its limb.

    A hand has shoulder, elbow and wrist, a foot hip, knee and ankle; where roles are missing, those that there are. Any
    other joint has itself and the two joints above it that are apart from it.
    """
    end = skeleton.index(joint)
    chain = skeleton.chain(end)
    if joints is not None:
        return _check_limb(skeleton, joint, joints)
    for side in SIDES:
        for stems in _LIMBS:
            roles = [side + stem for stem in stems]
            limb = [i for role in roles if (i := skeleton.find_role(role)) is not None]
            if end in limb[1:] and all(i in chain for i in limb[: limb.index(end)]):
                return tuple(limb[: limb.index(end) + 1])
    above = [i for i in chain[1:-1] if np.linalg.norm(skeleton.offsets[chain[chain.index(i) + 1]]) > 1e-6]
    if not above:
        raise InputError(f"'{joint}' has no joints above it that could bring it anywhere. Give a hand or a foot.")
    return (*above[-2:], end)


def _check_limb(skeleton: Skeleton, joint: str, joints: Sequence[str]) -> tuple[int, ...]:
    """Return the given joints of a limb; an InputError if they do not go outward to the joint."""
    end = skeleton.index(joint)
    chain, given = skeleton.chain(end), [skeleton.index(each) for each in joints]
    if not given or given[-1] != end or given != [i for i in chain if i in given]:
        raise InputError(
            f"the joints of an offset of '{joint}' go from the trunk outward and end with it; given "
            f"{', '.join(joints) or 'none'}."
        )
    return tuple(given)


def _change_limb(clip: Clip, joints: tuple[int, ...], offsets: list[Offset], limits: Mapping[str, JointLimits]) -> Clip:
    """The clip with all offsets of one limb, which are in order of time."""
    holds = [_find_hold(clip, offset) for offset in offsets]
    knots = [_solve_hold(clip, joints, offset, span, limits) for offset, span in zip(offsets, holds, strict=True)]
    total, weights = np.zeros((len(clip), len(joints), 3)), np.zeros(len(clip))
    for k, (offset, (start, end)) in enumerate(zip(offsets, holds, strict=True)):
        # No window goes farther than to where its neighbour's is whole.
        before = offset.before if k == 0 else min(offset.before, max(start - holds[k - 1][1], 0.0))
        after = offset.after if k == len(offsets) - 1 else min(offset.after, max(holds[k + 1][0] - end, 0.0))
        weight = _rise(clip.times - start + before, before) * _rise(end + after - clip.times, after)
        total += _spread(clip.times, knots[k], weight)
        weights += weight
    total /= np.maximum(weights, 1.0)[:, None, None]  # moments of one frame, or holds that overlap, share it
    rotations = clip.rotations.copy()
    rotations[:, joints] = rotation.multiply(rotations[:, joints], rotation.exp(total))
    moved = np.any(total != 0.0, axis=(1, 2))
    for start, end in holds:  # what was found there is in range, and exact
        moved &= (clip.times < start - _SAME_TIME) | (clip.times > end + _SAME_TIME)
    for joint in joints:
        own = limits.get(clip.skeleton.names[joint])
        if own is not None and moved.any():
            rotations[moved, joint] = _keep_in(own, rotations[moved, joint], clip.rotations[moved, joint])
    return clip.replace(rotations=rotations)


def _keep_in(limits: JointLimits, turns: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Turns (F, 4) of a joint kept in its range, or as far out of it as they were before (F, 4).

    A slerp from one turn in a range to another may leave it by a few degrees: an elbow would bend sideways. Where it is
    ever more, a swing of half a turn is written another way, and all stay as they are.
    """
    there, was = limits.angles(turns), limits.angles(before)
    inside = np.clip(there, np.minimum(limits.lower, was), np.maximum(limits.upper, was))
    off = np.abs(inside - there).max(axis=-1)
    return turns if off.max() > _SLIGHT else np.where(off[:, None] > 0.0, limits.rotation(inside), turns)


def _find_hold(clip: Clip, offset: Offset) -> tuple[float, float]:
    """s, from when to when an offset is whole: at least the frames on both sides of its moment."""
    first = int(np.searchsorted(clip.times, offset.time + _SAME_TIME, side="right")) - 1
    last = int(np.searchsorted(clip.times, offset.time - _SAME_TIME, side="left"))
    start = min(float(clip.times[max(first, 0)]), offset.time - 0.5 * offset.hold)
    end = max(float(clip.times[min(last, len(clip) - 1)]), offset.time + 0.5 * offset.hold)
    return start, end


def _solve_hold(
    clip: Clip, joints: tuple[int, ...], offset: Offset, span: tuple[float, float], limits: Mapping[str, JointLimits]
) -> tuple[np.ndarray, np.ndarray]:
    """Times (K,) within a hold, s, and the offsets (K, N, 3) rad there: one for a hold of no length."""
    if offset.hold <= 0.0:
        return np.array([offset.time]), _solve(clip, joints, offset, offset.time, limits)[None]
    inside = clip.times[(clip.times > span[0] + _SAME_TIME) & (clip.times < span[1] - _SAME_TIME)]
    ends = np.clip(span, clip.times[0], clip.times[-1])
    times = np.unique(np.concatenate([ends, inside, [offset.time]]))
    return times, np.array([_solve(clip, joints, offset, float(t), limits) for t in times])


def _spread(times: np.ndarray, knots: tuple[np.ndarray, np.ndarray], weight: np.ndarray) -> np.ndarray:
    """(F, N, 3) rad: an offset at each frame, by its weight (F,) there.

    Beyond the hold it goes on at the speed it had, times the ease, so that speed does not jump there.
    """
    at, found = knots
    if len(at) == 1:
        return np.asarray(weight[:, None, None] * found)
    from scipy.interpolate import CubicSpline

    curve = CubicSpline(at, found, bc_type="not-a-knot" if len(at) > 3 else "natural")
    inside = np.clip(times, at[0], at[-1])
    value, rate = curve(inside), curve(inside, 1)
    beyond = (weight * (times - inside))[:, None, None]
    return np.asarray(weight[:, None, None] * (value + beyond * rate))


def _rise(since: np.ndarray, lasts: float) -> np.ndarray:
    """0 until `since` is 0, 1 from `lasts` on, eased between; at once for no time."""
    return ease(since / lasts) if lasts > 0.0 else np.where(since >= -_SAME_TIME, 1.0, 0.0)


def _solve(
    clip: Clip, joints: tuple[int, ...], offset: Offset, t: float, limits: Mapping[str, JointLimits]
) -> np.ndarray:
    """(N, 3) rad, by which the joints turn in their own axes to be where an offset asks at time t."""
    pose = clip.pose(t)
    chain = build_chain(clip.skeleton, pose, joints, find_point(clip.skeleton, offset.joint, offset.point), limits)
    turn = _find_turn(offset, chain.pose(chain.turns)[1])
    found: ReachedPlace = reach_by_bfgs(chain, offset.find_place(t), turn)
    return np.asarray(rotation.log(rotation.multiply(rotation.conjugate(chain.turns), found.turns)))


def _find_turn(offset: Offset, axes: np.ndarray) -> np.ndarray | None:
    """(4,) how the end is to be turned in the world, that now has axes (3, 3); None: as comes."""
    if isinstance(offset.turn, str):
        return rotation.from_matrix(axes) if offset.turn == "keep" else None
    return np.asarray(offset.turn)


def build_chain(
    skeleton: Skeleton,
    pose: Pose,
    joints: Sequence[int],
    point: np.ndarray,
    limits: Mapping[str, JointLimits],
) -> LimbChain:
    """A limb of a pose for `ik.bfgs`, from its joints, each below the one before, and a point of the last."""
    positions, turns = skeleton.pose(*pose)
    first = skeleton.parents[joints[0]]
    if first < 0:
        raise InputError(f"'{skeleton.names[joints[0]]}' is the root, which an offset does not turn. Leave it out.")
    axes = rotation.to_matrix(turns)
    above = [int(first), *joints[:-1]]
    links = [axes[a].T @ axes[skeleton.parents[j]] for a, j in zip(above, joints, strict=True)]
    bones = [axes[a].T @ (positions[j] - positions[a]) for a, j in zip(above, joints, strict=True)]
    return LimbChain(
        axes[first], positions[first], np.array(links), np.array(bones), pose.rotations[list(joints)],
        [limits.get(skeleton.names[j]) for j in joints], point,
    )  # fmt: skip


def _measure(clip: Clip, result: Clip, offset: Offset, limits: Mapping[str, JointLimits]) -> OffsetMet:
    skeleton, joint = clip.skeleton, clip.skeleton.index(offset.joint)
    point, place = find_point(skeleton, offset.joint, offset.point), offset.find_place(offset.time)
    misses, turns, poses = [], [], []
    for each in (result, clip):
        pose = each.pose(offset.time)
        positions, orientations = skeleton.pose(*pose)
        misses.append(float(np.linalg.norm(positions[joint] + rotation.rotate(orientations[joint], point) - place)))
        turns.append(orientations[joint])
        poses.append(pose)
    wanted = _find_turn(offset, rotation.to_matrix(turns[1]))
    limb = list(find_limb(skeleton, offset.joint, offset.joints))
    change = rotation.angle(poses[0].rotations[limb], poses[1].rotations[limb]).max()
    start, end = _find_hold(clip, offset)
    near = (clip.times >= start - offset.before) & (clip.times <= end + offset.after)
    beyond = 0.0
    for i in limb:
        own: Any = limits.get(skeleton.names[i])
        if own is not None and near.any():
            excess = [np.abs(own.excess(each.rotations[near, i])).max(axis=-1) for each in (result, clip)]
            beyond = max(beyond, float((excess[0] - excess[1]).max()))
    turned = 0.0 if wanted is None else float(rotation.angle(turns[0], wanted))
    return OffsetMet(offset, misses[0], misses[1], turned, float(change), beyond)
