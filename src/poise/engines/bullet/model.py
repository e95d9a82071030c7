"""A body as Bullet holds it: its multibodies, what their links weigh, and arrays that every step writes to.

A body becomes one multibody for its free root, or one for each GIVEN body of its base part that holds physical limbs;
such holders are fixed bases that are put where they belong before each step. GIVEN bodies behind a simulated one are
inertia of it (`engines/bullet/prescribed_segments.py`). Where GIVEN bodies can touch something, or simulated ones hang
from them, each is one of its own, held where it belongs (`engines/bullet/prescribed_segments.py`). With the `paper`
coupling, which has no inertia of them, those behind a simulated body are left out, shapes and all.

Bullet divides by every link's inertia.

A segment without mass has a trace of it, and about a ball joint a little of what it carries. Where GIVEN segments are
bodies of their own (`engines/bullet/prescribed_segments.py`), a constraint holds them to what carries them. With a
trace on one of its sides no solver holds the two together: an arm that hung loose from an animated collar bone turned
at 200 rad/s from its first step on, and so did a loose collar bone under an animated arm. So the nearest segment inward
that has mass lends such a one a ball, about the joint that it turns about; where that is too slight, a segment that
hangs from it does, about its own joint:

    m = LENT times what hangs from it,    I = m (l / 3)^2 1        l: m, to the next joint             [lent, eq 1]

and has as much less, where the ball is as the simulation is built. However the collar bone is turned then, the ball
stays where it is: the whole weighs what it weighs, and only the ball's own spin is added.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.geometry.primitives import Box, Shape
from poise.engines.bullet.prescribed_segments import (
    CORNERS,
    WORLD,
    LockedInertia,
    PrescribedSegments,
    find_carrier,
    find_carriers,
    is_moved,
    list_turns,
)
from poise.engines.bullet.world import FIXED, GROUND, HERE, TRACE, BulletWorld, gather_links, make_link, principal, xyzw
from poise.engines.engine import BodyState
from poise.engines.scene import BALL, FREE, GIVEN, SceneBody
from poise.errors import InputError, check_most
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia

if TYPE_CHECKING:
    from poise.engines.bullet.damping_kernels import Damping
MOST = 128  # numbers that Bullet tells of one multibody: 7 of its base, 4 of a ball, 1 of a hinge
NOTHING = 0, 0  # the mask of a link that touches nothing
# Steps over which a contact's force must last to count in the forecast: with 1, contacts that come and go feed on their
# own kicks, and a leg on a badly solved contact (50 iterations at 10 ms) flies off.
STEADY = 8
# Of 1 rad/s and of the speed foreseen: what a forecast may be wrong by. Contacts that were thought to hold and do not
# have the damping of a light limb kick it; taken for free, it is calm within a few steps.
SURPRISE = 0.5


@dataclass(eq=False)
class Multibody:
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


class BulletBody:
    """One body as Bullet has it, and arrays that every step writes to."""

    def __init__(self, body: SceneBody):
        j = len(body.tree)
        self.body, self.tree = body, body.tree
        self.kind = np.array([joint.kind for joint in body.joints])
        self.count = np.array([3 if joint.kind == BALL else len(joint.axes) for joint in body.joints])
        self.axes = np.zeros((j, 2, 3))
        for i, joint in enumerate(body.joints):
            self.axes[i, : len(joint.axes)] = joint.axes
        self.masses = self.tree.masses if body.is_locked else np.where(self.kind == GIVEN, 0.0, self.tree.masses)
        self.inertias = np.array([
            self.tree.inertias[i] if self.tree.masses[i] > 0.0 else inertia_of(body, i).inertia for i in range(j)
        ])  # fmt: skip
        self.locked, self.moved = LockedInertia(body), None  # type: LockedInertia, PrescribedSegments | None
        self.is_moved = is_moved(body)
        self.given: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # w, dw and the root's acceleration
        self.pieces: list[Multibody] = []
        self.state = BodyState(
            np.array(body.root, float), np.array(body.rotations, float), np.zeros(3), np.zeros((j, 3))
        )
        self.R, self.p = np.zeros((j, 3, 3)), np.zeros((j, 3))
        self.f, self.n, self.stops = (np.zeros((j, 3)) for _ in range(3))
        self.damping = self._build_damping()
        self.pressed = np.zeros((STEADY, j))  # N on each body from what cannot move, last step first
        self.foreseen = np.full((j, 3), np.nan)  # rad/s about each joint's turns, after the step; NaN: nothing
        self.stopped: set[int] = set()  # joints that a motor holds: see `engines/bullet/joint_stops.py`
        self.pins: dict[int, int] = {}  # Bullet's constraint of each joint that is fixed to the world
        self.own: list[RigidInertia] = []  # what each segment weighs in Bullet, once it is built
        self.before = np.zeros(3), np.eye(3)  # where the root was and its axes, as the last step began
        self.is_fresh = False

    def numbers(self) -> dict[str, np.ndarray]:
        """The arrays that say what is not in Bullet's own state, by name: they are saved and written over."""
        state = self.state
        return {
            "root": state.root, "q": state.q, "v": state.v, "w": state.w, "pressed": self.pressed,
            "foreseen": self.foreseen, **({"aim": self.moved.aim} if self.moved is not None else {}),
        }  # fmt: skip

    def pose(self) -> None:
        """World orientations and places of all bodies from the state."""
        from poise.dynamics import body_kernels

        body_kernels.pose_bodies(self.tree.parents, self.tree.offsets, self.state.root, self.state.q, self.R, self.p)

    def _build_damping(self) -> Damping:
        """Data of the kernels that foresee damping."""
        from poise.engines.bullet.damping_kernels import Damping

        tree = self.tree
        return Damping(
            joints=len(tree), kind=self.kind, count=self.count, axes=self.axes, parents=tree.parents,
            masses=np.array(self.masses), centers=np.array(tree.centers), inertias=self.inertias, R=self.R, p=self.p,
            v0=self.state.v,
        )  # fmt: skip

    def write_given(self, gravity: np.ndarray) -> None:
        """Write w and dw of all joints, and gravity less a GIVEN root's acceleration, as Bullet's step has them."""
        x = self.damping
        x.w[:], x.gravity[:] = self.state.w, gravity
        if self.given is not None:
            is_given, (w, dw, a) = self.kind == GIVEN, self.given
            x.w[is_given], x.dw[is_given] = w[is_given], dw[is_given]
            if is_given[0]:
                x.gravity[:] = gravity - a

    def check_forecast(self) -> None:
        """Forget how steady the contacts were if the last forecast was wrong: the body counts as free for a while.

        One that counted on no contact does not count: the ground makes it wrong, and would never be counted on again.
        """
        now = np.einsum("iab,ib->ia", self.damping.S, np.einsum("iab,ib->ia", self.R, self.state.w))
        if np.any(np.abs(now - self.foreseen) > SURPRISE * (1.0 + np.abs(self.foreseen))):
            self.pressed[:] = 0.0


