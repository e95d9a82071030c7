"""A body as its drivers see it: the compiled tree, its state, and where everything is in the world right now.

One for every actor, with arrays that are written in place, step after step. `update` follows the state; after it

    R (J, 3, 3), p (J, 3)   orientations of the bodies and positions of their joints in the world
    om (J, 3), v (J, 3)     angular velocities of the bodies and velocities of their joints, world axes
    c, dc (3,)              centre of mass and its velocity

and drivers add to what is asked of the engine: `torque` (J, 3) N m at the joints in world axes, `damping` (J,)
N m s/rad, `wrench` (J, 6) on the bodies about their joints. A driver that pulls joints towards rotations may say so:
`aim` (J, 4), and how `firm` (J,) N m/rad. What keeps joints in their ranges is in `torque`, and by itself in `stops`
(J, 3); its damping about each body's own axes is `axial` (J, 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from poise.body.character import Character
from poise.compiled.arena import Arena
from poise.drivers.counterpoise.taking_part import TakingPart
from poise.dynamics.kinematics import compute_composites, compute_world_pose
from poise.dynamics.tree import GRAVITY, Tree, build_tree, find_weight_per_mass
from poise.engines.contact_log import PRESSED
from poise.engines.engine import BodyContacts, BodyState, PropState
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.world.forces import Load
from poise.world.grip import Grip
from poise.world.ground.floor import Floor
from poise.world.ground.ground import Ground

if TYPE_CHECKING:
    from poise.dynamics import body_kernels

HEAVY = 0.2  # of the mass of a body; a leg is less
_BYTES = 1700  # a joint, for a body with its actor and players; about 1400 are used


class Body:
    """A character's tree and state, with room to work."""

    def __init__(self, character: Character, loads: Iterable[Load] = ()):
        self.character = character
        self.skeleton = character.skeleton
        tree = load_tree(build_tree(character), character, loads)
        j = len(tree)
        # All that changes from step to step, and what players and the actor add, next to one another in memory.
        self.arena = room = Arena(_BYTES * (j + 8))
        self.state = state = BodyState.zeros(j, room)
        # What the motion of given segments puts on what carries them, but for their weight and for how they are carried
        # along; about joints, world axes. With `paper` coupling only.
        self.reaction = np.zeros((j, 6))
        # All other arrays of the layout are made by it.
        self.block = b = _load_layout()(
            room, joints=j, root=state.root, q=state.q, v=state.v, w=state.w, reaction=self.reaction,
        )  # fmt: skip
        self.dw, self.a, self.R, self.p, self.om, self.v, self.c, self.dc = b.dw, b.a, b.R, b.p, b.om, b.vel, b.c, b.dc
        self.torque, self.damping, self.wrench, self.stops, self.axial = b.torque, b.damping, b.wrench, b.stops, b.axial
        self.aim, self.firm, self.f, self.n, self.nudges, self.nudged = b.aim, b.firm, b.f, b.n, b.nudges, b.nudged
        self.coupling, self.w_before, self.v_before = b.coupling, b.w_before, b.v_before
        # How far the hips lean on purpose: rotation vector (rad), and its rate (rad/s), world axes.
        self.lean = room.zeros(6)
        # Torques (N m, world axes) of pushes at joints whose motion is given, until a player has taken them.
        self.felt = room.zeros(j, 3)
        # What contacts press on segments in a step, for a player that yields to them: see `ContactLog.listen`. Not in
        # the arena, as steps seldom use it.
        self.pressed = np.zeros((j, PRESSED))
        # How hips and trunk take part in a gesture.
        self.taking_part = TakingPart(room)
        self.set_tree(tree)
        # At a change of hands: accelerations (rad/s2) and torques (N m) of the joints so far, in body axes, and the
        # acceleration of the root's place (m/s2).
        self.turning, self.handed, self.pulling = np.zeros((j, 3)), np.zeros((j, 3)), np.zeros(3)
        # What the stage says of the world: its step (s), gravity (m/s2), what is under bodies, and how rough that is.
        self.gravity, self.friction = np.array(GRAVITY), 0.8
        self.dt, self.floor = 0.005, Floor(Ground())
        # Contacts of the last step, if a player needs them (`Player.needs_contacts`).
        self.touches = BodyContacts.none()
        # Whether legs keep it on its feet (`Claim.needs_ground`). Those begin at rest, and so does a trunk.
        self.stands = False
        # Whether somebody gives the root's motion: nothing has to hold it up.
        self.root_is_given = False
        # Whether its trunk is as fast as its motion: not one on springs that begins at rest.
        self.trunk_moves = True
        # Rotations (4,) by joint, that those which nobody drives hold.
        self.held: dict[int, np.ndarray] = {}
        # Props in its hands.
        self.grips: list[Grip] = []
        # Pose and velocity of a prop of the stage, by its name.
        self.read_prop: Callable[[str], PropState] = _no_prop
        # Move the world pose (3,) m, (4,) at which the engine holds the body of a pinned joint.
        self.move_pin: Callable[[int, np.ndarray, np.ndarray], None] = _no_pin
        # What players reported since the actor last passed it on: kind and message.
        self.news: list[tuple[str, str]] = []

    @property
    def weight_per_mass(self) -> float:
        """m/s2: see `find_weight_per_mass`."""
        return find_weight_per_mass(self.gravity)

    def find_trunk(self) -> np.ndarray:
        """(J,) which joints carry more than `HEAVY` of its mass: the trunk's, and what carries that."""
        mass, _, _ = self.outboard()
        return np.asarray(mass > HEAVY * mass[0])

    def set_tree(self, tree: Tree) -> None:
        """Have other masses: a load was taken up or dropped."""
        self.tree = tree
        for name in ("parents", "offsets", "masses", "centers", "inertias"):
            self.block.arrays[name][...] = getattr(tree, name)

    @property
    def dt(self) -> float:
        """s, the stage's step."""
        return self.block.dt

    @dt.setter
    def dt(self, dt: float) -> None:
        self.block.dt = dt

    @property
    def time(self) -> float:
        """s, of the stage's clock, at the beginning of the next step."""
        return self.block.steps * self.dt

    @property
    def floor(self) -> Floor:
        """What is under bodies."""
        return self._floor

    @floor.setter
    def floor(self, floor: Floor) -> None:
        self._floor = floor
        self.block.floor = floor.address

    def put(self, state: BodyState) -> None:
        """Copy another state into this body's."""
        for field in ("root", "q", "v", "w"):
            getattr(self.state, field)[:] = getattr(state, field)

    @contextmanager
    def preserved(self) -> Iterator[None]:
        """Restore state and accelerations afterwards; world poses and velocities are left as they are then."""
        state, dw, a = self.state.copy(), self.dw.copy(), self.a.copy()
        yield
        self.put(state)
        self.dw[:], self.a[:] = dw, a

    def emit(self, kind: str, message: str = "") -> None:
        """Report an event; listeners and takes get it before the stage's next step or run returns."""
        self.news.append((kind, message))

    def request(self) -> None:
        """Ask the stage to call `Player.handle_request` of the actor's players after this step."""
        self.block.request = 1

    def update(self) -> None:
        """World poses and velocities from the state."""
        from poise.dynamics.body_kernels import update

        update(self.block, self.block)

    def world_turn(self, joint: int) -> np.ndarray:
        """(4,) the orientation of a body in the world."""
        return rotation.from_matrix(self.R[joint])

    def inertia(self) -> np.ndarray:
        """(3, 3) kg m2, of the whole body in its present pose about its centre of mass, world axes."""
        pose = compute_world_pose(self.tree, self.state.root, self.state.q)
        return np.asarray(compute_composites(self.tree, pose)[2][0])

    def outboard(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What each joint carries in the present pose: mass (J,) kg, distance (J,) m of its centre, inertia (J,) kg m2.

        The inertia is the largest about any axis through the joint.
        """
        pose = compute_world_pose(self.tree, self.state.root, self.state.q)
        mass, center, inertia = compute_composites(self.tree, pose)
        arm = np.linalg.norm(center - pose.joints, axis=-1)
        return mass, arm, np.linalg.eigvalsh(inertia)[..., -1] + mass * arm**2


def _no_prop(name: str) -> PropState:
    raise InputError(f"there is no prop '{name}': this body is on no stage.")


def _no_pin(joint: int, place: np.ndarray, turn: np.ndarray) -> None:
    """No engine holds a body that is on no stage."""


def _load_layout() -> type[body_kernels.Body]:
    """The layout of a body, which is defined where compiled code is: that is imported when it is used."""
    from poise.dynamics.body_kernels import Body

    return Body


def load_tree(tree: Tree, character: Character, loads: Iterable[Load | Grip]) -> Tree:
    """A tree with loads on some of its bodies, or props in their hands."""
    bodies = [[tree.body(i)] for i in range(len(tree))]
    for load in loads:
        bodies[character.skeleton.index(load.joint)].append(load.inertia)
    return Tree.of(tree.names, tree.parents, tree.offsets, [RigidInertia.total(parts) for parts in bodies])
