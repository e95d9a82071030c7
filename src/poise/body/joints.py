"""Joints of a human: their ranges, their degrees of freedom, and presets of both for ready-made bodies.

Ranges

Zero pose: standing, arms hanging, thumbs forward, legs straight down, feet forward [mix, table 2 as corrected]. In it
all segments' axes are the body's: x to its left, y up, z forward. A joint's angles (x, y, z) say how its segment has
turned from there relative to the segment that carries it: first the twist y about the vertical, which is the long axis
of every segment but the foot, then the swing, one turn about the horizontal axis (x, 0, z):

    E = exp(x, 0, z) exp(0, y, 0)

Any rotation has one such triple, and none is singular short of a swing of half a turn; successive (Euler) angles would
lock at the T-pose, in the middle of the shoulder's range. Positive x bends trunk and neck forward, the knee backward
and the toes down, and takes an arm or thigh backward; y turns to the left; z takes a left arm or leg outward.

A skeleton's rest pose is another one. With P and C the rotations that take the rest pose of the carrying and of the
carried segment to the zero pose, a joint's rotation q (identity at rest) is

    q = P^-1 E C

Sources, in degrees below
  [mix]       Woodson et al. (1992) as in table 2 of the paper, with its erratum: columns of ankle and lower leg
              swapped, right hip's y from -30; forearm and lower-leg rows are the y of elbow and knee.
  [boone]     D. C. Boone, S. P. Azen (1979), Normal range of motion of joints in male subjects, J. Bone Joint Surg.
              61-A(5), 756-759.
  [aaos]      American Academy of Orthopaedic Surgeons (1965), Joint motion: method of measuring and recording.
  [kapandji]  I. A. Kapandji (1974-1987), The physiology of the joints, volumes 1-3.
Where the paper's row would forbid an everyday motion (walking needs hip extension, squatting and kneeling more hip and
knee flexion, push-off more plantar flexion), the wider of the sources stands.

Degrees of freedom

A joint has none, or rotates about one, two or three successive axes (n, 3) in its frame at rest; three make a ball
joint, whatever their order. A rotation with two is R(axis 1, a1) R(axis 2, a2), identity at rest.

Presets: which joints a human has and how they turn, one preset per paper, and one with everything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from poise.body.roles import ARM_STEMS, BODY_ROLES, LEG_STEMS, SIDES, TRUNK_ROLES, mirror_role, sided
from poise.body.skeleton import Skeleton, remembered
from poise.errors import InputError, unknown_name
from poise.frozen import Portable
from poise.spatial import rotation

# role (left side or middle): x, y, z ranges in degrees; (0, 0) for a way in which the joint does not turn.
_DEGREES: Mapping[str, tuple[tuple[float, float], tuple[float, float], tuple[float, float]]] = {
    "trunk": ((-60, 105), (-45, 45), (-40, 40)),  # bend and side-bend [kapandji, 3], turn [aaos]
    "neck": ((-60, 61), (-79, 79), (-41, 41)),  # [mix]
    "leftShoulder": ((-15, 45), (-30, 30), (-10, 45)),  # shrug, shift and roll of the clavicle [kapandji, 1]
    "leftUpperArm": (
        (-188, 61),
        (-95, 104),
        (-48, 134),
    ),  # [mix]; turning in, which it lacks, [kapandji, 1], out [boone]
    "leftLowerArm": ((-142, 0), (-103, 113), (0, 0)),  # [mix]: bending, and pronation and supination of the forearm
    "leftHand": ((-27, 47), (0, 0), (-90, 81)),  # [mix]: radial and ulnar, flexion and extension
    "leftUpperLeg": ((-140, 30), (-47, 47), (-31, 53)),  # bend [kapandji, 2], extension [aaos], turn [boone], z [mix]
    "leftLowerLeg": ((0, 160), (-35, 43), (0, 0)),  # heel to buttock [kapandji, 2]; turn [mix]
    "leftFoot": ((-35, 56), (-20, 20), (-37, 23)),  # up [mix], down and inversion [boone], turn [kapandji, 2]
    "leftToes": ((-70, 45), (0, 0), (0, 0)),  # [aaos], great toe
}
_CHAINS = {"trunk": ("spine", "chest", "upperChest"), "neck": ("neck", "head")}


@dataclass(frozen=True, eq=False)
class JointLimits(Portable):
    """The range of one joint's angles (x, y, z) and where its zero pose is.

    lower, upper  (3,) rad
    parent_zero   (4,) P: rotation of the carrying segment from the rest pose to the zero pose
    child_zero    (4,) C: the same of the carried segment
    """

    lower: np.ndarray
    upper: np.ndarray
    parent_zero: np.ndarray
    child_zero: np.ndarray

    def __post_init__(self) -> None:
        for name, size in (("lower", 3), ("upper", 3), ("parent_zero", 4), ("child_zero", 4)):
            array = np.array(getattr(self, name), float)
            if array.shape != (size,) or not all(map(math.isfinite, array.tolist())):
                raise InputError(f"the {name} of a joint's limits must be {size} finite numbers.")
            if size == 4:
                norm = math.sqrt(array @ array)
                if abs(norm - 1.0) > 1e-6:
                    raise InputError(
                        f"the {name} of a joint's limits must be a unit quaternion; its length is {norm:g}."
                    )
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if any(low > high for low, high in zip(self.lower.tolist(), self.upper.tolist(), strict=True)):
            raise InputError(f"a joint's lower limits {self.lower} must not be above its upper ones {self.upper}.")

    @property
    def axes(self) -> np.ndarray:
        """(3, 3) rows: the directions of x, y and z in the joint's frame at rest."""
        return rotation.rotate(rotation.conjugate(self.parent_zero), np.eye(3))

    def angles(self, q: np.ndarray) -> np.ndarray:
        """Joint rotations (..., 4) as angles (..., 3) in radians."""
        # E = P q C^-1
        turned = rotation.multiply(rotation.multiply(self.parent_zero, q), rotation.conjugate(self.child_zero))
        # E = swing twist: the twist is E's part about y, the swing what remains.
        twist = turned * np.array([1.0, 0.0, 1.0, 0.0])
        norm = np.linalg.norm(twist, axis=-1, keepdims=True)
        twist = np.where(norm < 1e-12, rotation.identity(), twist / np.where(norm < 1e-12, 1.0, norm))
        angles = rotation.log(rotation.multiply(turned, rotation.conjugate(twist)))
        angles[..., 1] = rotation.log(twist)[..., 1]
        return angles

    def rotation(self, angles: np.ndarray) -> np.ndarray:
        """Angles (..., 3) in radians as joint rotations (..., 4): q = P^-1 exp(x, 0, z) exp(0, y, 0) C."""
        angles = np.asarray(angles, float)
        swing = rotation.exp(angles * np.array([1.0, 0.0, 1.0]))
        twist = rotation.exp(angles * np.array([0.0, 1.0, 0.0]))
        turned = rotation.multiply(swing, twist)
        return rotation.multiply(rotation.multiply(rotation.conjugate(self.parent_zero), turned), self.child_zero)

    def excess(self, q: np.ndarray) -> np.ndarray:
        """How far (..., 3) rotations (..., 4) are outside the range, in radians: negative below, positive above."""
        angles = self.angles(q)
        return angles - np.clip(angles, self.lower, self.upper)

    def clamp(self, q: np.ndarray) -> np.ndarray:
        """Joint rotations (..., 4) brought inside the range, angle by angle; those inside are left alone."""
        angles = self.angles(q)
        inside = np.clip(angles, self.lower, self.upper)
        changed = np.any(inside != angles, axis=-1, keepdims=True)
        return np.where(changed, self.rotation(inside), q)