def add_body(world: BulletWorld, index: int, held: BulletBody) -> None:
    """Build a body in a world, at its pose and velocity, as number `index` of the scene."""
    body, tree = held.body, held.tree
    if body.carrier is not None:
        raise InputError(f"body '{body.name}' rides on '{body.carrier}', which engine 'bullet' cannot do. Use mujoco.")
    held.pose()
    held.own = list_inertias(held)
    top = _find_tops(held)
    for base in sorted(set(top[top >= 0].tolist())):
        members = [i for i in range(len(tree)) if top[i] == base and i != base]
        held.pieces.append(_add_piece(world, index, held, base, members))
    if held.is_moved:
        held.moved = PrescribedSegments(world, index, held, [p.base for p in held.pieces if held.kind[p.base] == GIVEN])
        world.take_back_errors()
        _keep_apart(world, index, held)
    for i in body.pinned:
        _pin(world, index, held, i)


@dataclass(eq=False)
class _Plan:
    """The links of a multibody before Bullet has it. Numbers of links count from 0; `last` counts the base as 0.

    shapes  of each of its joints' bodies: the first is the link's own, the others have links of their own
    joints, numbers, dofs  of links that turn: see `Multibody`
    stiff   (joint, link) of joints that do not turn
    locked  (first link, reach) of the locked inertia on a joint's body
    further (joint, shape) of links for further shapes, which begin at link `first_further`
    last    joint -> number of the link that is its body
    """

    base: int
    members: list[int]
    shapes: dict[int, list[Shape]]
    links: list[dict[str, Any]] = field(default_factory=list)
    joints: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    dofs: list[int] = field(default_factory=list)
    stiff: list[tuple[int, int]] = field(default_factory=list)
    locked: dict[int, tuple[int, float]] = field(default_factory=dict)
    further: list[tuple[int, Shape]] = field(default_factory=list)
    first_further: int = 0
    last: dict[int, int] = field(default_factory=dict)

    def first(self, joint: int) -> Shape | None:
        """The first shape of a joint's body."""
        return self.shapes[joint][0] if self.shapes[joint] else None


