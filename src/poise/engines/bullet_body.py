"""A body as Bullet holds it: its multibodies, and arrays that every step writes to.

A body becomes one multibody for its free root, or one for each GIVEN body of its base part that holds physical limbs;
such holders are fixed bases that are put where they belong before each step. GIVEN bodies behind a simulated one are
left out, shapes and all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.engines.bullet_world import HERE, BulletWorld, principal, xyzw
from poise.engines.engine import BodyState
from poise.engines.scene import BALL, FREE, GIVEN, SceneBody
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia

# Bullet divides by each link's inertia; so little is lost beside a segment's.
TRACE = RigidInertia(1e-9, np.zeros(3), np.eye(3) * 1e-12)
# Of what a segment without mass carries, at its end: its inertia. With a trace, limbs beyond a massless collar bone
# that is at the end of its range spin up until they are cut off: Bullet's solver does not converge.
LIGHT = 0.05
# Steps over which a contact's force must last to count in the forecast: with 1, contacts that come and go feed on their
# own kicks, and a leg on a badly solved contact (50 iterations at 10 ms) flies off.
STEADY = 8
# Of 1 rad/s and of the speed foreseen: what a forecast may be wrong by. Contacts that were thought to hold and do not
# have the damping of a light limb kick it; taken for free, it is calm within a few steps.
SURPRISE = 0.5


@dataclass(eq=False)
class Piece:
    """One multibody of a body.

    uid      Bullet's id
    base     the joint whose body is its base: the free root, or a GIVEN holder
    joints   (n,) the tree's joint of each link; the first of a double hinge's two links has its joint's, too
    links    (n,) index of each link in the multibody
    dof      (n,) which axis of its joint a hinge's link turns about; -1 for balls
    P        (n, 3, 3) from the principal axes of each link's inertia to its body's;  base_P (3, 3) of the base's
    balls    (b,) which of the links are balls', and ball_joints (b,) their joints
    """

    uid: int
    base: int
    joints: list[int]
    links: list[int]
    dof: list[int]
    P: np.ndarray
    base_P: np.ndarray
    balls: np.ndarray
    ball_joints: np.ndarray


class HeldBody:
    """One body as Bullet has it, and arrays that every step writes to."""

    def __init__(self, body: SceneBody):
        j = len(body.tree)
        self.body, self.tree = body, body.tree
        self.kind = np.array([joint.kind for joint in body.joints])
        self.count = np.array([3 if joint.kind == BALL else len(joint.axes) for joint in body.joints])
        self.axes = np.zeros((j, 2, 3))
        for i, joint in enumerate(body.joints):
            self.axes[i, : len(joint.axes)] = joint.axes
        self.masses = np.where(self.kind == GIVEN, 0.0, self.tree.masses)
        self.inertias = np.array([
            self.tree.inertias[i] if self.tree.masses[i] > 0.0 else inertia_of(body, i).inertia for i in range(j)
        ])  # fmt: skip
        self.pieces: list[Piece] = []
        self.state = BodyState(
            np.array(body.root, float), np.array(body.rotations, float), np.zeros(3), np.zeros((j, 3))
        )
        self.angles, self.speeds = np.zeros((j, 2)), np.zeros((j, 2))
        self.R, self.p, self.S = np.zeros((j, 3, 3)), np.zeros((j, 3)), np.zeros((j, 3, 3))
        self.dw, self.f, self.n, self.out, self.D, self.stops = (np.zeros((j, 3)) for _ in range(6))
        self.pressed = np.zeros((STEADY, j))  # N on each body from what cannot move, last step first
        self.foreseen = np.full((j, 3), np.nan)  # rad/s about each joint's turns, after the step; NaN: nothing
        self.stopped: set[int] = set()  # joints that a motor holds: see `bullet_stops`
        self.is_fresh = False

    def numbers(self) -> dict[str, np.ndarray]:
        """The arrays that say what is not in Bullet's own state, by name: they are saved and written over."""
        state = self.state
        return {
            "root": state.root, "q": state.q, "v": state.v, "w": state.w, "pressed": self.pressed,
            "foreseen": self.foreseen,
        }  # fmt: skip

    def pose(self) -> None:
        """World orientations and places of all bodies from the state."""
        from poise.dynamics import instant

        instant.pose_bodies(self.tree.parents, self.tree.offsets, self.state.root, self.state.q, self.R, self.p)

    def check_forecast(self) -> None:
        """Forget how steady the contacts were if the last forecast was wrong: the body counts as free for a while."""
        now = np.einsum("iab,ib->ia", self.S, np.einsum("iab,ib->ia", self.R, self.state.w))
        if np.any(np.abs(now - self.foreseen) > SURPRISE * (1.0 + np.abs(self.foreseen))):
            self.pressed[:] = 0.0