def mirror_range(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The range on the other side of the body: a turn about x stays, turns about y and z change sign."""
    sign = np.array([1.0, -1.0, -1.0])
    # Adding 0 turns -0 into 0.
    return np.minimum(sign * lower, sign * upper) + 0.0, np.maximum(sign * lower, sign * upper) + 0.0


@lru_cache(maxsize=256)
def get_range(role: str, share: int = 1) -> tuple[np.ndarray, np.ndarray] | None:
    """(lower, upper) of a role's angles in radians, or None for a role that has none (hips, fingers).

    share  how many joints divide the trunk's or the neck's range. Files divide it as they like, so each of n joints may
           take (n + 1) / 2n of it: the whole for one, three quarters for two, two thirds for three.
    """
    key = next((chain for chain, members in _CHAINS.items() if role in members), role)
    left = mirror_role(key) if key.startswith("right") else key
    if left not in _DEGREES:
        return None
    lower, upper = np.radians(np.array(_DEGREES[left], float).T)
    if key.startswith("right"):
        lower, upper = mirror_range(lower, upper)
    if key in _CHAINS:
        lower, upper = lower * (share + 1) / (2 * share), upper * (share + 1) / (2 * share)
    for array in (lower, upper):
        array.flags.writeable = False
    return lower, upper


def find_limits(skeleton: Skeleton) -> dict[str, JointLimits]:
    """Joint name -> limits, for every joint whose role has some; the zero pose is found from the rest pose."""
    zero = find_zero_pose(skeleton)
    limits = {}
    for role, joint in skeleton.roles.items():
        chain = next((members for members in _CHAINS.values() if role in members), (role,))
        bounds = get_range(role, sum(member in skeleton.roles for member in chain))
        if bounds is not None and joint != skeleton.names[0]:
            limits[joint] = JointLimits(*bounds, zero[_carrier(skeleton, role)], zero[role])
    return limits


def find_zero_pose(skeleton: Skeleton) -> dict[str, np.ndarray]:
    """Role -> rotation (4,) that takes the role's segment from the rest pose to the zero pose.

    Trunk, head and clavicles are taken to rest as they stand. Arms and legs are turned, by the smallest rotation, to
    hang; in a T-pose with palms down the thumbs then point forward. A hand goes with its forearm. A foot goes with the
    shank, or stays, whichever leaves its toes pointing more nearly straight ahead: a rest pose with straddled legs may
    have flat feet.
    """
    return dict(_find_zero_pose(skeleton))


@remembered
def _find_zero_pose(skeleton: Skeleton) -> dict[str, np.ndarray]:
    zero = {role: rotation.identity() for role in skeleton.roles}
    rest = skeleton.rest_positions()
    down = np.array([0.0, -1.0, 0.0])

    def bone(role: str, end: str) -> np.ndarray | None:
        if role not in skeleton.roles or end not in skeleton.roles:
            return None
        line = rest[skeleton.index(end)] - rest[skeleton.index(role)]
        return line if math.sqrt(line @ line) > 1e-6 else None

    for side in SIDES:
        for stems in (("UpperArm", "LowerArm", "Hand"), ("UpperLeg", "LowerLeg", "Foot")):
            turn = rotation.identity()
            for role, end in zip(sided(stems, [side]), sided(stems, [side])[1:], strict=False):
                line = bone(role, end)
                turn = turn if line is None else rotation.between(line, down)
                zero[role] = turn if role in zero else rotation.identity()
            last = side + stems[-1]
            if last in zero:
                zero[last] = turn if stems[-1] == "Hand" else _foot_zero(skeleton, side, turn)
        if side + "Toes" in zero:
            zero[side + "Toes"] = zero.get(side + "Foot", rotation.identity())
    for turn in zero.values():
        turn.flags.writeable = False
    return zero


def _foot_zero(skeleton: Skeleton, side: str, shank: np.ndarray) -> np.ndarray:
    foot, toes = skeleton.index(side + "Foot"), skeleton.find_role(side + "Toes")
    ahead = skeleton.offsets[toes] if toes is not None else np.nan_to_num(skeleton.tips[foot])
    sideways = abs(float(ahead[0])), abs(float(rotation.rotate(shank, ahead)[0]))
    return shank if sideways[1] < sideways[0] else rotation.identity()


def _carrier(skeleton: Skeleton, role: str) -> str:
    """The role of the segment that carries a role's joint: the nearest joint up the tree that has a role."""
    structure = skeleton.structure
    above = structure.parents[skeleton.index(role)]
    return (structure.nearest_roles[above] if above >= 0 else None) or role


BALL = "xyz"
# The anatomical axes of each kind of joint, as in `limits`: an elbow bends (x) and turns the forearm (y), a wrist and
# an ankle bend two ways, toes one. 39 degrees of freedom with 18 segments [strength, fig 2].
_ANATOMICAL = {"LowerArm": "xy", "Hand": "xz", "LowerLeg": "xy", "Foot": "xz", "Toes": "x"}
ANATOMICAL: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((*TRUNK_ROLES, "neck", "head"), BALL),
        **{role: _ANATOMICAL.get(stem, BALL) for stem in (*ARM_STEMS, *LEG_STEMS) for role in sided([stem])},
    }
)
BALLS: Mapping[str, str] = MappingProxyType(dict.fromkeys(ANATOMICAL, BALL))


