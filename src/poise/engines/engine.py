"""What the stage asks of a physics engine, and nothing more.

An engine builds a `Simulation` out of a `Scene`. Each step of the stage then is

    for every body: place what is given, apply torques, damping and wrenches
    simulation.step()
    for every body: read

World axes throughout: torques are those of the parent on the body at each joint, wrenches are about each body's joint.
Velocities are as in `dynamics.tree`: joints' in body axes, the root's in the world's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from poise.engines.scene import Scene
from poise.errors import InputError
from poise.spatial.arena import Arena
from poise.world.ground import Ground


@dataclass(frozen=True)
class Abilities:
    """What an engine can do; the stage refuses the rest by name.

    couplings  `exact` needs bodies whose inertia can be moved every step
    hinges     whether it takes joints of kind HINGES; without, they are built as balls
    pins       whether bodies can be fixed to the world
    carriers   whether a body can ride on a prop
    nudges     whether joints can be turned a little between steps
    uneven     whether the ground may be other than one level plane
    moving     whether the ground may move, and carry what stands on it
    """

    couplings: tuple[str, ...]
    hinges: bool = True
    pins: bool = True
    carriers: bool = True
    nudges: bool = False
    uneven: bool = True
    moving: bool = True


def check_ground(engine: Engine, ground: Ground | None) -> None:
    """Raise InputError where an engine cannot build a ground."""
    if ground is None:
        return
    if not isinstance(ground, Ground):
        raise InputError(f"the ground is a Ground, Tilted, Steps, HeightMap, Moving or None; given {ground!r:.80}.")
    if ground.moves and not engine.abilities.moving:
        raise InputError(f"the engine '{engine.name}' has no ground that moves. Give it one that stands still.")
    if type(ground) is not Ground and not engine.abilities.uneven:
        kind = type(ground).__name__
        raise InputError(f"the engine '{engine.name}' has level ground alone, not '{kind}'. Give it a Ground.")


@dataclass(eq=False)
class BodyState:
    """Where a body is and how fast, in arrays that are written in place; the same letters as in `dynamics.instant`.

    root (3,) m;  q (J, 4) wxyz;  v (3,) m/s;  w (J, 3) rad/s in body axes
    """

    root: np.ndarray
    q: np.ndarray
    v: np.ndarray
    w: np.ndarray

    @staticmethod
    def zeros(joints: int, arena: Arena | None = None) -> BodyState:
        """A state to be written to, in an arena if there is one."""
        room = arena or Arena(0)
        state = BodyState(room.zeros(3), room.zeros(joints, 4), room.zeros(3), room.zeros(joints, 3))
        state.q[:, 0] = 1.0
        return state

    def copy(self) -> BodyState:
        """The same numbers in arrays of their own."""
        return BodyState(self.root.copy(), self.q.copy(), self.v.copy(), self.w.copy())


@dataclass(frozen=True, eq=False)
class Contacts:
    """Where one body is touched; n contacts.

    joints  (n,) the joint whose body is touched
    points  (n, 3) m;  forces (n, 3) N on the body; both in the world
    others  (n,) what touches it: `ground`, the name of a prop, or body/joint
    """

    joints: np.ndarray
    points: np.ndarray
    forces: np.ndarray
    others: tuple[str, ...]


class Simulation(Protocol):
    """A scene as an engine holds it, with its state."""

    def place(self, body: int, state: BodyState) -> None:
        """Put the bodies of GIVEN joints where q says (and a GIVEN root where it is), for the next step."""
        ...

    def apply(self, body: int, torque: np.ndarray, damping: np.ndarray, wrench: np.ndarray) -> None:
        """What acts on a body in the next step.

        torque   (J, 3) N m on each body at its joint from its parent, which feels the opposite; the root's row is not
                 read
        damping  (J,) N m s/rad at each joint, which the engine integrates implicitly
        wrench   (J, 6) [torque N m about its joint, force N] on each body from outside
        """
        ...

    def nudge(self, body: int, joint: int, turn: np.ndarray) -> None:
        """Turn a BALL joint by a tiny rotation (3,) rad in world axes, leaving its velocity: corrects drift."""
        ...

    def push_prop(self, name: str, wrench: np.ndarray) -> None:
        """What acts on a prop in the next step: (6,) [torque about its frame's origin, force], world axes."""
        ...

    def step(self) -> None:
        """Advance all by the scene's dt."""
        ...

    def read(self, body: int, state: BodyState) -> None:
        """Write where the simulated joints of a body are into a state; those of GIVEN joints are left alone."""
        ...

    def read_prop(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Position (3,), turn (4,), velocity (3,) and angular velocity (3,) of a prop's frame, all in the world."""
        ...

    def find_contacts(self, body: int) -> Contacts:
        """Where a body was touched in the last step."""
        ...

    def save(self) -> Any:
        """The state, as plain arrays."""
        ...

    def restore(self, saved: Any) -> None:
        """Go back to a saved state: from there the same inputs give the same bits."""
        ...


class Engine(Protocol):
    """Builds simulations."""

    name: str
    abilities: Abilities

    def build(self, scene: Scene) -> Simulation:
        """Everything in a scene, at its poses and velocities."""
        ...