def add_body(world: BulletWorld, index: int, held: HeldBody) -> None:
    """Build a body in a world, at its pose and velocity, as number `index` of the scene."""
    body, tree = held.body, held.tree
    if body.carrier is not None:
        raise InputError(f"body '{body.name}' rides on '{body.carrier}', which engine 'bullet' cannot do. Use mujoco.")
    held.pose()
    top = _find_tops(held)
    for base in sorted(set(top[top >= 0].tolist())):
        members = [i for i in range(len(tree)) if top[i] == base and i != base]
        held.pieces.append(_add_piece(world, index, held, base, members))
    for i in body.pinned:
        _pin(world, index, held, i)


def _add_piece(world: BulletWorld, index: int, held: HeldBody, base: int, members: list[int]) -> Piece:
    bullet, body, tree = world.bullet, held.body, held.tree
    shapes = {i: tuple(shape for k, shape in body.shapes if k == i) for i in (base, *members)}
    inertia = inertia_of(body, base)
    links: list[dict[str, Any]] = []
    joints, numbers, dofs = [], [], []
    last = {base: 0}  # the multibody's number of each joint's body, counted from its base
    for i in members:
        joint, parent = body.joints[i], last[int(tree.parents[i])]
        turns = [-1] if joint.kind == BALL else list(range(len(joint.axes)))
        for dof in turns:
            is_last = dof == turns[-1]
            links.append(
                _link(
                    bullet, inertia_of(body, i) if is_last else TRACE, parent,
                    tree.offsets[i] if dof <= 0 else np.zeros(3),
                    np.asarray(body.rotations[i]) if dof == 0 else rotation.identity(),
                    None if dof < 0 else joint.axes[dof], world.add_shape(shapes[i] if is_last else ()),
                )
            )  # fmt: skip
            parent = len(links)
            joints.append(i)
            numbers.append(parent - 1)
            dofs.append(dof)
        last[i] = parent
    arguments = {key: [link[key] for link in links] for key in links[0]} if links else {}
    uid = bullet.createMultiBody(
        inertia.mass if held.kind[base] == FREE else 0.0, world.add_shape(shapes[base]), basePosition=held.p[base],
        baseOrientation=xyzw(rotation.from_matrix(held.R[base])),
        **({"baseInertialFramePosition": inertia.center, "baseInertialFrameOrientation": xyzw(principal(inertia)[0])}
           if held.kind[base] == FREE else {}),
        **arguments, flags=_find_flags(world, index), physicsClientId=world.client,
    )  # fmt: skip
    P = np.array([rotation.to_matrix(principal(inertia_of(body, i))[0]) for i in joints]).reshape(-1, 3, 3)
    balls = np.flatnonzero(np.array(dofs, int) < 0)
    piece = Piece(
        uid, base, joints, numbers, dofs, P, rotation.to_matrix(principal(inertia)[0]), balls,
        np.array(joints, int)[balls],
    )  # fmt: skip
    nothing, weight = (0, 0), float(tree.mass)
    mask = world.masks[index] if shapes[base] else nothing
    world.set_dynamics(piece.uid, -1, inertia if held.kind[base] == FREE else None, mask, None, weight)
    world.names[piece.uid, -1], world.owners[piece.uid, -1] = f"{body.name}/{tree.names[base]}", (index, base)
    for i, link, dof in zip(piece.joints, piece.links, piece.dof, strict=True):
        is_last = last[i] == link + 1
        mask = world.masks[index] if shapes[i] and is_last else nothing
        world.set_dynamics(piece.uid, link, inertia_of(body, i) if is_last else TRACE, mask, None, weight)
        world.names[piece.uid, link], world.owners[piece.uid, link] = f"{body.name}/{tree.names[i]}", (index, i)
        _set_joint(world, held, piece, link, i, dof)
    if held.kind[base] == FREE:
        om = rotation.rotate(held.state.q[0], body.angular_velocity[0])
        v = body.velocity + np.cross(om, rotation.rotate(held.state.q[0], inertia.center))
        bullet.resetBaseVelocity(piece.uid, v, om, physicsClientId=world.client)
    return piece


def _find_flags(world: BulletWorld, index: int) -> int:
    """Links keep their order, and touch one another where the body touches itself."""
    bullet, (own, met) = world.bullet, world.masks[index]
    return int(bullet.URDF_MAINTAIN_LINK_ORDER | (bullet.URDF_USE_SELF_COLLISION if own & met else 0))


