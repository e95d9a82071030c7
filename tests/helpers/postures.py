"""Motions made from key poses: on the floor, on hands, bent, rolling, on one leg, hopping, jumping; metres, Y up.

A key is a time, the root's turn as rotation vectors in degrees (applied one after the other, the first one last in the
world), joints' turns, and where the root is over the ground. The body is put on the ground in every frame by its lowest
joint.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from poise import Clip, Skeleton, rotation
from poise.files.reading.recording import Recording
from poise.files.reading.reframe import Reframe, turn_to_y
from poise.motion.samples import idle, jump, squat, walk, wave

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


EASES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda u: u,
    "stepped": lambda u: np.floor(u),
    "smooth": lambda u: u * u * (3 - 2 * u),
    "smoother": lambda u: u**3 * (10 - 15 * u + 6 * u * u),
    "sine": lambda u: 0.5 - 0.5 * np.cos(np.pi * u),
}
# A jump as people draw it: time in s, hips above standing in m, bend of the knees and lift of the arms in degrees.
_JUMP = [(0.0, 0.0, 5.0, 0.0), (0.3, -0.25, 70.0, -30.0), (0.45, 0.0, 10.0, 60.0), (0.7, 0.5, 40.0, 110.0),
         (0.95, 0.0, 10.0, 60.0), (1.15, -0.2, 60.0, 0.0), (1.6, 0.0, 5.0, 0.0)]  # fmt: skip


def drawn_jump(skeleton: Skeleton, ease: str, fps: float = 30.0, height: float = 1.0, arc: str | None = None) -> Clip:
    """A hand-made jump: a few keys with one ease between them.

    height  how high, as a factor
    arc     "sine" or "throw" (a parabola of no gravity in particular) instead of the ease while in the air
    """
    keys = np.array(_JUMP)
    times = np.arange(round(keys[-1, 0] * fps) + 1) / fps
    at = np.clip(np.searchsorted(keys[:, 0], times, side="right") - 1, 0, len(keys) - 2)
    share = (times - keys[at, 0]) / (keys[at + 1, 0] - keys[at, 0])
    values = keys[at, 1:] + EASES[ease](np.clip(share, 0.0, 1.0))[:, None] * (keys[at + 1, 1:] - keys[at, 1:])
    rise = values[:, 0] * np.where(values[:, 0] > 0, height, 1.0)
    if arc is not None:
        air = (times >= 0.45) & (times <= 0.95)
        u = (times[air] - 0.45) / 0.5
        rise[air] = 0.5 * height * (np.sin(np.pi * u) if arc == "sine" else 4.0 * u * (1.0 - u))
    rotations = rotation.identity((len(times), len(skeleton)))
    knees, arms = np.radians(values[:, 1]), np.radians(values[:, 2])
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for joint, angle in (("UpperLeg", -0.5 * knees), ("LowerLeg", knees), ("Foot", -0.5 * knees)):
            rotations[:, skeleton.index(side + joint)] = rotation.exp(angle[:, None] * [1.0, 0.0, 0.0])
        lift = rotation.exp(-arms[:, None] * [1.0, 0.0, 0.0])
        down = rotation.exp(np.array([0.0, 0.0, -sign * 1.4]))
        rotations[:, skeleton.index(f"{side}UpperArm")] = rotation.multiply(lift, down)
    hips = float(skeleton.offsets[0, 1]) + rise
    return Clip(skeleton, times, np.stack([0 * times, hips, 0 * times], axis=1), rotations, "drawn")


def one_legged(skeleton: Skeleton, fps: float = 120.0, bob: float = 0.06, period: float = 0.8) -> Clip:
    """On the right leg all the time, the left knee up, the standing knee giving way again and again."""
    times = np.arange(round(4.0 * fps)) / fps
    clip = idle(skeleton, 4.0, fps)
    rotations = clip.rotations[: len(times)].copy()
    legs = [skeleton.offsets[skeleton.index(f"right{j}")] for j in ("LowerLeg", "Foot")]
    lengths = [float(np.linalg.norm(leg)) for leg in legs]
    drop = bob * (0.5 - 0.5 * np.cos(2 * np.pi * times / period))
    reach = (lengths[0] + lengths[1]) * 0.995 - drop
    knee = np.pi - np.arccos(
        np.clip((lengths[0] ** 2 + lengths[1] ** 2 - reach**2) / (2 * lengths[0] * lengths[1]), -1, 1)
    )
    hip = np.arctan2(lengths[1] * np.sin(knee), lengths[0] + lengths[1] * np.cos(knee))
    for joint, angle in (("UpperLeg", -hip), ("LowerLeg", knee), ("Foot", hip - knee)):
        rotations[:, skeleton.index(f"right{joint}")] = rotation.exp(angle[:, None] * [1.0, 0.0, 0.0])
    for joint, angle in (("UpperLeg", -1.2), ("LowerLeg", 1.5)):
        rotations[:, skeleton.index(f"left{joint}")] = rotation.exp(np.array([angle, 0.0, 0.0]))
    still = Clip(skeleton, times, np.zeros((len(times), 3)), rotations)
    root = np.zeros((len(times), 3))
    foot = still.positions[:, skeleton.index("rightFoot")]
    root -= foot - [0.0, 0.1, 0.0]
    return still.replace(root=root)


def hop(skeleton: Skeleton, fps: float = 120.0) -> Clip:
    """A jump on one leg, the other knee held up."""
    clip = jump(skeleton, fps=fps)
    rotations = clip.rotations.copy()
    for joint, angle in (("UpperLeg", -1.0), ("LowerLeg", 1.3)):
        rotations[:, skeleton.index(f"left{joint}")] = rotation.exp(np.array([angle, 0.0, 0.0]))
    return clip.replace(rotations=rotations)


def played(clip: Clip, factor: float) -> Clip:
    """The same frames, said to be `factor` times as fast."""
    return clip.replace(times=clip.times / factor)


def shaken(clip: Clip, metres: float, seed: int = 0) -> Clip:
    """With noise on the root and a tenth of a degree a millimetre on every joint."""
    rng = np.random.default_rng(seed)
    turns = rotation.exp(rng.normal(scale=np.radians(100.0 * metres), size=(*clip.rotations.shape[:2], 3)))
    return clip.replace(
        root=clip.root + rng.normal(scale=metres, size=clip.root.shape),
        rotations=rotation.multiply(clip.rotations, turns),
    )
