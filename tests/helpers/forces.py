"""Motions whose ground force is known: chosen first, or read from MuJoCo's own contacts.

`drop_jump`  The force is chosen first, and the body moved so that its center of mass obeys. The center of mass is the
             force integrated twice; the hips are then put where the whole body's center of mass is there. Feet stand
             where the force acts and are carried along with the hips while there is none.
`press`      Bodies that stand in MuJoCo, step by step, with the forces of MuJoCo's own contacts, from its `MjData`.
             step k: a state (root, q, v, w), and the wrench of all contacts with the ground that leads to state k + 1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

import poise
from poise import Character, Clip, Skeleton, rotation
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import TreeState, build_tree
from poise.motion import foot_points, samples
from poise.motion.samples.body import Figure
from poise.motion.samples.curves import rise, rise_and_fall
from poise.motion.samples.tracks import Tracks, build_clip, stand
from poise.stage.actor import Actor

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


BODIES = {
    "adult": poise.Character.human(1.78, 75.0),
    "child": poise.Character.human(1.15, 20.0, age=6.0),
    "heavy": poise.Character.human(1.95, 120.0),
    "39 freedoms": poise.Character.human(1.7, 62.0, sex="female", preset="strength"),
}


def stand_still(actor: Actor) -> None:
    actor.drive("legs", poise.Balance())


def swing(actor: Actor) -> None:
    """Both arms to and fro by 85 degrees, once a second: the pressure goes from heels to toes."""
    stand_still(actor)
    actor.drive("arms", poise.Kinematic(poise.gestures.arm_swing(1.0)))


def conduct(actor: Actor) -> None:
    """Over hips that stay: where the centre of mass is held, the pressure hardly moves."""
    actor.drive("legs", poise.Balance(hold=0.0, counter_lean=0.0))
    actor.drive("arms", poise.Kinematic(poise.gestures.conduct(bpm=92, beats=4)))


def squat(actor: Actor) -> None:
    clip = samples.squat(actor.character.skeleton, 3.2, 100.0)
    actor.drive("legs", poise.Balance(follow=clip))
    actor.drive("upperBody", poise.Track(clip))


MOTIONS: dict[str, Callable[[Actor], None]] = {"stand": stand_still, "swing": swing, "conduct": conduct, "squat": squat}
START = 0.3  # s, after which feet have settled


@dataclass(frozen=True, eq=False)
class Pressed:
    """A run of n steps: n + 1 states, and the ground's force and moment (n, 3) about the world's origin."""

    dt: float
    body: poise.Character
    root: np.ndarray
    q: np.ndarray
    v: np.ndarray
    w: np.ndarray
    force: np.ndarray
    moment: np.ndarray

    @property
    def pressure(self) -> np.ndarray:
        """(n, 2) m, x and z where the engine's contacts press on y = 0."""
        return np.stack([self.moment[:, 2], -self.moment[:, 0]], axis=1) / self.force[:, 1:2]

    def between(self) -> TreeState:
        """The motion in the middle of every step: what two states differ by, over the step."""
        one, two = slice(None, -1), slice(1, None)
        return TreeState(
            0.5 * (self.root[one] + self.root[two]),
            rotation.slerp(self.q[one], self.q[two], 0.5),
            0.5 * (self.v[one] + self.v[two]),
            0.5 * (self.w[one] + self.w[two]),
            np.diff(self.v, axis=0) / self.dt,
            np.diff(self.w, axis=0) / self.dt,
        )

    def clip(self) -> Clip:
        """Its poses at the beginning of every step."""
        n = len(self.force)
        return Clip(self.body.skeleton, self.dt * np.arange(n), self.root[:-1], self.q[:-1])


def press(body: poise.Character, drive: Callable[[Actor], None], seconds: float, dt: float) -> Pressed:
    """Stand a body on MuJoCo's ground for a while."""
    stage = poise.Stage(engine="mujoco", dt=dt)
    actor = stage.add(body)
    drive(actor)
    stage.advance(round(START / dt))
    simulation = stage.groups[0].simulation
    states, wrenches = [actor.body.state.copy()], []
    for _ in range(round(seconds / dt)):
        stage.step()
        wrenches.append(find_contact_wrench(simulation.model, simulation.data))  # type: ignore[attr-defined]
        states.append(actor.body.state.copy())
    assert actor.fallen is None
    force, moment = (np.array(part) for part in zip(*wrenches, strict=True))
    columns = [np.array([getattr(state, name) for state in states]) for name in ("root", "q", "v", "w")]
    return Pressed(dt, body, *columns, force, moment)


def find_contact_wrench(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment about the origin of all contacts with what stands fast, on what does not."""
    force, moment, each = np.zeros(3), np.zeros(3), np.zeros(6)
    for k in range(data.ncon):
        contact = data.contact[k]
        fixed = [model.geom_bodyid[geom] == 0 for geom in (contact.geom1, contact.geom2)]
        if fixed[0] == fixed[1]:
            continue
        mujoco.mj_contactForce(model, data, k, each)  # of the first on the second, in the contact's axes
        sign, turn = (1.0 if fixed[0] else -1.0), contact.frame.reshape(3, 3).T
        force += sign * (turn @ each[:3])
        moment += sign * (np.cross(contact.pos, turn @ each[:3]) + turn @ each[3:])
    return force, moment