def _set_joint(world: BulletWorld, held: HeldBody, piece: Piece, link: int, i: int, dof: int) -> None:
    """State, range and no motor of a link's joint."""
    bullet, body = world.bullet, held.body
    options = {"physicsClientId": world.client}
    if dof < 0:
        P = principal(inertia_of(body, i))[0]
        back = rotation.conjugate(P)
        turn = rotation.multiply(rotation.multiply(back, body.rotations[i]), P)
        speed = rotation.rotate(back, body.angular_velocity[i])
        bullet.resetJointStateMultiDof(piece.uid, link, xyzw(turn), speed, **options)
        bullet.setJointMotorControlMultiDof(
            piece.uid, link, bullet.POSITION_CONTROL, targetPosition=HERE, positionGain=0, velocityGain=1,
            force=[0, 0, 0], **options,
        )  # fmt: skip
        return
    speeds = np.linalg.lstsq(body.joints[i].axes.T, body.angular_velocity[i], rcond=None)[0]
    bullet.resetJointState(piece.uid, link, 0.0, float(speeds[dof]), **options)
    bullet.setJointMotorControl2(piece.uid, link, bullet.VELOCITY_CONTROL, force=0, **options)
    low, high = body.joints[i].ranges[dof]
    if np.isfinite(low) and np.isfinite(high):
        bullet.changeDynamics(piece.uid, link, jointLowerLimit=low, jointUpperLimit=high, **options)


def _pin(world: BulletWorld, index: int, held: HeldBody, joint: int) -> None:
    bullet = world.bullet
    owners = {owner: key for key, owner in world.owners.items()}
    uid, link = owners[index, joint]
    inertia = inertia_of(held.body, joint)
    turn = rotation.multiply(rotation.from_matrix(held.R[joint]), principal(inertia)[0])
    at = held.p[joint] + held.R[joint] @ inertia.center
    pin = bullet.createConstraint(
        uid, link, -1, -1, bullet.JOINT_FIXED, [0, 0, 0], [0, 0, 0], at, HERE, xyzw(turn),
        physicsClientId=world.client,
    )  # fmt: skip
    bullet.changeConstraint(pin, maxForce=1e6, erp=0.8, physicsClientId=world.client)


def _find_tops(held: HeldBody) -> np.ndarray:
    """(J,) the base of the multibody that each joint's body is in; -1 for those that Bullet does not have.

    GIVEN bodies of the base part are bases by themselves if they hold a limb or can be touched.
    """
    j, kind, parents = len(held.tree), held.kind, held.tree.parents
    top, in_base = np.full(j, -1), np.zeros(j, bool)
    touchable = {i for i, _ in held.body.shapes}
    for i in range(j):
        p = int(parents[i])
        in_base[i] = kind[i] == GIVEN and (i == 0 or in_base[p])
        if in_base[i]:
            holds = np.any(kind[parents == i] != GIVEN)
            top[i] = i if holds or i in touchable else -1
        elif kind[i] != GIVEN:
            top[i] = 0 if i == 0 else top[p]
    return top


def _link(
    bullet: Any, inertia: RigidInertia, parent: int, offset: np.ndarray, turn: np.ndarray, axis: Any, shape: int
) -> dict[str, Any]:
    """One link's share of the arguments of `createMultiBody`."""
    return {
        "linkMasses": inertia.mass,
        "linkCollisionShapeIndices": shape,
        "linkVisualShapeIndices": -1,
        "linkPositions": offset,
        "linkOrientations": xyzw(turn),
        "linkInertialFramePositions": inertia.center,
        "linkInertialFrameOrientations": xyzw(principal(inertia)[0]),
        "linkParentIndices": parent,
        "linkJointTypes": bullet.JOINT_SPHERICAL if axis is None else bullet.JOINT_REVOLUTE,
        "linkJointAxis": [1.0, 0.0, 0.0] if axis is None else axis,
    }


def inertia_of(body: SceneBody, i: int) -> RigidInertia:
    """Of a segment in Bullet; one without mass has a trace, or in a body that falls a little of what it carries."""
    tree = body.tree
    if tree.masses[i] > 0.0:
        return tree.body(i)
    children = np.flatnonzero(tree.parents == i)
    if not body.is_hard or body.joints[i].kind != BALL or not len(children):
        return TRACE
    carried = np.zeros(len(tree), bool)
    carried[i] = True
    for k in range(i + 1, len(tree)):
        carried[k] = carried[tree.parents[k]]
    size = LIGHT * tree.masses[carried].sum() * float((tree.offsets[children] ** 2).sum(axis=1).max())
    return RigidInertia(TRACE.mass, np.zeros(3), np.eye(3) * max(size, 1e-12))
