"""Standing motions: breathing and shifting a little, waving a hand, and a squat on flat feet.

The squat: hips back and down, trunk forward, arms out to the front, the centre of mass over the feet.

Hips go where the centre of mass of what they carry stays over the feet.
"""

from __future__ import annotations

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.motion.clip import Clip
from poise.motion.edits.timing import frame_times
from poise.motion.samples.body import Figure
from poise.motion.samples.curves import rise_and_fall
from poise.motion.samples.tracks import Tracks, build_clip, stand
from poise.spatial import rotation

_BREATH, _SWAY, _DRIFT = (
    3.7,
    5.3,
    4.1,
)  # s, periods; none is a multiple of another, so that it does not look like a loop


def idle(skeleton: Skeleton, duration: float = 4.0, fps: float = 60.0) -> Clip:
    """Quiet standing that is alive: breath in the chest, weight going from foot to foot. Starts and ends at rest."""
    if duration < 0.5:
        raise InputError(f"idling takes at least 0.5 s; given {duration:g} s.")
    figure, times = Figure(skeleton), frame_times(duration, fps, len(skeleton))
    tracks = stand(figure, times)
    add_life(figure, tracks, duration)
    return build_clip(figure, tracks, "idle")


def add_life(figure: Figure, tracks: Tracks, duration: float) -> None:
    """Breath and sway on top of tracks that stand."""
    t = tracks.times
    alive = rise_and_fall(t, 0.0, 0.25 * duration, 0.75 * duration, duration)
    breath = alive * (0.5 - 0.5 * np.cos(2 * np.pi * t / _BREATH))
    sway, drift = (alive * np.sin(2 * np.pi * t / period) for period in (_SWAY, _DRIFT))
    tracks.hips[:, 0] += 0.010 * figure.leg * sway
    tracks.hips[:, 1] -= 0.004 * figure.leg * alive
    tracks.hips[:, 2] += 0.005 * figure.leg * drift
    tracks.pelvis[:, 2] += np.radians(0.6) * sway
    tracks.chest[:, 2] -= np.radians(0.8) * sway
    tracks.chest[:, 0] -= np.radians(1.5) * breath
    tracks.head[:, 1] += np.radians(3.0) * drift
    tracks.arms.aside += np.radians(0.8) * breath[:, None]


def wave(
    skeleton: Skeleton, duration: float = 3.2, fps: float = 60.0, *, arm: str = "right", rate: float = 1.7
) -> Clip:
    """A raised hand waves, palm to the front. Begins and ends in quiet standing.

    duration  s, at least 1.8: the arm rises for 0.8 s and comes down for as long
    arm       "left" or "right"
    rate      waves a second
    """
    if arm not in SIDES:
        raise unknown_name("arm", arm, SIDES)
    if duration < 1.8:
        raise InputError(f"a wave takes at least 1.8 s, 0.8 s up and 0.8 s down; given {duration:g} s.")
    figure, times = Figure(skeleton), frame_times(duration, fps, len(skeleton))
    tracks = stand(figure, times)
    add_life(figure, tracks, duration)
    _raise_hand(tracks, SIDES.index(arm), duration, rate)
    return build_clip(figure, tracks, "wave")


def _raise_hand(tracks: Tracks, side: int, duration: float, rate: float) -> None:
    t, arms, sign = tracks.times, tracks.arms, (1.0, -1.0)[side]
    up = rise_and_fall(t, 0.05, 0.8, duration - 0.8, duration - 0.05)
    # The elbow leads on the way up, the turn outward follows.
    turn = rise_and_fall(t, 0.15, 0.85, duration - 0.85, duration - 0.1)
    swinging = rise_and_fall(t, 0.6, 1.0, duration - 1.0, duration - 0.55)
    phase = 2.0 * np.pi * rate * (t - 0.6)
    for track, degrees, lift in (
        (arms.forward, 18.0, up), (arms.aside, 62.0, up), (arms.outward, 88.0, turn), (arms.elbow, 88.0, up),
    ):  # fmt: skip
        track[:, side] += np.radians(degrees) * lift
    arms.elbow[:, side] += np.radians(20.0) * swinging * np.sin(phase)
    arms.aside[:, side] += np.radians(3.0) * swinging * np.sin(phase + 0.4)
    arms.wrist[:, side] += np.radians(14.0) * swinging * np.sin(phase - 0.9)
    tracks.chest[:, 2] += np.radians(2.0) * sign * up
    tracks.head[:, 2] -= np.radians(4.0) * sign * up
    tracks.head[:, 1] += np.radians(6.0) * sign * up


def squat(skeleton: Skeleton, duration: float = 3.2, fps: float = 60.0, *, depth: float = 0.42) -> Clip:
    """One squat, down and up again, from quiet standing to quiet standing.

    duration  s, at least 1.2
    depth     how far the hips go down, in lengths of the leg, at most 0.5; 0.42 brings the thighs near the level
    """
    if duration < 1.2:
        raise InputError(f"a squat takes at least 1.2 s; given {duration:g} s.")
    if not 0.0 < depth <= 0.5:
        raise InputError(f"a squat's depth is a share of the legs' length, above 0 and at most 0.5; given {depth:g}.")
    figure, times = Figure(skeleton), frame_times(duration, fps, len(skeleton))
    tracks = stand(figure, times)
    down = rise_and_fall(times, 0.02 * duration, 0.46 * duration, 0.54 * duration, 0.98 * duration)
    reach = rise_and_fall(times, 0.0, 0.38 * duration, 0.6 * duration, duration)
    share = depth / 0.42
    tracks.hips[:, 1] -= depth * figure.leg * down
    tracks.pelvis[:, 0] += np.radians(30.0) * share * down
    tracks.chest[:, 0] += np.radians(36.0) * share * down
    tracks.head[:, 0] += np.radians(8.0) * share * down
    tracks.arms.forward += np.radians(105.0) * share * reach[:, None]
    tracks.arms.elbow += np.radians(6.0) * reach[:, None]
    put_hips_under(figure, tracks)
    return build_clip(figure, tracks, "squat")


_ROUNDS = 5  # the hips carry nearly nine tenths of the mass along: each round leaves a small share of the error


def put_hips_under(figure: Figure, tracks: Tracks, axes: tuple[int, ...] = (2,)) -> None:
    """Move the hips along some axes (0 is x, 2 is z) until the centre of mass is where it is in standing."""
    body, along = Character.from_skeleton(figure.skeleton), list(axes)
    standing = _mass_centre(body, build_clip(figure, stand(figure, tracks.times[:1]), ""))[0]
    for _ in range(_ROUNDS):
        off = _mass_centre(body, build_clip(figure, tracks, "")) - standing
        tracks.hips[:, along] -= off[:, along]


def _mass_centre(body: Character, clip: Clip) -> np.ndarray:
    """(F, 3) m, the centre of mass of an average body with the clip's skeleton."""
    positions, orientations = clip.world
    masses = np.array([inertia.mass for inertia in body.inertias])
    centers = positions + rotation.rotate(orientations, np.array([inertia.center for inertia in body.inertias]))
    return np.einsum("j,fja->fa", masses / masses.sum(), centers)
