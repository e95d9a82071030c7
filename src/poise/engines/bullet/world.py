"""A Bullet world of its own, with its ground and props, and what pybullet means by frames.

    a link's own frame is its inertial one: centre of mass, principal axes P, and joint coordinates are in P's axes
    a ball's coordinate is the turn in those axes, P^-1 q P; its velocity and torque likewise are P^-1 of the body's
    an inertia can be set only on links that have a collision shape, so those without get a small one that meets nothing
    links are renumbered depth first unless URDF_MAINTAIN_LINK_ORDER is set
    contacts are restored of one shape a link alone, so further ones are links of their own
    friction of a pair is the product of both, so each has the root of what is wanted
    a link's friction beside its damping or greatest speed in one call of changeDynamics is passed over: it keeps 0.5

Little of this is documented: it was found by measuring and is held by the conformance suite.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from poise.body.geometry.primitives import Box, Capsule, Shape, Sphere
from poise.engines.bullet.depenetration import DepenetrationLimit
from poise.engines.scene import Scene, Thing
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.world.prop import Prop

# Bits that say who may touch whom, as in MuJoCo's adapter; Bullet wants both sides to agree. FIXED are props
# that do not move. Bodies have the others.
GROUND, PROP, FIXED, KINDS = 1, 2, 4, range(3, 31)
_BODIES = sum(1 << bit for bit in KINDS)
# Bullet's solver is a Gauss-Seidel one: a 40 kg leg on a 1 kg foot creeps 4 mm/s with 50 iterations, 0.8 with 500, 0.1
# with 1000 (at 5 ms).
ITERATIONS = 1000
# rad/s; Bullet cuts joint speeds at 100 unless told. No body is faster (a pitcher's arm turns at 130), and Bullet,
# which takes what a spinning link does to its parents from the step's beginning, explodes where hands spin at 400.
FASTEST = 200.0
# Of a shape's radius, from which on it is solved for what it comes near to, where a body falls (and of a metre, from
# which on Bullet looks at it at all). With Bullet's 0.02 one that is dropped was up to 77 mm in the floor.
AHEAD, USUAL = 0.1, 0.02
_ALONE = threading.Lock()
# m: what a corner of a sole bears on resists a turn about itself, by friction so far out; 2/3 of a disc's radius. On
# points alone a foot whose weight is on one corner turns there freely, and was 0.1 m off.
PATCH = 0.01
# At most, of limbs (not the root) of a body that falls, soles apart; with 0.9 those that lie on one another shake for
# ever, at up to 16 rad/s, and hands are 5 degrees beyond their ranges. Two that touch multiply.
SLIPPERY = 0.5
# What a link weighs that is there for its shape alone, and what a segment without mass does: lost beside the others.
TRACE = RigidInertia(1e-9, np.zeros(3), np.eye(3) * 1e-12)
# No turn, as Bullet writes quaternions.
HERE = [0.0, 0.0, 0.0, 1.0]


def _import_pybullet() -> Any:
    """pybullet, without the line about its build that it prints, past Python, when it is loaded."""
    if "pybullet" not in sys.modules:
        with contextlib.suppress(OSError):
            kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(nowhere, 2)
                import pybullet
            finally:
                os.dup2(kept, 2)
                os.close(kept)
                os.close(nowhere)
    import pybullet

    return pybullet


class BulletWorld:
    """pybullet with one of its worlds, which ends with this object; empty at first.

    names   of everything that can be touched, by (id, link)
    owners  (body, joint) of every body's links, by (id, link)
    more    the links that have the further shapes of a body's segment, or of a prop, by (id, link) of its own
    ground  Bullet's ids of the ground's pieces
    props   Bullet's id of each prop
    held    (id, link) of bodies' segments that the world holds
    out     how fast contacts push out what is in something
    share   of an error of a constraint or of a ball's motor that Bullet takes back in a step
    """

    def __init__(self, scene: Scene):
        self.bullet = _import_pybullet()
        self.client = self.bullet.connect(self.bullet.DIRECT)
        weakref.finalize(self, _disconnect, self.bullet, self.client)
        self.empty(scene)

    def empty(self, scene: Scene) -> None:
        """Empty the world, in Bullet too."""
        pybullet, options = self.bullet, {"physicsClientId": self.client}
        pybullet.resetSimulation(**options)
        pybullet.setGravity(*scene.gravity, **options)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=scene.dt, numSubSteps=0, numSolverIterations=ITERATIONS, solverResidualThreshold=1e-9,
            deterministicOverlappingPairs=1, **options,
        )  # fmt: skip
        self._h = scene.dt
        self._looks_ahead = any(body.is_hard for body in scene.bodies)
        self.out = DepenetrationLimit(pybullet, self.client, self._looks_ahead)
        self.names: dict[tuple[int, int], str] = {}
        self.owners: dict[tuple[int, int], tuple[int, int]] = {}
        self.more: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._ground_friction = float(np.sqrt(scene.ground.friction if scene.ground is not None else 0.8))
        self._friction, self.softness = self._ground_friction, scene.touch.softness
        self.bounce = scene.touch.bounce
        if scene.touch.friction is not None:
            self._friction = float(np.sqrt(scene.touch.friction))
        self._set_masks(scene)
        self.ground: list[int] = []
        self.props: dict[str, int] = {}
        self.held: list[tuple[int, int]] = []
        self.share = 0.2  # as Bullet has it by itself

    def set_step(self, h: float) -> None:
        """Set the length of the next steps, s."""
        if h != self._h:
            self._h = h
            self.bullet.setPhysicsEngineParameter(fixedTimeStep=h, physicsClientId=self.client)

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        """Whatever has Bullet look for contacts is done in this.

        How far ahead it looks is one number for all worlds of a process, and a pair keeps what it was found with.
        """
        bullet, options = self.bullet, {"physicsClientId": self.client}
        with _ALONE:
            if self._looks_ahead:
                bullet.setPhysicsEngineParameter(contactBreakingThreshold=AHEAD, **options)
            try:
                yield
            finally:
                if self._looks_ahead:
                    bullet.setPhysicsEngineParameter(contactBreakingThreshold=USUAL, **options)

    def step(self) -> None:
        """Advance by a step."""
        self.out.ease(self._h)
        with self.looking():
            self.bullet.stepSimulation(physicsClientId=self.client)

    def take_back_errors(self) -> None:
        """Let constraints correct all of an error in a step; contacts keep their own fraction."""
        self.share = 1.0
        self.bullet.setPhysicsEngineParameter(erp=self.share, physicsClientId=self.client)

    def _set_masks(self, scene: Scene) -> None:
        """Set the collision masks: what each body is, and what it touches, in bits."""
        kinds, meets = scene.find_kinds()
        bits = [1 << KINDS[kind % len(KINDS)] for kind in range(len(meets))]
        others = [sum({bit for bit, met in zip(bits, row, strict=True) if met}) for row in meets]
        always = GROUND | (PROP | FIXED if scene.touch.props else 0)
        self.masks = [(bits[kind], always | others[kind]) for kind in kinds]
        self.ground_mask = GROUND, PROP | FIXED | _BODIES
        self._prop_met = GROUND | PROP | FIXED | (_BODIES if scene.touch.props else 0)

    def keep_apart(self, a: tuple[int, int], b: tuple[int, int]) -> None:
        """Two links (id, link) that do not touch, with all their shapes."""
        for one in (a, *self.more.get(a, ())):
            for two in (b, *self.more.get(b, ())):
                self.bullet.setCollisionFilterPair(one[0], two[0], one[1], two[1], 0, physicsClientId=self.client)

    def add_prop(self, prop: Prop) -> None:
        """Put a prop into the world, with the speed that it begins with."""
        uid = self.props[prop.name] = self._add_prop(prop)
        options = {"physicsClientId": self.client}
        if prop.inertia is None:
            return
        if prop.hinge is None:
            lever = rotation.rotate(prop.turn, prop.inertia.center)
            self.bullet.resetBaseVelocity(uid, prop.velocity + np.cross(prop.spin, lever), prop.spin, **options)
        else:
            speed = float(prop.spin @ rotation.rotate(prop.turn, prop.hinge.axis))
            self.bullet.resetJointState(uid, 0, 0.0, speed, **options)

    def find_links(self) -> dict[Thing, tuple[int, int]]:
        """(id, link) of everything that can touch: bodies' segments, and props by their names."""
        further, props = self._further(), set(self.props.values())
        found: dict[Thing, tuple[int, int]] = {}
        for link, name in self.names.items():
            if link not in further and (link in self.owners or link[0] in props):
                found[self.owners.get(link, name)] = link
        return found

    def find_segments(self) -> dict[tuple[int, int], tuple[int, int]]:
        """(id, link) of bodies' segments, by (body, joint)."""
        further = self._further()
        return {owner: link for link, owner in self.owners.items() if link not in further}

    def _further(self) -> set[tuple[int, int]]:
        return {link for links in self.more.values() for link in links}

    def add_more(self, link: tuple[int, int], other: tuple[int, int]) -> None:
        """Make a link that was added (other) a further shape of another one."""
        self.names[other] = self.names[link]
        if link in self.owners:
            self.owners[other] = self.owners[link]
        self.more.setdefault(link, []).append(other)

    def _add_prop(self, prop: Prop) -> int:
        shapes = (prop.shapes if prop.touches else ()) or (None,)
        mask = (FIXED if prop.inertia is None else PROP, self._prop_met) if prop.touches else (0, 0)
        friction = None if prop.friction is None else prop.friction / max(self._friction, 1e-6)
        if prop.inertia is None:
            found = self._add_fixed(prop, shapes, mask, friction)
        else:
            found = self._add_movable(prop, prop.inertia, shapes)
            for k, (uid, link) in enumerate(found):
                inertia = find_inertia(prop, prop.inertia) if k == 0 else TRACE
                weight = find_inertia(prop, prop.inertia).mass
                self.set_dynamics(uid, link, inertia, mask, friction, weight)
            if prop.hinge is not None:
                uid, free = found[0][0], self.bullet.VELOCITY_CONTROL
                self.bullet.setJointMotorControl2(uid, 0, free, force=0, physicsClientId=self.client)
        self.names[found[0]] = prop.name
        for other in found[1:]:
            self.add_more(found[0], other)
        return found[0][0]

    def _add_fixed(
        self, prop: Prop, shapes: Sequence[Shape | None], mask: tuple[int, int], friction: float | None
    ) -> list[tuple[int, int]]:
        """Build a prop that does not move: a body for each shape. Return their (id, link)."""
        found = []
        for shape in shapes:
            uid = self.bullet.createMultiBody(
                0.0, self.add_shape(shape), basePosition=prop.position, baseOrientation=xyzw(prop.turn),
                physicsClientId=self.client,
            )  # fmt: skip
            self.set_dynamics(uid, -1, None, mask, friction)
            found.append((int(uid), -1))
        return found

    def _add_movable(self, prop: Prop, own: RigidInertia, shapes: Sequence[Shape | None]) -> list[tuple[int, int]]:
        """Build a prop that moves, freely or about its hinge, with a link for each shape. Return their (id, link)."""
        bullet, hinge = self.bullet, prop.hinge
        at = prop.position if hinge is None else prop.position + rotation.rotate(prop.turn, hinge.point)
        shift = np.zeros(3) if hinge is None else -np.asarray(hinge.point)
        inertia = find_inertia(prop, own)
        numbers = [self.add_shape(shape, shift) for shape in shapes]
        links = [make_link(bullet, TRACE, 0 if hinge is None else 1, number) for number in numbers[1:]]
        if hinge is not None:
            turning = {"linkJointTypes": bullet.JOINT_REVOLUTE, "linkJointAxis": hinge.axis}
            links.insert(0, make_link(bullet, inertia, 0, numbers[0]) | turning)
        base = RigidInertia.zero() if hinge is not None else inertia
        uid = bullet.createMultiBody(
            base.mass, -1 if hinge is not None else numbers[0], basePosition=at, baseOrientation=xyzw(prop.turn),
            baseInertialFramePosition=base.center, baseInertialFrameOrientation=xyzw(principal(base)[0]),
            **gather_links(links), physicsClientId=self.client,
        )  # fmt: skip
        first = -1 if hinge is None else 0
        return [(int(uid), first + k) for k in range(len(shapes))]

    def set_dynamics(
        self, uid: int, link: int, inertia: RigidInertia | None, mask: tuple[int, int], friction: float | None = None,
        weight: float | None = None,
    ) -> None:  # fmt: skip
        """Inertia of a link (None: it does not move), friction, nothing that slows it, what it is and may touch.

        weight  kg, of all that is behind it when it is pushed softly; None: its own
        """
        bullet, options = self.bullet, {"physicsClientId": self.client}
        rough = self._ground_friction if mask[0] == GROUND else self._friction
        bullet.changeDynamics(
            uid, link, spinningFriction=0, rollingFriction=0, restitution=0, linearDamping=0, angularDamping=0,
            jointDamping=0, maxJointVelocity=FASTEST, **options,
        )  # fmt: skip
        bullet.changeDynamics(uid, link, lateralFriction=rough if friction is None else friction, **options)
        if self.bounce > 0.0 and mask[0] != GROUND:  # Bullet multiplies both sides'
            bullet.changeDynamics(uid, link, restitution=self.bounce**0.5, **options)
        if inertia is not None:
            bullet.changeDynamics(uid, link, localInertiaDiagonal=principal(inertia)[1], **options)
            if self.softness > 0.0:
                mass = inertia.mass if weight is None else weight
                k, c = self.out.soft[uid, link] = mass / self.softness**2, 2.0 * mass / self.softness
                bullet.changeDynamics(uid, link, contactStiffness=k, contactDamping=c, **options)
        bullet.setCollisionFilterGroupMask(uid, link, *mask, **options)

    def find_friction(self, falls: bool, shape: Shape | None) -> float:
        """Of a body's segment. falls: whether nothing holds the body up."""
        return min(self._friction, SLIPPERY) if falls and not isinstance(shape, Box) else self._friction

    def bear(self, uid: int, link: int) -> None:
        """Let soles of a body that stands bear on more than points. Bullet multiplies by the other side's friction."""
        spin = PATCH * self._friction
        self.bullet.changeDynamics(uid, link, spinningFriction=spin, physicsClientId=self.client)

    def add_shape(self, shape: Shape | None, shift: np.ndarray | None = None) -> int:
        """Bullet's id of a shape; a speck for none."""
        bullet = self.bullet
        if shape is None:
            return int(bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=1e-3, physicsClientId=self.client))
        half, length, radius, turn = np.ones(3), 1.0, 1.0, rotation.identity()
        if isinstance(shape, Sphere):
            kind, radius, center = bullet.GEOM_SPHERE, shape.radius, shape.center
        elif isinstance(shape, Capsule):
            kind, radius, length = bullet.GEOM_CAPSULE, shape.radius, shape.length
            center = 0.5 * (shape.start + shape.end)
            if length > 0.0:
                turn = rotation.between(np.array([0.0, 0.0, 1.0]), (shape.end - shape.start) / length)
        else:
            kind, half, center, turn = bullet.GEOM_BOX, shape.half, shape.center, shape.turn
        return int(
            bullet.createCollisionShapeArray(
                shapeTypes=[kind], radii=[radius], lengths=[length], halfExtents=[half],
                collisionFramePositions=[center if shift is None else center + shift],
                collisionFrameOrientations=[xyzw(turn)], physicsClientId=self.client,
            )
        )  # fmt: skip


