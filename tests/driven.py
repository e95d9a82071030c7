"""Motions whose ground force is known: the force is chosen first, and the body moved so that its centre of mass obeys.

The centre of mass is the force integrated twice; the hips are then put where the whole body's centre of mass is there.
Feet stand where the force acts and are carried along with the hips while there is none.
"""

from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.motion import Clip, foot_points
from poise.motion.samples.body import Figure
from poise.motion.samples.curves import rise, rise_and_fall
from poise.motion.samples.tracks import Tracks, build_clip, stand
from poise.spatial import rotation

G = 9.81


@dataclass(frozen=True, eq=False)
class Driven:
    """A clip, the force (F, 3) in body weights that moves it, and which feet (F, 2) that force acts on."""

    clip: Clip
    force: np.ndarray
    down: np.ndarray


def impact(t: np.ndarray, start: float, length: float, shares: tuple[float, float] = (0.35, 1.0)) -> np.ndarray:
    """A landing's force curve: an early peak a fifth of the way in, and a later, broader one. Not scaled."""
    u = np.clip((t - start) / length, 0.0, 1.0)
    early = np.exp(-(((u - 0.18) / 0.07) ** 2)) * u * (1 - u)
    return shares[0] * 6.0 * early + shares[1] * np.sin(np.pi * u) ** 1.2 * (u > 0) * (u < 1)


def drop_jump(skeleton: Skeleton, fps: float, box: float = 0.4, rebound: float = 0.25, contact: float = 0.28) -> Driven:
    """Standing on a box, dropping off it, rebounding at once, landing and standing still.

    rebound  m that the centre of mass rises after the short contact of `contact` s
    """
    fine = 4800.0
    fall = np.sqrt(2 * (box + 0.06) / G)  # the legs land bent: 6 cm below standing
    up = np.sqrt(2 * G * rebound)
    air = 2 * up / G
    t0 = 0.6
    t1 = t0 + fall
    t2 = t1 + contact
    t3 = t2 + air
    end = t3 + 1.6
    t = np.arange(0, end, 1 / fine)
    force = np.zeros_like(t)
    force[t <= t0] = 1.0
    # Contact: the impulse that turns the fall into the rise, and gives the height back that was lost in it.
    u = np.clip((t - t1) / contact, 0.0, 1.0)
    curves = np.stack([impact(t, t1, contact), np.sin(np.pi * u) * u * (u < 1)])
    speed = np.cumsum(G * curves, axis=1) / fine
    way = np.cumsum(speed, axis=1)[:, int(t2 * fine)] / fine
    turned = np.array([up + G * fall + G * contact, G * fall * contact + 0.5 * G * contact**2])
    sizes = np.linalg.solve(np.array([speed[:, int(t2 * fine)], way]), turned)
    force += sizes @ curves
    # landing: down to a crouch and up to standing, at rest in the end: two curves with two unknown sizes
    landing, late = impact(t, t3, 0.35), rise_and_fall(t, t3 + 0.25, t3 + 0.6, t3 + 0.6, t3 + 0.95)
    settled = rise(t, t3, t3 + 0.35) * (t >= t3)
    velocity = np.cumsum(G * (force + settled - 1)) / fine
    height = np.cumsum(velocity) / fine
    columns = []
    for curve in (landing, late, rise_and_fall(t, t3 + 0.7, t3 + 1.0, t3 + 1.0, t3 + 1.3)):
        v = np.cumsum(G * curve) / fine
        columns.append([v[-1], (np.cumsum(v) / fine)[-1]])
    wanted = np.array([-velocity[-1], -box - height[-1]])
    sizes = np.linalg.lstsq(np.array(columns).T, wanted, rcond=None)[0]
    force += settled + sizes @ np.stack([landing, late, rise_and_fall(t, t3 + 0.7, t3 + 1.0, t3 + 1.0, t3 + 1.3)])
    times = np.arange(0, end - 0.05, 1 / fps)
    sampled = np.interp(times, t, force)
    path = np.cumsum(np.cumsum(G * (force - 1)) / fine) / fine
    down = np.repeat(((times <= t0) | ((times >= t1) & (times <= t2)) | (times >= t3))[:, None], 2, axis=1)
    floor = np.where(times <= t0, box, 0.0)
    figure = Figure(skeleton)
    tracks = stand(figure, times)
    _place(figure, tracks, box + np.interp(times, t, path), down, np.repeat(floor[:, None], 2, axis=1))
    clip = _settle(figure, tracks, box + np.interp(times, t, path), down, np.repeat(floor[:, None], 2, axis=1))
    _check(clip, down, np.repeat(floor[:, None], 2, axis=1))
    zeros = np.zeros_like(sampled)
    return Driven(clip, np.stack([zeros, sampled, zeros], axis=1), down)