def find_freedoms(skeleton: Skeleton, axes: Mapping[str, str] = ANATOMICAL) -> dict[str, np.ndarray]:
    """Joint name -> axes (n, 3) in the joint's frame, for every joint that turns.

    axes  role -> letters of the zero pose's axes. Joints of the trunk and neck without a role of their own are balls;
          other joints without a role (fingers, twist joints, doubled hips) do not turn.
    """
    for role, letters in axes.items():
        if set(letters) - set(BALL):
            raise unknown_name(f"axis of {role},", letters, BALL)
    zero = find_zero_pose(skeleton)
    role_of, nearest = skeleton.structure.role_of, skeleton.structure.nearest_roles
    inner = find_column(skeleton)
    freedoms, turned = {}, dict[tuple[bytes, str], np.ndarray]()
    for name, parent in zip(skeleton.names[1:], skeleton.structure.parents[1:], strict=True):
        usual = BALL if name in inner else ""
        letters = axes.get(role_of[name], "") if name in role_of else usual
        if not letters:
            continue
        carrier = nearest[parent]
        to_rest = rotation.conjugate(zero[carrier]) if carrier is not None else rotation.identity()
        key = (to_rest.tobytes(), letters)
        if key not in turned:
            turned[key] = rotation.rotate(to_rest, np.eye(3)[["xyz".index(letter) for letter in letters]])
        freedoms[name] = turned[key].copy()
    return freedoms