def find_inertia(prop: Prop, inertia: RigidInertia) -> RigidInertia:
    """Return the inertia of a prop in the frame that it has in Bullet: a hinge is the origin of that."""
    return inertia if prop.hinge is None else inertia.moved(np.eye(3), -np.asarray(prop.hinge.point))


def make_link(bullet: Any, inertia: RigidInertia, parent: int, shape: int) -> dict[str, Any]:
    """A link's share of the arguments of `createMultiBody`; it is where its parent is, and does not turn."""
    return {
        "linkMasses": inertia.mass,
        "linkCollisionShapeIndices": shape,
        "linkVisualShapeIndices": -1,
        "linkPositions": np.zeros(3),
        "linkOrientations": HERE,
        "linkInertialFramePositions": inertia.center,
        "linkInertialFrameOrientations": xyzw(principal(inertia)[0]),
        "linkParentIndices": parent,
        "linkJointTypes": bullet.JOINT_FIXED,
        "linkJointAxis": [1.0, 0.0, 0.0],
    }


def gather_links(links: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The arguments of `createMultiBody` for links."""
    return {key: [link[key] for link in links] for key in links[0]} if links else {}


def principal(inertia: RigidInertia) -> tuple[np.ndarray, np.ndarray]:
    """P (4,) wxyz, the turn from principal axes to the body's, and the three moments."""
    moments, axes = np.linalg.eigh(inertia.inertia)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return rotation.from_matrix(axes), moments


def xyzw(q: np.ndarray) -> list[float]:
    """A quaternion as Bullet writes it."""
    return [float(q[1]), float(q[2]), float(q[3]), float(q[0])]


def wxyz(q: Any) -> np.ndarray:
    """Bullet's quaternion as everywhere else here."""
    return np.array([q[3], q[0], q[1], q[2]])


def _disconnect(bullet: Any, client: int) -> None:
    if bullet.isConnected(physicsClientId=client):
        bullet.disconnect(physicsClientId=client)
