"""The protocol of physics engines: an engine builds simulations, and a simulation has a few verbs.

An engine builds a `Simulation` out of a `Scene`. Each step of the stage then is

    for every body: write
    simulation.step()
    for every body: read

What is written and read is the layout `Body` (`dynamics/body_kernels.py`), with world poses that are up to date. World
axes throughout: torques are those of the parent on the body at each joint, wrenches are about each body's joint.
Velocities are as in `dynamics.tree`: joints' in body axes, the root's in the world's.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.compiled.arena import Arena
from poise.compiled.law import Block, Law, fields
from poise.engines.scene import Scene
from poise.errors import InputError
from poise.world.contact_settings import ContactSettings
from poise.world.ground.ground import Ground

if TYPE_CHECKING:
    from poise.dynamics.body_kernels import Body
    from poise.engines.contact_log import ContactLog


class PropState(NamedTuple):
    """A prop's frame in the world: where it is (3,) m, turned (4,), how fast (3,) m/s and (3,) rad/s."""

    position: np.ndarray
    turn: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of an engine; the stage refuses the rest by name.

    couplings  `exact` needs bodies whose inertia can be moved every step
    hinges     whether it takes joints of kind HINGES
    pins       whether bodies can be fixed to the world
    carriers   whether a body can ride on a prop
    axial      whether it takes damping about each axis of a joint (`Body.axial`)
    uneven     whether the ground may be other than one level plane
    moving     whether the ground may move, and carry what stands on it
    props      whether there are things on its ground
    soft       whether what touches yields and bounces (`ContactSettings.softness`, `bounce`)
    flights    whether it reports that a body is airborne, and takes another velocity of its root; without, momentum in
               flight drifts with the step
    max_mass_ratio_time  s, with the `paper` coupling: the largest product of the step and the mass ratio of kinematic
                         parts to what carries them
    """

    couplings: tuple[str, ...]
    hinges: bool = True
    pins: bool = True
    carriers: bool = True
    axial: bool = False
    uneven: bool = True
    moving: bool = True
    props: bool = True
    soft: bool = True
    flights: bool = False
    max_mass_ratio_time: float = math.inf


def check_ground(engine: Engine, ground: Ground | None) -> None:
    """Raise InputError where an engine cannot build a ground."""
    if ground is None:
        return
    if not isinstance(ground, Ground):
        raise InputError(
            f"the ground is a Ground, Slope, Stairs, Profile, HeightMap, MovingGround or None; given {ground!r:.80}."
        )
    if ground.moves and not engine.abilities.moving:
        raise InputError(f"the engine '{engine.name}' has no ground that moves. Give it one that stands still.")
    if type(ground) is not Ground and not engine.abilities.uneven:
        kind = type(ground).__name__
        raise InputError(f"the engine '{engine.name}' has level ground alone, not '{kind}'. Give it a Ground.")


def check_touch(engine: Engine, touch: ContactSettings) -> None:
    """Raise InputError where contact settings would have no effect in an engine."""
    if touch.is_hard or engine.abilities.soft or touch.forces == "penalty":
        return
    name = "softness" if touch.softness > 0.0 else "bounce"
    raise InputError(
        f"a {name} of {getattr(touch, name):g} has no effect in the engine '{engine.name}', whose contacts are hard. "
        f"Set it to 0, use forces='penalty', or use another engine."
    )


@dataclass(eq=False)
class BodyState:
    """Where a body is and how fast, in arrays that are written in place; the same letters as in
    `dynamics/body_kernels.py`.

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
class BodyContacts:
    """Where one body is touched; n contacts.

    joints  (n,) the joint whose body is touched
    points  (n, 3) m;  forces (n, 3) N on the body; both in the world
    others  (n,) what touches it: `ground`, the name of a prop, or body/joint
    """

    joints: np.ndarray
    points: np.ndarray
    forces: np.ndarray
    others: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.joints)

    @staticmethod
    def none() -> BodyContacts:
        """Nothing touches it."""
        return BodyContacts(np.zeros(0, int), np.zeros((0, 3)), np.zeros((0, 3)), ())

    def save(self) -> dict[str, Any]:
        """As plain data."""
        return {"joints": self.joints, "points": self.points, "forces": self.forces, "others": list(self.others)}

    @staticmethod
    def load(saved: dict[str, Any]) -> BodyContacts:
        """Return the contacts that were saved."""
        joints, points, forces = np.array(saved["joints"], int), np.array(saved["points"]), np.array(saved["forces"])
        return BodyContacts(joints, points, forces, tuple(saved["others"]))


# Calls that an engine runs before each substep: rows (count, 3) of law, body and block, which the stage lists
# (`stage/step/substep_kernels.py`).  dt: s, length of the substep that comes next, which the engine sets
SUBSTEP = fields(arrays="rows", integers="count", floats="dt")


