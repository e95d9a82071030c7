"""Motions made from key poses that do not just stand: on the floor, on hands, bent, rolling; feet on the ground, Y up.

A key is a time, the root's turn as rotation vectors in degrees (applied one after the other, the first one last in the
world), joints' turns, and where the root is over the ground. The body is put on the ground in every frame by its lowest
joint.
"""

from __future__ import annotations

import itertools

import numpy as np

from poise.body.skeleton import Skeleton
from poise.files.reading.recording import Recording
from poise.files.reading.reframe import Reframe
from poise.files.reading.up_axis import turn_to_y
from poise.motion.clip import Clip
from poise.motion.samples import idle, jump, squat, walk, wave
from poise.spatial import rotation

Turns = dict[str, tuple[float, float, float]]
Key = tuple[float, list[tuple[float, float, float]], Turns, tuple[float, float]]
LOWEST = 0.05  # m over the ground: what the lowest joint has of flesh or sole under it
DOWN: Turns = {"leftUpperArm": (0, 0, -80), "rightUpperArm": (0, 0, 80)}
BACK, FRONT = [(-90.0, 0.0, 0.0)], [(90.0, 0.0, 0.0)]


def both(joint: str, turn: tuple[float, float, float]) -> Turns:
    """The same bend of both sides; turns about Y and Z are mirrored."""
    x, y, z = turn
    return {f"left{joint}": (x, y, z), f"right{joint}": (x, -y, -z)}


def make(skeleton: Skeleton, keys: list[Key], fps: float = 30.0) -> Clip:
    """The clip through keys, eased between them, on the ground."""
    times = np.arange(round(keys[-1][0] * fps) + 1) / fps
    frames, joints = len(times), len(skeleton)
    rotations, root = rotation.identity((frames, joints)), np.zeros((frames, 3))
    for first, last in itertools.pairwise(keys):
        inside = (times >= first[0]) & (times <= last[0])
        share = (times[inside] - first[0]) / (last[0] - first[0])
        ease = share**3 * (10 - 15 * share + 6 * share**2)
        ends = [_pose(skeleton, key) for key in (first, last)]
        rotations[inside] = rotation.slerp(ends[0], ends[1], ease[:, None])
        root[inside] = [[first[3][0], 0.0, first[3][1]]] + np.outer(
            ease, [last[3][0] - first[3][0], 0.0, last[3][1] - first[3][1]]
        )
    clip = Clip(skeleton, times, root, rotations)
    root[:, 1] = LOWEST - clip.positions[..., 1].min(axis=1)
    return clip.replace(root=root)


def _pose(skeleton: Skeleton, key: Key) -> np.ndarray:
    pose = rotation.identity((len(skeleton),))
    for joint, turn in key[2].items():
        pose[skeleton.index(joint)] = rotation.exp(np.radians(turn))
    for turn in reversed(key[1]):
        pose[0] = rotation.multiply(rotation.exp(np.radians(turn)), pose[0])
    return pose


def lie(skeleton: Skeleton, face: str = "up") -> Clip:
    """Lying still, arms along the body, for three seconds."""
    turn = BACK if face == "up" else FRONT
    pose = {**DOWN, "head": (3.0, 5.0, 0.0)}
    return make(skeleton, [(0.0, turn, DOWN, (0.3, 0.2)), (1.5, turn, pose, (0.3, 0.2)), (3.0, turn, DOWN, (0.3, 0.2))])


def lie_waving(skeleton: Skeleton) -> Clip:
    """On the back, arms and a leg moving."""
    lifted = {**DOWN, "leftUpperArm": (-70, 0, -60), "rightUpperLeg": (-50, 0, 0)}
    keys = [DOWN, lifted, DOWN, {**DOWN, "rightUpperArm": (-70, 0, 60), "leftUpperLeg": (-40, 0, 0)}, DOWN]
    return make(skeleton, [(0.8 * i, BACK, pose, (0.0, 0.0)) for i, pose in enumerate(keys)])


