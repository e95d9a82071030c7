"""Bullet (pybullet) behind the protocol of `engines/engine.py`.

`world.py` says what pybullet means by its frames, `model.py` builds the bodies. Bullet cannot move inertia
inside a multibody, but it takes other masses and moments of links: see `engines/bullet/prescribed_segments.py` for the
`exact` coupling, and `engines/bullet/prescribed_segments.py` for given segments that touch something.

Forces go in as generalised forces at the joints, found from the state. Bullet has no implicit joint damping:
`engines/bullet/damping_kernels.py:damp` foresees the velocity at the step's end, with the contact forces that have been
steady over the last steps. Where contacts have just changed it takes the body for free, which is stable, and damps less
than asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from poise.dynamics.tree import find_weight_per_mass
from poise.engines.bullet.ground import BulletCarrier, add_ground, find_corners_down
from poise.engines.bullet.joint_stops import stop_joints
from poise.engines.bullet.model import BulletBody, Multibody, add_body, find_pin
from poise.engines.bullet.state import check_world, has_contacts, load_world, save_world
from poise.engines.bullet.substeps import Substeps, sum_touches
from poise.engines.bullet.world import BulletWorld, principal, wxyz, xyzw
from poise.engines.engine import BodyContacts, Capabilities, Engine, PropState, Simulation
from poise.engines.memory import write_over
from poise.engines.scene import FREE, GIVEN, HINGES, Scene
from poise.spatial import rotation
from poise.world.ground.moving import MovingGround
from poise.world.prop import Prop

if TYPE_CHECKING:
    from poise.dynamics.body_kernels import Body
# How firmly a contact holds in the forecast: as a mass of so many times what its force weighs. With 0 the torque at a
# standing body's ankle comes 1 + dt D / I steps late, I the foot's own inertia; from 1 to 10 it is felt at once.
HOLD = 3.0
# kg at three points a metre from a pinned joint: as good as the world.
PIN_MASS = 1e6


class BulletEngine(Engine):
    """Bullet: both couplings, hinges and pins."""

    name = "bullet"
    # Damping that is foreseen goes by the bodies' own inertia: with 0.08 s all of 17 bodies and gestures stood, with
    # 0.09 the first fell.
    abilities = Capabilities(
        couplings=("exact", "paper"), carriers=False, axial=True, flights=True, max_mass_ratio_time=0.08
    )

    def build(self, scene: Scene) -> Simulation:
        """A world of its own with everything in the scene."""
        return BulletSimulation(scene)


class BulletSimulation(Simulation):
    """One scene in Bullet. `client` is pybullet's physicsClientId, for callers that read it."""

    cuts = True
    memory_bytes = 36 << 20  # of which pybullet takes 30 for the messages of a client

    def __init__(self, scene: Scene):
        self.scene = scene
        self.world = BulletWorld(scene)
        self._due: bytes | None = None  # the state from which the world is to be built before it goes on
        self._build()
        find_corners_down(self.world)
        self.world.out.look()
        if self.world.out.ease(scene.dt):  # contacts keep the dampers that they were found with
            find_corners_down(self.world)

    def _build(self) -> None:
        """Build the world again, with everything in the scene; Bullet has not looked for contacts yet."""
        scene, world = self.scene, self.world
        world.empty(scene)
        if scene.ground is not None:
            add_ground(world, scene.ground)
        for prop in scene.props:
            world.add_prop(prop)
        self._bullet, self.client = world.bullet, world.client
        self._props = {prop.name: prop for prop in scene.props}
        self._held = [BulletBody(body) for body in scene.bodies]
        for index, held in enumerate(self._held):
            add_body(world, index, held)
            held.locked.send(self._bullet, self.client, held.state.q)
        links = world.find_links() if scene.apart else {}
        for a, b in scene.apart:
            if a in links and b in links:
                world.keep_apart(links[a], links[b])
        self._parts = Substeps(self._held, world, scene)
        self._immovable = {"ground"} | {prop.name for prop in scene.props if prop.inertia is None}
        self._floats = scene.find_floating()
        self._time, self._carrier = scene.time, None
        if isinstance(scene.ground, MovingGround):
            self._carrier = BulletCarrier(world, scene.ground, world.ground, scene.gravity)
        self._pushes: dict[str, np.ndarray] = {}
        self._inputs: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = {}
        self._touched = [BodyContacts.none() for _ in scene.bodies]

    def write(self, body: int, state: Body) -> None:
        """See `Simulation.write`. It is sent with the step, which may be divided."""
        self._settle()
        held = self._held[body]
        self._place(held, state.root, state.q)
        self.write_forces(body, state)
        if held.moved is not None:
            self._refresh(held)
            held.moved.move(state, self.scene.dt)
            held.given = state.w.copy(), state.dw.copy(), state.a.copy()

    def write_forces(self, body: int, state: Body) -> None:
        """See `Simulation.write_forces`."""
        self._held[body].stops[:] = state.stops
        self._inputs[body] = state.torque.copy(), state.damping.copy(), state.wrench.copy(), state.axial.copy()

    def _place(self, held: BulletBody, root: np.ndarray, q: np.ndarray) -> None:
        """Put the bodies of GIVEN joints, and a GIVEN root, where they are."""
        given = held.kind == GIVEN
        held.state.q[given] = q[given]
        if given[0]:
            held.state.root[:] = root
        if given[0] and not held.is_moved:
            held.pose()
            for piece in held.pieces:
                turn = xyzw(rotation.from_matrix(held.R[piece.base]))
                self._bullet.resetBasePositionAndOrientation(
                    piece.uid, held.p[piece.base], turn, physicsClientId=self.client
                )
        held.locked.send(self._bullet, self.client, held.state.q)
        held.is_fresh = False

    def move_pin(self, body: int, joint: int, place: np.ndarray, turn: np.ndarray) -> None:
        """See `Simulation.move_pin`."""
        self._settle()  # which pins the body where it is
        held = self._held[body]
        at, turned = find_pin(held, joint, place, rotation.to_matrix(turn))
        self._bullet.changeConstraint(
            held.pins[joint], jointChildPivot=at, jointChildFrameOrientation=xyzw(turned), maxForce=1e6,
            physicsClientId=self.client,
        )  # fmt: skip

    def handles_coupling(self, body: int) -> bool:
        """See `Simulation.handles_coupling`."""
        return self._held[body].is_moved

    def _act(self, h: float, body: int) -> None:
        """Send what acts on a body in the next h seconds."""
        from poise.engines.bullet import damping_kernels as kernels
        from poise.engines.mujoco.kernels import gather_wrenches

        held, (torque, damping, wrench, axial) = self._held[body], self._inputs[body]
        self._refresh(held)
        tree, x = held.tree, held.damping
        x.torque[:] = torque - held.stops  # which motors do
        gather_wrenches(held.kind, tree.parents, held.p, wrench, x.torque, held.f, held.n)
        kernels.set_turns(x)
        force = np.einsum("iab,ib->ia", x.S, held.n)
        kernels.set_damping(x, damping)
        if np.any(x.D):
            held.check_forecast()
            touch = self._foresee_contacts(body)
            x.wrench[:] = wrench + touch
            held.write_given(np.asarray(self.scene.gravity, float))
            kernels.damp(x, h)
            held.foreseen = -x.out / np.where(x.D > 0.0, x.D, np.nan)
            # joints at the ends of their ranges meet what is not foreseen
            held.foreseen[axial.any(axis=1)] = np.nan
            if not touch.any():  # no contact was counted on: none is to blame for a surprise
                held.foreseen[:] = np.nan
            force += x.out
        stop_joints(self.world, held, axial, h)
        for piece in held.pieces:
            self._send(held, piece, force)

    def _send(self, held: BulletBody, piece: Multibody, force: np.ndarray) -> None:
        bullet, b = self._bullet, piece.uid
        if piece.base == 0 and held.kind[0] == FREE:
            flag = bullet.WORLD_FRAME
            f, n = (held.f[0], held.n[0]) if held.moved is None else held.moved.spread(held.f[0], held.n[0])
            bullet.applyExternalForce(b, -1, f, held.p[0], flag, physicsClientId=self.client)
            bullet.applyExternalTorque(b, -1, n, flag, physicsClientId=self.client)
        if piece.links:
            balls = np.einsum("nba,nb->na", piece.P, force[piece.joints])
            sent = [
                ball if dof < 0 else [force[joint, dof]]
                for ball, dof, joint in zip(balls.tolist(), piece.dof, piece.joints, strict=True)
            ]
            bullet.setJointMotorControlMultiDofArray(
                b, piece.links, bullet.TORQUE_CONTROL, forces=sent, physicsClientId=self.client
            )

    def set_root_velocity(self, body: int, state: Body) -> None:
        """See `Simulation.set_root_velocity`: given segments go along."""
        self._settle()
        held, options = self._held[body], {"physicsClientId": self.client}
        self._refresh(held)
        old, R = held.state, held.R[0]
        dv, dom = state.v - old.v, R @ (state.w[0] - old.w[0])
        for piece in held.pieces:
            at = np.array(self._bullet.getBasePositionAndOrientation(piece.uid, **options)[0])
            v, om = (np.array(x) for x in self._bullet.getBaseVelocity(piece.uid, **options))
            self._bullet.resetBaseVelocity(piece.uid, v + dv + np.cross(dom, at - held.p[0]), om + dom, **options)
        old.v[:], old.w[0] = state.v, state.w[0]

    def push_prop(self, name: str, wrench: np.ndarray) -> None:
        """See `Simulation.push_prop`."""
        self._settle()
        prop = self._props[name]
        if prop.inertia is None:
            return
        self._pushes[name] = self._pushes.get(name, 0.0) + np.asarray(wrench, float)
        self._push(name, wrench)

    def _push(self, name: str, wrench: np.ndarray) -> None:
        bullet, b, at = self._bullet, self.world.props[name], self.read_prop(name)[0]
        link = -1 if self._props[name].hinge is None else 0
        bullet.applyExternalForce(b, link, wrench[3:], at, bullet.WORLD_FRAME, physicsClientId=self.client)
        bullet.applyExternalTorque(b, link, wrench[:3], bullet.WORLD_FRAME, physicsClientId=self.client)

    def step(self) -> None:
        """See `Simulation.step`."""
        self._settle()
        for held in self._held:
            self._refresh(held)
            held.before = held.p[0].copy(), held.R[0].copy()
        dt, at, felt = self.scene.dt, 0.0, []
        while at < dt:
            for held in self._parts.watched:
                self._refresh(held)
            h = self._parts.find_length(dt - at, dt)
            felt.append((h / dt, self._advance(at, h)))
            at = dt if h == dt - at else at + h
        self._inputs.clear()
        self._pushes.clear()
        self._time += dt
        self._touched = [sum_touches([(share, each[k]) for share, each in felt]) for k in range(len(self._held))]
        for held, touched in zip(self._held, self._touched, strict=True):
            firm = self._is_firm(touched)
            held.pressed = np.roll(held.pressed, 1, axis=0)
            sizes = np.linalg.norm(touched.forces[firm], axis=1)
            held.pressed[0] = np.bincount(touched.joints[firm], sizes, len(held.tree))

    def _advance(self, at: float, h: float) -> list[BodyContacts]:
        """Make the part of a step that begins `at` s in it and takes h s; what touches each body."""
        self.world.set_step(h)
        if at > 0.0:
            for renew in self.substeps:
                renew(self, h)
        for body in self._inputs:
            self._act(h, body)
        for name, prop in self._props.items():
            if at > 0.0 and name in self._pushes:
                self._push(name, self._pushes[name])
            if prop.hinge is not None and prop.hinge.damping > 0.0:
                self._damp_prop(name, prop, h)
        if self._carrier is not None:
            self._carrier.place(self._time + at, h)
        for held in self._held:
            if held.moved is not None:
                held.moved.go(at + h)
        self.world.step()
        for held in self._held:
            held.is_fresh = False
        return self._find_all_contacts()

    def _damp_prop(self, name: str, prop: Prop, dt: float) -> None:
        """-D qd of a hinge at the step's end: -D (qd + dt a) / (1 + dt D / I), with a of gravity and pushes."""
        if prop.hinge is None or prop.inertia is None:
            return
        bullet, b, D = self._bullet, self.world.props[name], prop.hinge.damping
        _, turn, _, _ = self.read_prop(name)
        axis, arm = rotation.rotate(turn, prop.hinge.axis), -rotation.rotate(turn, prop.hinge.point)
        lever = arm + rotation.rotate(turn, prop.inertia.center)
        push = self._pushes.get(name, np.zeros(6))
        torque = push[:3] + np.cross(arm, push[3:]) + np.cross(lever, prop.inertia.mass * self.scene.gravity)
        about = float(prop.hinge.axis @ prop.inertia.about(prop.hinge.point) @ prop.hinge.axis)
        speed = bullet.getJointState(b, 0, physicsClientId=self.client)[1] + dt * float(axis @ torque) / about
        force = -D * speed / (1.0 + dt * D / about)
        bullet.setJointMotorControl2(b, 0, bullet.TORQUE_CONTROL, force=force, physicsClientId=self.client)

    def read(self, body: int, state: Body) -> None:
        """See `Simulation.read`."""
        held, touched = self._held[body], self._touched[body]
        self._refresh(held)
        moved = held.kind != GIVEN
        state.q[moved], state.w[moved] = held.state.q[moved], held.state.w[moved]
        if moved[0]:
            state.root[:], state.v[:] = held.state.root, held.state.v
        is_free = held.kind[0] == FREE and not held.body.pinned and self._floats.issuperset(touched.others)
        state.airborne = int(is_free)
        state.external_wrench[:] = self._find_external(body) if is_free else 0.0

    def _find_external(self, body: int) -> np.ndarray:
        """(6,) what others put on a body: force in the world, torque about its root in its axes."""
        held, touched = self._held[body], self._touched[body]
        own = held.body.name + "/"
        others = np.array([not name.startswith(own) for name in touched.others], bool)
        points, forces = touched.points[others], touched.forces[others]
        at, turn = held.before
        torque = np.cross(points - at, forces).sum(axis=0)
        return np.concatenate([forces.sum(axis=0), turn.T @ torque])

    def _refresh(self, held: BulletBody) -> None:
        """Bring a body's arrays up to what Bullet holds."""
        if held.is_fresh:
            return
        state = held.state
        for piece in held.pieces:
            if piece.base == 0 and held.kind[0] == FREE:
                self._read_base(held, piece)
            if not piece.links:
                continue
            found = self._bullet.getJointStatesMultiDof(piece.uid, piece.links, physicsClientId=self.client)
            if len(piece.balls):
                P, joints = piece.P[piece.balls], piece.ball_joints
                place = np.array([found[k][0] for k in piece.balls])
                speed = np.array([found[k][1] for k in piece.balls])
                # P q P^-1 has q's real part, and its vector turned by P
                q = np.concatenate([place[:, 3:], np.einsum("nab,nb->na", P, place[:, :3])], axis=1)
                state.q[joints] = q / np.linalg.norm(q, axis=1, keepdims=True)
                state.w[joints] = np.einsum("nab,nb->na", P, speed)
            for joint, dof, (place, speed, *_) in zip(piece.joints, piece.dof, found, strict=True):
                if dof >= 0:
                    held.damping.angles[joint, dof], held.damping.speeds[joint, dof] = place[0], speed[0]
        for i in np.flatnonzero(held.kind == HINGES):
            q, w = np.asarray(held.body.rotations[i]), np.zeros(3)
            angles, speeds = held.damping.angles[i], held.damping.speeds[i]
            for axis, angle, speed in zip(held.body.joints[i].axes, angles, speeds, strict=False):
                step = rotation.from_axis_angle(axis, float(angle))
                q, w = rotation.multiply(q, step), rotation.rotate(rotation.conjugate(step), w) + speed * axis
            state.q[i], state.w[i] = q, w
        held.pose()
        held.is_fresh = True

    def _read_base(self, held: BulletBody, piece: Multibody) -> None:
        """Bullet gives place and velocity of the base's centre of mass."""
        bullet, state = self._bullet, held.state
        at, turn = bullet.getBasePositionAndOrientation(piece.uid, physicsClientId=self.client)
        v, om = (np.array(x) for x in bullet.getBaseVelocity(piece.uid, physicsClientId=self.client))
        R = rotation.to_matrix(wxyz(turn)) @ piece.base_P.T
        lever = R @ held.own[0].center
        state.q[0], state.w[0] = rotation.from_matrix(R), R.T @ om
        state.root[:], state.v[:] = np.array(at) - lever, v - np.cross(om, lever)

    def read_prop(self, name: str) -> PropState:
        """See `Simulation.read_prop`."""
        prop, b = self._props[name], self.world.props[name]
        if prop.inertia is None:
            return PropState(prop.position, prop.turn, np.zeros(3), np.zeros(3))
        if prop.hinge is None:
            at, found = self._bullet.getBasePositionAndOrientation(b, physicsClientId=self.client)
            v, om = (np.array(x) for x in self._bullet.getBaseVelocity(b, physicsClientId=self.client))
            turn = rotation.multiply(wxyz(found), rotation.conjugate(principal(prop.inertia)[0]))
            lever = rotation.rotate(turn, prop.inertia.center)
            return PropState(np.array(at) - lever, turn, v - np.cross(om, lever), om)
        angle, speed = self._bullet.getJointState(b, 0, physicsClientId=self.client)[:2]
        turn = rotation.multiply(prop.turn, rotation.from_axis_angle(prop.hinge.axis, angle))
        pivot = prop.position + rotation.rotate(prop.turn, prop.hinge.point)
        position = pivot - rotation.rotate(turn, prop.hinge.point)
        spin = rotation.rotate(turn, prop.hinge.axis) * speed
        return PropState(position, turn, np.cross(spin, position - pivot), spin)

    def find_contacts(self, body: int) -> BodyContacts:
        """See `Simulation.find_contacts`."""
        return self._touched[body]

    def _find_all_contacts(self) -> list[BodyContacts]:
        rows: list[list[tuple[int, Any, Any, str]]] = [[] for _ in self._held]
        points = self._bullet.getContactPoints(physicsClientId=self.client) or ()
        self.world.out.note(points)
        for point in points:
            a, b, link_a, link_b, on_a, on_b, normal, _, pressed, side, first, other_side, second = point[1:]
            force = pressed * np.array(normal) + side * np.array(first) + other_side * np.array(second)
            if not np.any(force):
                continue
            for mine, other, at, sign in (
                ((a, link_a), (b, link_b), on_a, 1.0),
                ((b, link_b), (a, link_a), on_b, -1.0),
            ):
                if mine in self.world.owners:
                    index, joint = self.world.owners[mine]
                    rows[index].append((joint, at, sign * force, self.world.names[other]))
        return [
            BodyContacts(
                np.array([row[0] for row in found], int),
                np.array([row[1] for row in found], float).reshape(-1, 3),
                np.array([row[2] for row in found], float).reshape(-1, 3),
                tuple(row[3] for row in found),
            )
            for found in rows
        ]

    def _foresee_contacts(self, body: int) -> np.ndarray:
        """Return the wrenches (J, 6) of contacts that will last; write what holds the bodies, for `damp`.

        Only contacts with what cannot move, and of their force only the least of the last steps: a forecast from an
        impact that is already over would kick the body.
        """
        touched, held = self._touched[body], self._held[body]
        firm = self._is_firm(touched)
        joints, points = touched.joints[firm], touched.points[firm]
        steady = held.pressed.min(axis=0)[joints] / np.maximum(held.pressed[0, joints], 1e-9)
        forces = steady[:, None] * touched.forces[firm]
        wrench = np.zeros((len(held.tree), 6))
        np.add.at(wrench[:, :3], joints, np.cross(points - held.p[joints], forces))
        np.add.at(wrench[:, 3:], joints, forces)
        pinned = np.repeat(np.array(held.body.pinned, int), 3)
        corners = np.tile(np.eye(3), (len(held.body.pinned), 1))
        masses = HOLD / find_weight_per_mass(self.scene.gravity) * np.linalg.norm(forces, axis=1)
        held.damping.set(
            holds=len(joints) + len(pinned), held=np.concatenate([joints, pinned]),
            held_at=np.concatenate([points, held.p[pinned] + corners]),
            held_mass=np.concatenate([masses, np.full(len(pinned), PIN_MASS)]),
        )  # fmt: skip
        return wrench

    def _is_firm(self, touched: BodyContacts) -> np.ndarray:
        return np.array([name in self._immovable for name in touched.others], bool)

    def save(self) -> dict[str, Any]:
        """See `Simulation.save`. From here this world goes on as a restored one does: see `_go_on_from`."""
        if self._due is None:
            self._due = save_world(self._bullet, self.client)
        return {
            "world": np.frombuffer(self._due, np.uint8),
            "bodies": self._copy_numbers(),
            "touched": [touched.save() for touched in self._touched],
            "time": self._time,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Simulation.restore`."""
        touched = [BodyContacts.load(each) for each in saved["touched"]]
        data = np.asarray(saved["world"], np.uint8).tobytes()
        check_world(data, self._due or save_world(self._bullet, self.client))
        self._go_on_from(data, saved["bodies"])
        self._touched, self._time = touched, saved["time"]

    def _copy_numbers(self) -> list[dict[str, np.ndarray]]:
        return [{name: array.copy() for name, array in held.numbers().items()} for held in self._held]

    def _settle(self) -> None:
        """Before anything changes the world: if it was saved, go on as from that state."""
        if self._due is not None:
            touched, time = self._touched, self._time
            self._go_on_from(self._due, self._copy_numbers())
            self._touched, self._time = touched, time

    def _go_on_from(self, data: bytes, numbers: list[dict[str, np.ndarray]]) -> None:
        """Build the world again and restore a state in it.

        What Bullet does next depends on more than its state: on the tree and the order of pairs that are near each
        other, and on what was looked at lately. All of that is the past of a world, so whoever goes on from a state,
        be it the world that was saved, begins with none.
        """
        self._due = None
        self._build()
        with self.world.looking():
            load_world(self._bullet, self.client, data)
            if has_contacts(data):
                self.world.out.look()
            else:
                self._bullet.performCollisionDetection(physicsClientId=self.client)
        for held, each in zip(self._held, numbers, strict=True):
            write_over(held.numbers(), each)
            self._place(held, held.state.root, held.state.q)