def find_column(skeleton: Skeleton) -> set[str]:
    """Names of the joints on the way from the hips to the head, the head's own included."""
    ends = [skeleton.find_role(role) for role in ("hips", "head")]
    tops = [skeleton.find_role(role) for role in ("neck", *reversed(TRUNK_ROLES))]
    hips, top = ends[0], next((i for i in (ends[1], *tops) if i is not None), None)
    if hips is None or top is None:
        return set()
    chain = skeleton.chain(top)
    return {skeleton.names[i] for i in chain[chain.index(hips) + 1 :]} if hips in chain else set()


_LIMBS = sided(("UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot"))
_TOES = sided(["Toes"])


@dataclass(frozen=True)
class Preset:
    """The joints of a body and the axes each turns about (see `freedoms`)."""

    summary: str
    roles: tuple[str, ...]
    axes: Mapping[str, str]


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        # 15 segments, 14 joints: pelvis, one trunk, head, and three segments a limb.   [mix, section 3.1]
        "mix": Preset("15 segments, 14 joints, 34 degrees of freedom", ("hips", "spine", "head", *_LIMBS), ANATOMICAL),
        # 18 segments, 17 joints, 39 degrees of freedom.   [strength, fig 2]
        "strength": Preset(
            "18 segments, 17 joints, 39 degrees of freedom",
            ("hips", "spine", "chest", "head", *_LIMBS, *_TOES),
            ANATOMICAL,
        ),
        # 16 ball joints, 48 degrees of freedom besides the pelvis's.   [tracking]
        "tracking": Preset(
            "17 segments, 16 ball joints, 48 degrees of freedom",
            ("hips", "spine", "chest", "neck", "head", *_LIMBS),
            BALLS,
        ),
        "full": Preset("every VRM body role, clavicles and toes included", BODY_ROLES, ANATOMICAL),
    }
)


def get_preset(name: str) -> Preset:
    """A preset by name: mix, strength, tracking or full."""
    try:
        return PRESETS[name]
    except KeyError:
        raise unknown_name("preset", name, PRESETS) from None