def lie_on_side(skeleton: Skeleton) -> Clip:
    """On the side, knees drawn up a little, breathing with the head."""
    turn = [(0.0, 0.0, 90.0)]
    bent = {**DOWN, **both("UpperLeg", (-30, 0, 0)), **both("LowerLeg", (45, 0, 0))}
    return make(skeleton, [(0.0, turn, bent, (0, 0)), (2.0, turn, {**bent, "head": (8, 0, 0)}, (0, 0))])


def sit_ups(skeleton: Skeleton) -> Clip:
    """Straight legs, the trunk up and down three times."""
    up = {**DOWN, "spine": (70, 0, 0), **both("UpperArm", (0, 0, -40))}
    return make(skeleton, [(0.8 * i, BACK, up if i % 2 else DOWN, (0, 0)) for i in range(7)])


def push_ups(skeleton: Skeleton) -> Clip:
    """On hands and toes, four times down."""
    arms, feet = both("UpperArm", (0, -85, 0)), both("Foot", (0, 0, 0))
    high = {**arms, **feet}
    low = {**both("UpperArm", (0, -30, -15)), **both("LowerArm", (0, -85, 0)), **feet}
    return make(
        skeleton,
        [(0.7 * i, [(86.0 if i % 2 else 76.0, 0.0, 0.0)], low if i % 2 else high, (0, 0)) for i in range(9)],
    )


def crawl(skeleton: Skeleton, travel: float = 0.25) -> Clip:
    """On hands and knees, diagonal limbs together."""
    keys: list[Key] = []
    for i in range(9):
        swing = 18.0 if i % 2 else -18.0
        pose: Turns = {"head": (-35, 0, 0)}
        for side, sign in (("left", 1.0), ("right", -1.0)):
            pose[f"{side}UpperLeg"] = (-80 + sign * swing, 0, 0)
            pose[f"{side}LowerLeg"] = (85, 0, 0)
            pose[f"{side}UpperArm"] = (0, -sign * 85 - swing, 0)
            pose[f"{side}Foot"] = (40, 0, 0)
        keys.append((0.5 * i, [(80.0, 0.0, 0.0)], pose, (0.0, travel * i)))
    return make(skeleton, keys)


def handstand(skeleton: Skeleton) -> Clip:
    """On the hands all the time, legs opening and closing."""
    arms = both("UpperArm", (0, 0, 85))
    keys = [{**arms, **both("UpperLeg", (0, 0, 5 + 30 * (i % 2)))} for i in range(6)]
    return make(skeleton, [(0.8 * i, [(178.0, 0.0, 0.0)], pose, (0.0, 0.0)) for i, pose in enumerate(keys)])


def cartwheel(skeleton: Skeleton) -> Clip:
    """Two turns about the front axis, arms up and legs apart."""
    pose = {**both("UpperArm", (0, 0, 70)), **both("UpperLeg", (0, 0, 30))}
    return make(skeleton, [(0.3 * i, [(0.0, 0.0, -60.0 * i)], pose, (-0.4 * i, 0.0)) for i in range(13)], 60.0)


def log_roll(skeleton: Skeleton) -> Clip:
    """Rolling sideways on the floor, stretched out."""
    pose = both("UpperArm", (0, 0, 80))
    return make(
        skeleton, [(0.4 * i, [(-90.0, 0.0, 0.0), (0.0, 60.0 * i, 0.0)], pose, (0.2 * i, 0.0)) for i in range(10)]
    )