def _add_piece(world: BulletWorld, index: int, held: BulletBody, base: int, members: list[int]) -> Multibody:
    """Build the multibody of a free root or a GIVEN holder, with all that hangs from it."""
    plan = _plan_links(world, held, base, members)
    inertia = held.own[base]
    if held.is_moved and held.kind[base] == GIVEN and find_carrier(held.body, base) == WORLD:
        inertia = _heavy(held, base)
    piece = _create_multibody(world, index, held, plan, inertia)
    _set_base(world, index, held, piece, plan, inertia)
    _set_links(world, index, held, piece, plan)
    _set_further(world, index, held, piece, plan)
    if held.kind[base] == FREE:  # others are put where they belong before the first step
        om = rotation.rotate(held.state.q[0], held.body.angular_velocity[0])
        v = held.body.velocity + np.cross(om, rotation.rotate(held.state.q[0], inertia.center))
        world.bullet.resetBaseVelocity(piece.uid, v, om, physicsClientId=world.client)
    return piece


def _plan_links(world: BulletWorld, held: BulletBody, base: int, members: list[int]) -> _Plan:
    bullet, body = world.bullet, held.body
    plan = _Plan(base, members, {i: [shape for k, shape in body.shapes if k == i] for i in (base, *members)})
    links, last = plan.links, plan.last
    last[base] = 0
    for i in members:
        last[i] = _plan_joint(world, held, plan, i, last[int(held.tree.parents[i])])
    size = 7 + sum(4 if dof < 0 else 1 for dof in plan.dofs)
    check_most(
        f"body '{body.name}' in engine 'bullet' has {size} coordinates", size, MOST,
        "Hold some of its joints by a motion, or use mujoco.",
    )  # fmt: skip
    carriers = {} if held.is_moved else {i: reach for i, reach in find_carriers(body).items() if i in last}
    for i, reach in carriers.items():
        plan.locked[i] = len(links), reach
        for corner, turn in zip(CORNERS, list_turns(), strict=True):
            links.append(_lock(bullet, last[i], reach * corner, turn, world.add_shape(None)))
    plan.further += [(i, shape) for i, each in plan.shapes.items() for shape in each[1:]]
    plan.first_further = len(links)
    links += [make_link(bullet, TRACE, last[i], world.add_shape(shape)) for i, shape in plan.further]
    return plan