def _check(clip: Clip, down: np.ndarray, floor: np.ndarray) -> None:
    """The legs reach the floor wherever the feet are down: else the motion is not what it says."""
    soles = foot_points(clip)[..., 1].min(axis=2)
    assert np.abs(soles - floor)[down].max() < 2e-3, np.abs(soles - floor)[down].max()


def _place(figure: Figure, tracks: Tracks, rise_: np.ndarray, down: np.ndarray, floor: np.ndarray) -> None:
    tracks.hips[:, 1] = figure.stand_height + rise_


def _settle(figure: Figure, tracks: Tracks, lift: np.ndarray, down: np.ndarray, floor: np.ndarray) -> Clip:
    """The clip whose centre of mass is `lift` (F,) m over where it is in quiet standing on y = 0."""
    tree = build_tree(Character.from_skeleton(figure.skeleton))
    times = tracks.times
    standing = None
    for _ in range(12):
        _carry_feet(figure, tracks, down, floor)
        clip = build_clip(figure, tracks, "driven")
        center = compute_center_of_mass(tree, *clip.poses)[:, 1]
        if standing is None:
            still = build_clip(figure, stand(figure, times[:1]), "still")
            standing = compute_center_of_mass(tree, *still.poses)[0, 1]
        tracks.hips[:, 1] += standing + lift - center
    return clip


def _carry_feet(figure: Figure, tracks: Tracks, down: np.ndarray, floor: np.ndarray) -> None:
    """Feet stand on their floor, and hang from the hips in flight, as far below as at its two ends, eased between."""
    t = tracks.times
    for side in range(2):
        flat = figure.stance[side]
        tracks.ankles[:, side] = flat
        tracks.ankles[:, side, 1] += floor[:, side]
        up = np.flatnonzero(~down[:, side])
        if len(up) == 0:
            continue
        for group in np.split(up, np.flatnonzero(np.diff(up) > 1) + 1):
            a, b = group[0] - 1, group[-1] + 1
            if a < 0 or b >= len(t):
                continue
            drop = [tracks.hips[i, 1] - tracks.ankles[i, side, 1] for i in (a, b)]
            share = rise(t[group], t[a], t[b])
            tracks.ankles[group, side, 1] = tracks.hips[group, 1] - (drop[0] + share * (drop[1] - drop[0]))


def blur(driven: Driven, seed: int, gain: float = 1.0, noise: float = 0.0, wobble: float = 0.0) -> Clip:
    """The clip as a capture would have it: swings gain times as large, noise at every frame, and slow wobble.

    noise   m at the root, and rad at the joints, white
    wobble  m at the root, below 6 Hz
    """
    from scipy.signal import butter, filtfilt

    rng, clip = np.random.default_rng(seed), driven.clip
    root = clip.root.copy()
    slow = filtfilt(*butter(2, 0.5, fs=clip.fps), root[:, 1])
    root[:, 1] += (gain - 1) * (root[:, 1] - slow)
    root += noise * rng.standard_normal(root.shape)
    smooth = filtfilt(*butter(2, 6.0, fs=clip.fps), rng.standard_normal(root.shape), axis=0)
    root += wobble * smooth / smooth.std()
    turns = rotation.exp(noise * rng.standard_normal((*clip.rotations.shape[:2], 3)))
    return clip.replace(root=root, rotations=rotation.multiply(clip.rotations, turns))