@dataclass(frozen=True, eq=False)
class SimulationLaws:
    """A simulation's verbs as compiled laws, for engines that have them.

    write              of a body and its block: `Simulation.write`, in as many laws as it takes
    step               of no body and the scene's block
    read               of a body and its block
    bodies, scene      a block for each body; one for all
    load_state, store_state  of the scene's block and a workspace's: step there from now on, and no more: `Workspaces`
    set_root_velocity  of a body and its block, if the engine has flights
    substep            of an engine that may divide a step: a block of SUBSTEP
    """

    write: list[Law]
    step: Law
    read: Law
    bodies: list[Block]
    scene: Block
    load_state: Law | None = None
    store_state: Law | None = None
    set_root_velocity: Law | None = None
    substep: Block | None = None


class Simulation(ABC):
    """A scene as an engine holds it, with its state.

    cuts          whether it has no laws and may divide a step: it then calls `substeps` before each part but the first
    substeps      functions of itself and of the length of the part that comes next (s): they call `write_forces`
    memory_bytes  about how much memory it holds: decides when discarded simulations are collected (`memory.py`)
    """

    cuts = False
    memory_bytes = 4 << 20
    substeps: Sequence[Callable[[Simulation, float], None]] = ()

    @abstractmethod
    def write(self, body: int, state: Body) -> None:
        """Write what moves a body in the next step; the engine reads the fields that it supports.

        q, w, dw, root, v, a    of GIVEN joints and a GIVEN root, in the middle of the step; a root that rides on a prop
                                stays on its seat
        torque, damping, axial  at the simulated joints; damping is integrated implicitly
        wrench                  from outside on each body
        stops                   part of the torque that keeps joints in their ranges, and `axial` its damping
        nudges, nudged          tiny rotations of BALL joints, which correct drift and leave velocities as they are
        """

    def write_forces(self, body: int, state: Body) -> None:
        """Write torque, damping, axial, stops and wrench again, within a step that is divided."""
        raise InputError(f"{type(self).__name__} divides no steps.")

    @abstractmethod
    def step(self) -> None:
        """Advance all by the scene's dt."""

    @abstractmethod
    def read(self, body: int, state: Body) -> None:
        """Read where the simulated joints of a body are; leave those of GIVEN joints alone.

        airborne         whether a root that floats was touched by nothing in the last step but what floats itself
        external_wrench  if so: what others put on it, force N in the world, torque N m about its root in its axes
        """

    @abstractmethod
    def save(self) -> dict[str, Any]:
        """Return the state between two steps, as plain data; what acts in the next step is written after it."""

    @abstractmethod
    def restore(self, saved: dict[str, Any]) -> None:
        """Go back to a saved state: from there the same inputs give the same bits as from the save."""

    def laws(self, bodies: list[Block]) -> SimulationLaws | None:
        """The verbs as compiled laws for these bodies' records; None: they are called through Python."""
        return None

    def set_root_velocity(self, body: int, state: Body) -> None:
        """Set the velocity of a FREE root: v, and the root's w."""
        raise InputError(f"{type(self).__name__} cannot set the velocity of a root.")

    def move_pin(self, body: int, joint: int, place: np.ndarray, turn: np.ndarray) -> None:  # noqa: B027
        """Move a pinned joint's body to a position (3,) m and an orientation (4,); where it cannot, it stays."""

    def handles_coupling(self, body: int) -> bool:
        """Return whether its own step has what GIVEN joints do to those that carry them: it need not be applied."""
        return False

    def push_prop(self, name: str, wrench: np.ndarray) -> None:
        """Add a wrench (6,) on a prop in the next step: [torque about its frame's origin, force], world axes."""
        raise InputError(f"{type(self).__name__} cannot push props.")

    def read_prop(self, name: str) -> PropState:
        """Return pose and velocity of a prop."""
        raise InputError(f"{type(self).__name__} has no props.")

    def find_contacts(self, body: int) -> BodyContacts:
        """Return the contacts of a body in the last step."""
        return BodyContacts.none()

    def contact_law(self, log: ContactLog) -> tuple[Law, Block] | None:
        """Return a law that notes the last step's contacts in a log, and its block; None: they are read instead."""
        return None

    def press(self, body: int, groups: np.ndarray, force: np.ndarray, pressure: np.ndarray) -> bool:
        """Write the force (G, 3) N on each group of a body's joints and its centre (G, 3) m, where one is pressed up.

        groups  (J,) int, of each joint; -1 for one in none

        These are the sums of what `find_contacts` finds; False, and nothing written: the caller has to add them up.
        """
        return False


class Workspaces(ABC):
    """Memory of an engine that many simulations of the same structure take turns at, a set for each thread.

    addresses  (T, W) of their blocks
    """

    addresses: np.ndarray

    @abstractmethod
    def set_up(self, simulations: list[Simulation]) -> list[int] | None:
        """Prepare them for these simulations alone; return the number of each one's, or None if not worthwhile."""

    @abstractmethod
    def bring_back(self, simulations: list[Simulation]) -> None:
        """Bring every simulation's own data up to date with its last step."""


class Engine(ABC):
    """Builds simulations."""

    name: str
    abilities: Capabilities

    @abstractmethod
    def build(self, scene: Scene) -> Simulation:
        """Everything in a scene, at its poses and velocities."""

    def share(self, threads: int) -> Workspaces | None:
        """Workspaces for so many threads; None: every simulation uses its own memory."""
        return None
