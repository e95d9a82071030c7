"""Curves of the body's main parts over time, and the poses that follow them.

A motion is written as tracks: where the hips are, how pelvis, chest and head are turned, where the ankles are, how
the feet stand, and a few angles of each arm. The legs follow by two-bone inverse kinematics, so planted feet stay
planted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.ik.two_bone import solve_two_bone
from poise.motion.clip import Clip
from poise.motion.motion import Pose
from poise.motion.samples.body import TOE_OUT, Figure
from poise.spatial import rotation

X, Y, Z = np.eye(3)
_TRUNK = ("spine", "chest", "upperChest")
_MIRROR = (np.ones(4), np.array([1.0, 1.0, -1.0, -1.0]))  # a left arm's rotation seen in the mirror is the right's


@dataclass
class Arms:
    """Angles (F, 2) in radians, left and right. All zero is the arm hanging straight down, its palm to the thigh.

    forward, aside  of the upper arm; forward lifts it to the front, aside to the side
    outward         turns it about itself: with the arm out to the side 90 degrees bring the palm to the front
    elbow, wrist    bend of the forearm and, about the same axis, of the hand
    """

    forward: np.ndarray
    aside: np.ndarray
    outward: np.ndarray
    elbow: np.ndarray
    wrist: np.ndarray


@dataclass
class Tracks:
    """A motion before inverse kinematics. Positions in m and orientations wxyz, in the world.

    times   (F,) s
    hips    (F, 3)        the hips' joint
    pelvis, chest, head   (F, 3) rad: pitch (positive leans forward), yaw (to the left), roll (positive lifts the left)
    ankles  (F, 2, 3)     left and right
    feet    (F, 2, 4)     orientations; toes (F, 2) rad, their own turn about X, positive toes down
    arms    relative to the chest
    """

    times: np.ndarray
    hips: np.ndarray
    pelvis: np.ndarray
    chest: np.ndarray
    head: np.ndarray
    ankles: np.ndarray
    feet: np.ndarray
    toes: np.ndarray
    arms: Arms


def stand(figure: Figure, times: np.ndarray) -> Tracks:
    """Tracks of a body that stands still over the origin, facing +Z: where every motion of its own starts and ends."""
    f = len(times)
    angles = {"forward": 4.0, "aside": 9.0, "outward": 0.0, "elbow": 16.0, "wrist": 3.0}
    return Tracks(
        times=times,
        hips=np.tile([0.0, figure.stand_height, 0.0], (f, 1)),
        pelvis=np.zeros((f, 3)),
        chest=np.zeros((f, 3)),
        head=np.zeros((f, 3)),
        ankles=np.tile(figure.stance, (f, 1, 1)),
        feet=np.stack([foot_turn(side, np.zeros(f)) for side in range(2)], axis=1),
        toes=np.zeros((f, 2)),
        arms=Arms(**{name: np.full((f, 2), np.radians(degrees)) for name, degrees in angles.items()}),
    )


def stand_pose(skeleton: Skeleton) -> Pose:
    """The pose of a body that stands still over the origin: the first of `stand`. It may lack arms and a head."""
    figure = Figure(skeleton, is_whole=False)
    clip = build_clip(figure, stand(figure, np.zeros(1)), "stand")
    return Pose(clip.root[0], clip.rotations[0])


def foot_turn(side: int, pitch: np.ndarray) -> np.ndarray:
    """(F, 4) orientation of a foot that points outward by TOE_OUT and whose heel is lifted by `pitch` (F,) rad."""
    yaw = TOE_OUT if side == 0 else -TOE_OUT
    return rotation.multiply(rotation.exp(yaw * Y), rotation.exp(pitch[:, None] * X))


def build_clip(figure: Figure, tracks: Tracks, name: str) -> Clip:
    """The clip whose poses follow the tracks."""
    world = _trunk(figure, tracks) | _legs(figure, tracks) | _arms(figure, tracks)
    rotations = _relative(figure, world, len(tracks.times))
    # Where the hips are not the root themselves, what lies above them stays upright.
    offset = figure.rest[figure.skeleton.index("hips")] - figure.rest[0]
    return Clip(figure.skeleton, tracks.times, tracks.hips - offset, rotations, name)


def turned(angles: np.ndarray) -> np.ndarray:
    """(F, 4) the orientation of pitch, yaw, roll (F, 3): yaw first in the world, then pitch, then roll."""
    if not angles.any():
        return rotation.identity((len(angles),))
    return rotation.from_euler(angles[:, [1, 0, 2]], "YXZ")


def _trunk(figure: Figure, tracks: Tracks) -> dict[str, np.ndarray]:
    """Pelvis, chest and head as the tracks say, the joints between them evenly between."""
    roles = figure.skeleton.roles
    pelvis, chest, head = turned(tracks.pelvis), turned(tracks.chest), turned(tracks.head)
    trunk = [role for role in _TRUNK if role in roles]
    world = {role: rotation.slerp(pelvis, chest, (i + 1) / len(trunk)) for i, role in enumerate(trunk)}
    if "neck" in roles:
        world["neck"] = rotation.slerp(chest, head, 0.5)
    return world | {"hips": pelvis, "head": head}


def _legs(figure: Figure, tracks: Tracks) -> dict[str, np.ndarray]:
    pelvis = turned(tracks.pelvis)
    world: dict[str, np.ndarray] = {}
    for i, side in enumerate(SIDES):
        hip = tracks.hips + rotation.rotate(pelvis, figure.bone("hips", f"{side}UpperLeg"))
        # The knee's hinge points to the left, between where the pelvis and the foot have it.
        hinge = rotation.rotate(pelvis, X) + rotation.rotate(tracks.feet[:, i], X)
        thigh, shank = (
            figure.bone(f"{side}{a}", f"{side}{b}") for a, b in (("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot"))
        )
        limb = solve_two_bone(hip, tracks.ankles[:, i], hinge, thigh, shank, X)
        world |= {f"{side}UpperLeg": limb.upper, f"{side}LowerLeg": limb.lower, f"{side}Foot": tracks.feet[:, i]}
        world[f"{side}Toes"] = rotation.multiply(tracks.feet[:, i], rotation.exp(tracks.toes[:, i, None] * X))
    return world


def _arms(figure: Figure, tracks: Tracks) -> dict[str, np.ndarray]:
    """Both arms, written for the left one; the right is its mirror image."""
    arms, chest = tracks.arms, turned(tracks.chest)
    world: dict[str, np.ndarray] = {}
    for i, side in enumerate(SIDES):
        lift = rotation.multiply(
            rotation.exp(-arms.forward[:, i, None] * X), rotation.exp((arms.aside[:, i, None] - 0.5 * np.pi) * Z)
        )
        upper = rotation.multiply(lift, rotation.exp(-arms.outward[:, i, None] * X))
        lower = rotation.multiply(upper, rotation.exp(-arms.elbow[:, i, None] * Y))
        hand = rotation.multiply(lower, rotation.exp(-arms.wrist[:, i, None] * Y))
        bones = (("UpperArm", upper, "LowerArm"), ("LowerArm", lower, "Hand"))
        level = rotation.identity()
        for role, turn, end in bones:
            # A rest arm that is not level is first brought level.
            if f"{side}{end}" in figure.skeleton.roles:
                level = rotation.between(figure.bone(f"{side}{role}", f"{side}{end}"), X if i == 0 else -X)
            world[f"{side}{role}"] = rotation.multiply(rotation.multiply(chest, turn * _MIRROR[i]), level)
        world[f"{side}Hand"] = rotation.multiply(rotation.multiply(chest, hand * _MIRROR[i]), level)
    return world


def _relative(figure: Figure, world: dict[str, np.ndarray], frames: int) -> np.ndarray:
    """(F, J, 4) relative to parents, from world orientations by role; joints without one follow their parent."""
    skeleton = figure.skeleton
    role_of = {name: role for role, name in skeleton.roles.items()}
    rotations = rotation.identity((frames, len(skeleton)))
    orientations = rotation.identity((frames, len(skeleton)))
    for i, name in enumerate(skeleton.names):
        parent = orientations[:, skeleton.parents[i]] if i else rotation.identity((frames,))
        orientations[:, i] = world.get(role_of.get(name, ""), parent)
        rotations[:, i] = rotation.multiply(rotation.conjugate(parent), orientations[:, i])
    return rotations
