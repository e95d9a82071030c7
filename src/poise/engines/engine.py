"""The protocol of physics engines: an engine builds simulations, and a simulation has a few verbs.

An engine builds a `Simulation` out of a `Scene`. Each step of the stage then is

    for every body: place what is given, apply torques, damping and wrenches, say how fast it is
    simulation.step()
    for every body: read

World axes throughout: torques are those of the parent on the body at each joint, wrenches are about each body's joint.
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
from poise.world.ground.ground import Ground

if TYPE_CHECKING:
    from poise.engines.contact_log import ContactLog


class PropState(NamedTuple):
    """A prop's frame in the world: where it is (3,) m, turned (4,), how fast (3,) m/s and (3,) rad/s."""

    position: np.ndarray
    turn: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do; the stage refuses the rest by name.

    couplings  `exact` needs bodies whose inertia can be moved every step
    hinges     whether it takes joints of kind HINGES
    pins       whether bodies can be fixed to the world
    carriers   whether a body can ride on a prop
    axial      whether `apply` takes damping about each axis of a joint apart, as its last argument
    stops      whether `stop` tells it which torques keep joints in their ranges
    nudges     whether joints can be turned a little between steps; without, such corrections are left out
    uneven     whether the ground may be other than one level plane
    moving     whether the ground may move, and carry what stands on it
    props      whether there are things on its ground
    flights    whether it can say that nothing touches a body, and takes another velocity of its root; without,
               momentum in flight drifts with the step
    speeds     whether contacts know how fast what GIVEN joints move is, with the `exact` coupling; without, a drumming
               hand lies on the drum
    burden     s, with the `paper` coupling: the step times how often kinematic parts may outweigh what carries them
    """

    couplings: tuple[str, ...]
    hinges: bool = True
    pins: bool = True
    carriers: bool = True
    nudges: bool = False
    axial: bool = False
    stops: bool = False
    uneven: bool = True
    moving: bool = True
    props: bool = True
    flights: bool = False
    speeds: bool = False
    burden: float = math.inf


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
        """What was saved."""
        joints, points, forces = np.array(saved["joints"], int), np.array(saved["points"]), np.array(saved["forces"])
        return BodyContacts(joints, points, forces, tuple(saved["others"]))


# Calls that an engine runs before each substep: rows (count, 3) of law, body and block, which the stage lists
# (`stage/step/substep_kernels.py`).  dt: s, length of the substep that comes next, which the engine sets
SUBSTEP = fields(arrays="rows", integers="count", floats="dt")


@dataclass(frozen=True, eq=False)
class SimulationLaws:
    """A simulation's verbs as compiled laws, for engines that have them: what they read and write is in blocks.

    take          of a body and its block: `place`, `apply` and `nudge`
    step          of nobody and the scene's block
    read          of a body and its block; writes `aloft` to the body, too, where the engine has flights
    steer         of a body and its block, where the engine has flights
    load_state, store_state  of the scene's block and a workspace's: step there from now on, and no more: `Workspaces`
    move          of a body and its block: `speed`; None: no GIVEN joint moves anything that touches
    substep       of an engine that may divide a step: a block of SUBSTEP
    bodies        a block each;  scene: one for all
    """

    take: Law
    step: Law
    read: Law
    bodies: list[Block]
    scene: Block
    load_state: Law | None = None
    store_state: Law | None = None
    steer: Law | None = None
    move: Law | None = None
    substep: Block | None = None


class Simulation(ABC):
    """A scene as an engine holds it, with its state.

    cuts          whether it has no laws and may divide a step: it then calls `ask_again` before each part but the first
    ask_again     functions of itself and of the length of the part that comes next (s): they `apply` what is asked then
    memory_bytes  about how much memory it holds: decides when discarded simulations are collected (`memory.py`)
    """

    cuts = False
    memory_bytes = 4 << 20
    ask_again: Sequence[Callable[[Simulation, float], None]] = ()

    @abstractmethod
    def place(self, body: int, state: BodyState) -> None:
        """Put the bodies of GIVEN joints where q says, and a GIVEN root where it is, for the next step.

        A root that rides on a prop stays on its seat.
        """

    @abstractmethod
    def apply(
        self, body: int, torque: np.ndarray, damping: np.ndarray, wrench: np.ndarray, axial: np.ndarray | None = None
    ) -> None:
        """What acts on a body in the next step.

        torque   (J, 3) N m on each body at its joint from its parent, which feels the opposite; the root's row is not
                 read
        damping  (J,) N m s/rad at each joint, which the engine integrates implicitly
        wrench   (J, 6) [torque N m about its joint, force N] on each body from outside
        axial    (J, 3) N m s/rad about each body's own axes, besides; given to engines whose `Capabilities` take it
        """

    def stop(self, body: int, torque: np.ndarray) -> None:  # noqa: B027
        """Which of the torques (J, 3) that `apply` is then given keep joints in their ranges; axial is their damping.

        For engines that hold such joints in ways of their own, which their `Capabilities` say.
        """

    @abstractmethod
    def step(self) -> None:
        """Advance all by the scene's dt."""

    @abstractmethod
    def read(self, body: int, state: BodyState) -> None:
        """Write where the simulated joints of a body are into a state; those of GIVEN joints are left alone."""

    @abstractmethod
    def save(self) -> dict[str, Any]:
        """The state between two steps, as plain data. What acts in the next step is told after it."""

    @abstractmethod
    def restore(self, saved: dict[str, Any]) -> None:
        """Go back to a saved state: from there the same inputs give the same bits as from the save."""

    def laws(self, bodies: list[Block]) -> SimulationLaws | None:
        """The verbs as compiled laws for these bodies' records; None: they are called through Python."""
        return None

    def nudge(self, body: int, joint: int, turn: np.ndarray) -> None:
        """Turn a BALL joint by a tiny rotation (3,) rad in world axes, leaving its velocity: corrects drift."""
        raise InputError(f"{type(self).__name__} cannot nudge joints.")

    def is_aloft(self, body: int) -> bool:
        """Whether a body's root floated and nothing touched it in the last step, or only what floats itself."""
        return False

    def find_outside(self, body: int) -> np.ndarray:
        """(6,) what others put on a body that is aloft: force N in the world, torque N m about its root in its axes."""
        return np.zeros(6)

    def steer(self, body: int, state: BodyState) -> None:
        """Have a FREE root move as a state says: its v, and the root's w."""
        raise InputError(f"{type(self).__name__} cannot steer roots.")

    def move_pin(self, body: int, joint: int, place: np.ndarray, turn: np.ndarray) -> None:  # noqa: B027
        """Have a pinned joint's body go to a place (3,) m and an orientation (4,); where it cannot, it stays."""

    def speed(self, body: int, state: BodyState, dw: np.ndarray, a: np.ndarray) -> None:  # noqa: B027
        """How fast GIVEN joints and a GIVEN root move, for contacts of what they carry; after `place` and `apply`.

        state  v and w at mid-step;  dw (J, 3) rad/s2 in body axes;  a (3,) m/s2 of the root
        """

    def couples(self, body: int) -> bool:
        """Whether its own step has what GIVEN joints do to those that carry them: nobody has to apply it."""
        return False

    def push_prop(self, name: str, wrench: np.ndarray) -> None:
        """What acts on a prop in the next step: (6,) [torque about its frame's origin, force], world axes."""
        raise InputError(f"{type(self).__name__} cannot push props.")

    def read_prop(self, name: str) -> PropState:
        """Where a prop is and how fast."""
        raise InputError(f"{type(self).__name__} has no props.")

    def find_contacts(self, body: int) -> BodyContacts:
        """Where a body was touched in the last step."""
        return BodyContacts.none()

    def feel(self, hits: ContactLog) -> tuple[Law, Block] | None:
        """A law of nobody and a block that notes the contacts of the last step in a log; None: it is asked for them."""
        return None

    def press(self, body: int, groups: np.ndarray, force: np.ndarray, pressure: np.ndarray) -> bool:
        """Write the force (G, 3) N on each group of a body's joints and its centre (G, 3) m, where one is pressed up.

        groups  (J,) int, of each joint; -1 for one in none

        The sums of what `find_contacts` finds; False, and nothing written: whoever asks has to add them up.
        """
        return False


class Workspaces(ABC):
    """Memory of an engine's that many simulations of the same structure take turns at, a set for each thread.

    addresses  (T, W) of their blocks
    """

    addresses: np.ndarray

    @abstractmethod
    def set_up(self, simulations: list[Simulation]) -> list[int] | None:
        """Have them for these and for nobody else; the number of each one's, or None: it is not worth the while."""

    @abstractmethod
    def bring_back(self, simulations: list[Simulation]) -> None:
        """Have everybody's own data of the engine be as the last step left it."""


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