def _plan_joint(world: BulletWorld, held: BulletBody, plan: _Plan, i: int, parent: int) -> int:
    """Add the links of a joint, which hang from link number `parent`; return the number of the last, from 1 on."""
    bullet, joint, links = world.bullet, held.body.joints[i], plan.links
    turns = [-1] if joint.kind == BALL else list(range(len(joint.axes)))
    if not turns:  # stiff, as it was built
        links.append(_stiff(bullet, held, i, parent, world.add_shape(plan.first(i))))
        parent = len(links)
        plan.stiff.append((i, parent - 1))
    for dof in turns:
        is_last = dof == turns[-1]
        links.append(
            _link(
                bullet, held.own[i] if is_last else TRACE, parent,
                held.tree.offsets[i] if dof <= 0 else np.zeros(3),
                np.asarray(held.body.rotations[i]) if dof == 0 else rotation.identity(),
                None if dof < 0 else joint.axes[dof], world.add_shape(plan.first(i) if is_last else None),
            )
        )  # fmt: skip
        parent = len(links)
        plan.joints.append(i)
        plan.numbers.append(parent - 1)
        plan.dofs.append(dof)
    return parent


def _create_multibody(
    world: BulletWorld, index: int, held: BulletBody, plan: _Plan, inertia: RigidInertia
) -> Multibody:
    base, is_free = plan.base, held.kind[plan.base] == FREE or held.is_moved
    frame = {"baseInertialFramePosition": inertia.center, "baseInertialFrameOrientation": xyzw(principal(inertia)[0])}
    uid = world.bullet.createMultiBody(
        inertia.mass if is_free else 0.0, world.add_shape(plan.first(base)), basePosition=held.p[base],
        baseOrientation=xyzw(rotation.from_matrix(held.R[base])), **(frame if is_free else {}),
        **gather_links(plan.links), flags=_find_flags(world, index), physicsClientId=world.client,
    )  # fmt: skip
    P = np.array([rotation.to_matrix(principal(held.own[i])[0]) for i in plan.joints]).reshape(-1, 3, 3)
    balls = np.flatnonzero(np.array(plan.dofs, int) < 0)
    return Multibody(
        uid, base, plan.joints, plan.numbers, plan.dofs, P, rotation.to_matrix(principal(inertia)[0]), balls,
        np.array(plan.joints, int)[balls],
    )  # fmt: skip


def _find_base_mask(world: BulletWorld, index: int, held: BulletBody, plan: _Plan) -> tuple[int, int]:
    """Return what the base is and touches. One that the world holds touches only what moves: nothing moves it."""
    mask = world.masks[index] if plan.shapes[plan.base] else NOTHING
    if held.is_moved and find_carrier(held.body, plan.base) == WORLD:
        mask = mask[0], mask[1] & ~(GROUND | FIXED)
    return mask


def _set_base(
    world: BulletWorld, index: int, held: BulletBody, piece: Multibody, plan: _Plan, inertia: RigidInertia
) -> None:
    body, base, is_free = held.body, plan.base, held.kind[plan.base] == FREE or held.is_moved
    mask = _find_base_mask(world, index, held, plan)
    world.set_dynamics(piece.uid, -1, inertia if is_free else None, mask, None, float(held.tree.mass))
    world.names[piece.uid, -1], world.owners[piece.uid, -1] = f"{body.name}/{held.tree.names[base]}", (index, base)


def _set_links(world: BulletWorld, index: int, held: BulletBody, piece: Multibody, plan: _Plan) -> None:
    """Set inertia, friction, collision masks and states of the links that are bodies of joints."""
    body, uid, weight = held.body, piece.uid, float(held.tree.mass)
    falls = _is_falling(held)

    def set_link(i: int, link: int, is_body: bool) -> None:
        mask = world.masks[index] if plan.shapes[i] and is_body else NOTHING
        rough = world.find_friction(falls, plan.first(i))
        world.set_dynamics(uid, link, held.own[i] if is_body else TRACE, mask, rough, weight)
        world.names[uid, link], world.owners[uid, link] = f"{body.name}/{held.tree.names[i]}", (index, i)

    for i, link, dof in zip(piece.joints, piece.links, piece.dof, strict=True):
        set_link(i, link, plan.last[i] == link + 1)
        _set_joint(world, held, piece, link, i, dof)
    for i, link in plan.stiff:
        set_link(i, link, True)
    for i in (plan.base, *plan.members):
        if isinstance(plan.first(i), Box) and not body.is_hard:
            world.bear(uid, plan.last[i] - 1)


