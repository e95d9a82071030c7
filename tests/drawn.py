"""Motions drawn by keys, and stances and hops that are easily mistaken for flights; Y up, metres."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.body.skeleton import Skeleton
from poise.motion.clip import Clip
from poise.motion.samples import idle, jump
from poise.spatial import rotation

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
