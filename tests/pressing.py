"""Bodies that stand in MuJoCo, step by step, with the forces that MuJoCo's own contacts have: read from its `MjData`.

step k:  a state (root, q, v, w), and the wrench of all contacts with the ground that takes it to state k + 1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

import poise
from poise.dynamics.tree import TreeState
from poise.motion import samples
from poise.motion.clip import Clip
from poise.spatial import rotation
from poise.stage.actor import Actor

BODIES = {
    "adult": poise.Character.human(1.78, 75.0),
    "child": poise.Character.human(1.15, 20.0, age=6.0),
    "heavy": poise.Character.human(1.95, 120.0),
    "39 freedoms": poise.Character.human(1.7, 62.0, sex="female", preset="strength"),
}


def stand(actor: Actor) -> None:
    actor.drive("legs", poise.Balance())


def swing(actor: Actor) -> None:
    """Both arms to and fro by 85 degrees, once a second: the pressure goes from heels to toes."""
    stand(actor)
    actor.drive("arms", poise.Kinematic(poise.gestures.arm_swing(1.0)))


def conduct(actor: Actor) -> None:
    """Over hips that stay: where the centre of mass is held, the pressure hardly moves."""
    actor.drive("legs", poise.Balance(hold=0.0, counter_lean=0.0))
    actor.drive("arms", poise.Kinematic(poise.gestures.conduct(bpm=92, beats=4)))


def squat(actor: Actor) -> None:
    clip = samples.squat(actor.character.skeleton, 3.2, 100.0)
    actor.drive("legs", poise.Balance(follow=clip))
    actor.drive("upperBody", poise.Track(clip))


MOTIONS: dict[str, Callable[[Actor], None]] = {"stand": stand, "swing": swing, "conduct": conduct, "squat": squat}
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
    """Have a body stand on MuJoCo's ground for a while."""
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