def _set_further(world: BulletWorld, index: int, held: BulletBody, piece: Multibody, plan: _Plan) -> None:
    """Set the links of locked inertia and of further shapes."""
    uid, falls, base_mask = piece.uid, _is_falling(held), _find_base_mask(world, index, held, plan)
    for i, (link, reach) in plan.locked.items():
        held.locked.links[i] = uid, link, reach
        for k in range(len(CORNERS)):
            world.set_dynamics(uid, link + k, TRACE, NOTHING)
    for link, (i, shape) in enumerate(plan.further, plan.first_further):
        rough = world.find_friction(falls, shape)
        mask = base_mask if i == plan.base else world.masks[index]
        world.set_dynamics(uid, link, TRACE, mask, rough, float(held.tree.mass))
        world.add_more((uid, plan.last[i] - 1), (uid, link))
    _keep_more_apart(world, held, uid, plan.last)


def _is_falling(held: BulletBody) -> bool:
    """Return whether nothing holds a body up."""
    return held.body.is_hard and held.kind[0] == FREE and not held.body.pinned


def _heavy(held: BulletBody, i: int) -> RigidInertia:
    """Of a segment that the world holds, whatever touches it: the whole body's mass, which is easily held."""
    mass = max(held.tree.mass, 1.0)
    return RigidInertia(mass, held.tree.centers[i], mass * 0.04 * np.eye(3))


def _keep_apart(world: BulletWorld, index: int, held: BulletBody) -> None:
    """Segments that move with one carrier do not touch one another, nor what that hangs from, nor what hangs from it.

    Bullet sees to it within a multibody. What the world holds does not touch another body's of the same kind.
    """
    body = held.body
    links = {joint: link for (owner, joint), link in world.find_segments().items() if owner == index}
    group = {i: find_carrier(body, i) for i in links}
    outer = {i: find_carrier(body, int(body.tree.parents[i])) for i in links if i > 0 and held.kind[i] != GIVEN}
    touching = sorted({i for i, _ in body.shapes} & set(links))
    for a in touching:
        for b in touching:
            near = group[a] == group[b] or outer.get(group[a]) == group[b] or outer.get(group[b]) == group[a]
            if a < b and near and links[a][0] != links[b][0]:
                world.keep_apart(links[a], links[b])
    own = [links[i] for i in touching if group[i] == WORLD]
    for mine in own:
        for other in world.held:
            world.keep_apart(mine, other)
    world.held += own


def _keep_more_apart(world: BulletWorld, held: BulletBody, uid: int, last: dict[int, int]) -> None:
    """Further shapes of a segment do not touch one another, nor what the segment hangs from, nor what hangs from it.

    Bullet sees to that for a segment's own link alone.
    """
    for i, number in last.items():
        others = world.more.get((uid, number - 1), [])
        near = [int(held.tree.parents[i]), *np.flatnonzero(held.tree.parents == i).tolist()]
        for other in others:
            for k in near:
                if k in last:
                    world.keep_apart((uid, last[k] - 1), other)
            for twin in ((uid, number - 1), *others):
                if twin < other:
                    world.keep_apart(twin, other)


def _find_flags(world: BulletWorld, index: int) -> int:
    """Links keep their order, and touch one another where the body touches itself."""
    bullet, (own, met) = world.bullet, world.masks[index]
    return int(bullet.URDF_MAINTAIN_LINK_ORDER | (bullet.URDF_USE_SELF_COLLISION if own & met else 0))