def swim(skeleton: Skeleton) -> Clip:
    """Prone, kicking and pulling, travelling ahead, one metre over the ground."""
    keys: list[Key] = []
    for i in range(10):
        swing = 25.0 if i % 2 else -25.0
        pose = {"leftUpperLeg": (swing, 0, 0), "rightUpperLeg": (-swing, 0, 0)}
        pose |= {"leftUpperArm": (0, -40 - 2 * swing, 0), "rightUpperArm": (0, 40 - 2 * swing, 0)}
        keys.append((0.4 * i, FRONT, pose, (0.0, 0.4 * i)))
    clip = make(skeleton, keys)
    return clip.replace(root=clip.root + [0.0, 1.0, 0.0])


def fold(skeleton: Skeleton) -> Clip:
    """Standing, bending down to the toes and up again, the hips going back to keep the balance."""
    low = {**DOWN, "spine": (100, 0, 0), **both("UpperLeg", (-12, 0, 0))}
    turned = [(12.0, 0.0, 0.0)]
    stand: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)]
    keys: list[Key] = [(0.0, stand, DOWN, (0, 0)), (0.6, stand, DOWN, (0, 0)), (1.6, turned, low, (0.0, -0.18))]
    return make(
        skeleton, [*keys, (2.0, turned, low, (0.0, -0.18)), (3.0, stand, DOWN, (0, 0)), (3.6, stand, DOWN, (0, 0))]
    )


def get_up(skeleton: Skeleton) -> Clip:
    """From the back over a squat to standing, then standing."""
    squat = {**DOWN, **both("UpperLeg", (-110, 0, 0)), **both("LowerLeg", (125, 0, 0)), **both("Foot", (-30, 0, 0))}
    stand: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)]
    keys: list[Key] = [(0.0, BACK, DOWN, (0.0, 0.0)), (1.0, BACK, DOWN, (0.0, 0.0))]
    keys += [
        (2.2, [(15.0, 0.0, 0.0)], squat, (0.0, 0.35)),
        (3.2, stand, DOWN, (0.0, 0.45)),
        (5.0, stand, DOWN, (0.0, 0.45)),
    ]
    return make(skeleton, keys)


def fall_back(skeleton: Skeleton) -> Clip:
    """Standing, then falling onto the back and lying most of the time."""
    stand: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)]
    keys: list[Key] = [(0.0, stand, DOWN, (0, 0)), (0.8, stand, DOWN, (0, 0)), (1.5, BACK, DOWN, (0.0, -0.6))]
    return make(skeleton, [*keys, (5.0, BACK, DOWN, (0.0, -0.6))])


def on_the_spot(clip: Clip) -> Clip:
    """A walk as on a treadmill: the hips stay over the origin."""
    return clip.replace(root=clip.root * [0.0, 1.0, 0.0])


STANDING = {
    "walk": lambda s: walk(s, fps=30.0),
    "walk on the spot": lambda s: on_the_spot(walk(s, fps=30.0)),
    "jump": lambda s: jump(s, fps=30.0),
    "squat": lambda s: squat(s, fps=30.0),
    "stand": lambda s: idle(s, fps=30.0),
    "wave": lambda s: wave(s, fps=30.0),
    "fold": fold,
    "get up": get_up,
}
FLOOR = {
    "lie": lie, "lie prone": lambda s: lie(s, "down"), "lie waving": lie_waving, "lie on side": lie_on_side,
    "sit-ups": sit_ups, "push-ups": push_ups, "crawl": crawl, "crawl on the spot": lambda s: crawl(s, 0.0),
    "handstand": handstand, "cartwheel": cartwheel, "log roll": log_roll, "swim": swim,
}  # fmt: skip


def told(clip: Clip, rest: str, motion: str, unit: float = 1.0) -> Recording:
    """A clip, Y up, as a file has it whose rest pose stands along one axis and whose motion along another."""
    world, frame = (rotation.conjugate(turn_to_y(axis)) for axis in (motion, rest))
    turned = Reframe(unit, world, np.tile(frame, (len(clip.skeleton), 1))).apply(clip)
    return Recording(turned.replace(skeleton=turned.skeleton.replace(roles={})), "test", "test.bvh")