def _set_joint(world: BulletWorld, held: BulletBody, piece: Multibody, link: int, i: int, dof: int) -> None:
    """State, range and no motor of a link's joint."""
    bullet, body = world.bullet, held.body
    options = {"physicsClientId": world.client}
    if dof < 0:
        P = principal(held.own[i])[0]
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


def _pin(world: BulletWorld, index: int, held: BulletBody, joint: int) -> None:
    bullet = world.bullet
    uid, link = world.find_segments()[index, joint]
    at, turn = find_pin(held, joint, held.p[joint], held.R[joint])
    held.pins[joint] = bullet.createConstraint(
        uid, link, -1, -1, bullet.JOINT_FIXED, [0, 0, 0], [0, 0, 0], at, HERE, xyzw(turn),
        physicsClientId=world.client,
    )  # fmt: skip
    bullet.changeConstraint(held.pins[joint], maxForce=1e6, erp=0.8, physicsClientId=world.client)


def find_pin(held: BulletBody, joint: int, place: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the position (3,) and orientation (4,) of Bullet's frame of a joint's body at `place`, turned R."""
    inertia = held.own[joint]
    return place + R @ inertia.center, rotation.multiply(rotation.from_matrix(R), principal(inertia)[0])


def _find_tops(held: BulletBody) -> np.ndarray:
    """(J,) the base of the multibody that each joint's body is in; -1 for those that Bullet does not have.

    GIVEN bodies of the base part are bases by themselves if they hold a limb or can be touched; where GIVEN segments
    are moved, so are those on simulated bodies, and if they have a mass.
    """
    j, kind, parents = len(held.tree), held.kind, held.tree.parents
    top, in_base = np.full(j, -1), np.zeros(j, bool)
    touchable = {i for i, _ in held.body.shapes}
    for i in range(j):
        p = int(parents[i])
        in_base[i] = kind[i] == GIVEN and (i == 0 or in_base[p])
        if kind[i] == GIVEN and held.is_moved:
            holds, carried = np.any(kind[parents == i] != GIVEN), not in_base[i] and held.tree.masses[i] > 0.0
            top[i] = i if holds or carried or i in touchable else -1
        elif in_base[i]:
            holds = np.any(kind[parents == i] != GIVEN)
            top[i] = i if holds or i in touchable else -1
        elif kind[i] != GIVEN:
            top[i] = 0 if i == 0 else top[p]
    return top


def _link(
    bullet: Any, inertia: RigidInertia, parent: int, offset: np.ndarray, turn: np.ndarray, axis: Any, shape: int
) -> dict[str, Any]:
    """A link whose joint turns, about an axis or about any (None)."""
    return make_link(bullet, inertia, parent, shape) | {
        "linkPositions": offset,
        "linkOrientations": xyzw(turn),
        "linkJointTypes": bullet.JOINT_SPHERICAL if axis is None else bullet.JOINT_REVOLUTE,
        "linkJointAxis": [1.0, 0.0, 0.0] if axis is None else axis,
    }


def _stiff(bullet: Any, held: BulletBody, i: int, parent: int, shape: int) -> dict[str, Any]:
    """A link whose joint does not turn."""
    turn = np.asarray(held.body.rotations[i])
    return make_link(bullet, held.own[i], parent, shape) | {
        "linkPositions": held.tree.offsets[i],
        "linkOrientations": xyzw(turn),
    }


def _lock(bullet: Any, parent: int, at: np.ndarray, turn: np.ndarray, shape: int) -> dict[str, Any]:
    """A link that cannot move, whose mass is `at` in what carries it, and its axes turned: see
    `engines/bullet/prescribed_segments.py`.
    """
    return make_link(bullet, TRACE, parent, shape) | {
        "linkInertialFramePositions": at,
        "linkInertialFrameOrientations": xyzw(turn),
    }


# Of what a segment without mass carries, at its end: its inertia. With a trace, limbs beyond a massless collar bone
# that is at the end of its range spin up until they are cut off: Bullet's solver does not converge. Between two others
# of a spine it was turned by what the forecast of damping leaves, at 346 rad/s, while its body stood.
LIGHT = 0.05
# A loose arm went as one in MuJoCo does with 0.06 to 2 times its mass, at 1 and 5 ms; with less it was thrown about.
LENT = 0.1
_SCARCE = 0.03  # of what hangs from it: a segment that has less is lent some
_MOST_LENT = 0.5  # of a segment's own mass


def inertia_of(body: SceneBody, i: int) -> RigidInertia:
    """Of a segment by itself."""
    tree = body.tree
    if tree.masses[i] > 0.0:
        return tree.body(i)
    children = np.flatnonzero(tree.parents == i)
    if body.joints[i].kind != BALL or not len(children):
        return TRACE
    size = LIGHT * _find_carried(body, i) * float((tree.offsets[children] ** 2).sum(axis=1).max())
    return RigidInertia(TRACE.mass, np.zeros(3), np.eye(3) * max(size, 1e-12))


def list_inertias(held: BulletBody) -> list[RigidInertia]:
    """Of every segment, as the body is posed; where GIVEN ones are bodies of their own, with what is lent to whom."""
    body, tree, kind = held.body, held.tree, held.kind
    found = [inertia_of(body, i) for i in range(len(tree))]
    if not held.is_moved:
        return found
    for i in range(1, len(tree)):
        nexts = [int(k) for k in np.flatnonzero(tree.parents == i) if (kind[k] == GIVEN) != (kind[i] == GIVEN)]
        carried = sum(_find_carried(body, k) for k in nexts)
        if found[i].mass >= _SCARCE * carried or (kind[i] == GIVEN and find_carrier(body, i) == WORLD):
            continue
        reach = max(float(np.linalg.norm(tree.offsets[k])) for k in nexts) / 3.0
        outer = sorted(nexts, key=lambda k: -tree.masses[k])
        for lender, about in ((_find_lender(body, i), i), *((k, k) for k in outer)):
            mass = min(LENT * carried, _MOST_LENT * found[lender].mass) if lender >= 0 else 0.0
            if mass <= found[i].mass:
                continue
            ball = RigidInertia(mass, np.zeros(3), mass * max(reach, 0.01) ** 2 * np.eye(3))  # [lent, eq 1]
            turn, place = held.R[lender].T @ held.R[i], held.R[lender].T @ (held.p[about] - held.p[lender])
            rest = _subtract(found[lender], ball.moved(turn, place))
            if rest.is_physical():
                at = held.R[i].T @ (held.p[about] - held.p[i])
                found[lender], found[i] = rest, RigidInertia.total([found[i], ball.moved(np.eye(3), at)])
                break
    return found


def _find_carried(body: SceneBody, i: int) -> float:
    """kg, of a segment and all that hangs from it."""
    tree = body.tree
    carried = np.zeros(len(tree), bool)
    carried[i] = True
    for k in range(i + 1, len(tree)):
        carried[k] = carried[tree.parents[k]]
    return float(tree.masses[carried].sum())


def _find_lender(body: SceneBody, i: int) -> int:
    """The nearest segment inward that has mass; -1: there is none."""
    k = int(body.tree.parents[i])
    while k > 0 and body.tree.masses[k] == 0.0:
        k = int(body.tree.parents[k])
    return k if body.tree.masses[k] > 0.0 else -1


def _subtract(whole: RigidInertia, part: RigidInertia) -> RigidInertia:
    """Return the inertia that is left of a body when a part of it is taken away."""
    mass = whole.mass - part.mass
    center = (whole.mass * whole.center - part.mass * part.center) / mass
    return RigidInertia(mass, center, whole.about(center) - part.about(center))
