"""MuJoCo behind the protocol of `engine.py`.

Kinematic segments stay in the model as *jointless child bodies* whose place in their parent is rewritten every step:
their inertia, locked in the present pose, is then exact at no cost, which is what the `exact` coupling needs. A GIVEN
root is a mocap body, or a jointless child of the prop that it rides on.

Forces go in as generalised forces, found here from the state itself: what MuJoCo derives from it (`xpos` and so on)
is one step old by then. Joint damping is MuJoCo's own, which `discrete` integrates implicitly inside the solve for
contacts. (`implicitfast` costs a quarter less a step, but solves contacts without the damping: a 1 kg foot under a leg
with 20 N m s/rad at the ankle rocks for seconds at 5 ms, and ever more at 10 ms.)

Options, each measured (design notes): elliptic cones with impratio 100, without which feet creep under a steady
sideways load; Newton's solver, which converges in one to three iterations here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.shape import Capsule, Shape, Sphere
from poise.dynamics.tree import Tree
from poise.engines.engine import Abilities, BodyState, Contacts, Simulation
from poise.engines.mujoco_desk import Away, find_structure
from poise.engines.scene import BALL, FREE, GIVEN, HINGES, Scene, SceneBody
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.world.prop import Prop

# MuJoCo wants mass and inertia in every body that moves; so little is lost in round-off beside a segment's.
TRACE_MASS, TRACE_INERTIA = 1e-9, 1e-12
MEMORY = 1 << 20  # bytes for contacts and the solver, a body: some ten times what 30 contacts take
SKIN = 5e-4  # m: a body at rest on its feet sinks in by about this much
_SIX = (np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2]))
# Bits that say who may touch whom: bodies and props touch the ground and props, never one another's own segments.
_GROUND, _BODY, _PROP = 1, 2, 4


class MujocoEngine:
    """MuJoCo 4: exact coupling, hinges, pins, and bodies that ride on props."""

    name = "mujoco"
    abilities = Abilities(couplings=("exact", "paper"), nudges=True)

    def build(self, scene: Scene) -> Simulation:
        """A model of the scene with its state."""
        return MujocoSimulation(scene)


@dataclass(frozen=True, eq=False)
class BodyLayout:
    """Where a body's joints are in the model; the arrays that `mujoco_kernels` read.

    kind, qadr, vadr, count (J,);  axes (J, 2, 3);  built (J, 4);  bodies (J,) MuJoCo's body ids
    given   (k,) joints whose bodies are placed each step, and their body ids
    mocap   the root's mocap id, or -1
    """

    kind: np.ndarray
    qadr: np.ndarray
    vadr: np.ndarray
    count: np.ndarray
    axes: np.ndarray
    built: np.ndarray
    bodies: np.ndarray
    given: np.ndarray
    given_bodies: np.ndarray
    mocap: int


class MujocoSimulation:
    """One scene in MuJoCo. `model` and `data` are MuJoCo's own, for whoever wants to look."""

    def __init__(self, scene: Scene):
        import mujoco

        self.scene = scene
        self._mujoco = mujoco
        # A state that turns non-finite is the stage's to tell; MuJoCo would write a log file where the user works.
        mujoco.set_mju_user_warning(lambda message: None)
        _stop_timers()
        self.model = _build_spec(scene).compile()
        self._data, self.away = mujoco.MjData(self.model), Away(self.model)
        self.layouts = [_find_layout(self.model, body) for body in scene.bodies]
        self._work = [_Work.of(body.tree) for body in scene.bodies]
        self._props = {prop.name: prop for prop in scene.props}
        for layout, body in zip(self.layouts, scene.bodies, strict=True):
            self._set_state(layout, body)
        for prop in scene.props:
            self._start_prop(prop)
        self._weld_pins()
        mujoco.mj_forward(self.model, self.data)

    @property
    def data(self) -> Any:
        """MuJoCo's own, as the last step left it."""
        if self.away.steps[0]:
            self.away.catch_up(self.model, self._data)
        return self._data

    @cached_property
    def structure(self) -> str:
        """See `mujoco_desk.find_structure`."""
        return find_structure(self.model)

    def _set_state(self, layout: BodyLayout, body: SceneBody) -> None:
        data = self.data
        for i, joint in enumerate(body.joints):
            a, b = layout.qadr[i], layout.vadr[i]
            if joint.kind == FREE:
                data.qpos[a : a + 3], data.qpos[a + 3 : a + 7] = body.root, body.rotations[i]
                data.qvel[b : b + 3], data.qvel[b + 3 : b + 6] = body.velocity, body.angular_velocity[i]
            elif joint.kind == BALL:
                data.qpos[a : a + 4], data.qvel[b : b + 3] = body.rotations[i], body.angular_velocity[i]
            elif joint.kind == HINGES and len(joint.axes):
                data.qvel[b : b + len(joint.axes)] = np.linalg.lstsq(
                    joint.axes.T, body.angular_velocity[i], rcond=None
                )[0]
        state = BodyState(np.array(body.root), np.array(body.rotations), np.zeros(3), np.zeros((len(body.tree), 3)))
        self.place(self.scene.bodies.index(body), state)

    def _start_prop(self, prop: Prop) -> None:
        """Give a prop the speed that it begins with."""
        if prop.inertia is None:
            return
        v = self.model.body_dofadr[self._body(f"prop/{prop.name}")]
        if prop.hinge is None:
            self.data.qvel[v : v + 3] = prop.velocity
            self.data.qvel[v + 3 : v + 6] = rotation.rotate(rotation.conjugate(prop.turn), prop.spin)
        else:
            self.data.qvel[v] = prop.spin @ rotation.rotate(prop.turn, prop.hinge.axis)

    def _weld_pins(self) -> None:
        """Pins hold where the bodies are now, by their joints: any other point would add a lever to a push on them."""
        if self.model.neq:
            self._mujoco.mj_kinematics(self.model, self.data)
            for k in range(self.model.neq):
                b = self.model.eq_obj1id[k]
                # the point in the world (3) and in the body (3) that stay together, and the world's turn in the body
                self.model.eq_data[k, :3] = self.data.xpos[b]
                self.model.eq_data[k, 3:6] = 0.0
                self.model.eq_data[k, 6:10] = rotation.conjugate(self.data.xquat[b])

    def place(self, body: int, state: BodyState) -> None:
        """See `Simulation.place`."""
        layout, work, data = self.layouts[body], self._work[body], self.data
        if len(layout.given):
            self.model.body_quat[layout.given_bodies] = work.state.q[layout.given] = state.q[layout.given]
        if layout.kind[0] == GIVEN:
            work.root[:], work.turn[:] = state.root, state.q[0]
            if layout.mocap >= 0:
                data.mocap_pos[layout.mocap], data.mocap_quat[layout.mocap] = state.root, state.q[0]
            else:
                self.model.body_pos[layout.bodies[0]] = state.root
                self.model.body_quat[layout.bodies[0]] = state.q[0]

    def apply(self, body: int, torque: np.ndarray, damping: np.ndarray, wrench: np.ndarray) -> None:
        """See `Simulation.apply`."""
        from poise.dynamics import instant
        from poise.engines import mujoco_kernels as kernels

        x, work, tree = self.layouts[body], self._work[body], self.scene.bodies[body].tree
        carrier = self.scene.bodies[body].carrier
        self.read(body, work.state)
        if x.kind[0] == GIVEN:
            work.state.root[:], work.state.q[0] = work.root, work.turn
            if carrier is not None:
                at, turn, _, _ = self.read_prop(carrier)
                work.state.root[:] = at + rotation.rotate(turn, work.root)
                work.state.q[0] = rotation.multiply(turn, work.turn)
        instant.pose_bodies(tree.parents, tree.offsets, work.state.root, work.state.q, work.R, work.p)
        kernels.gather_wrenches(x.kind, tree.parents, work.p, wrench, torque, work.f, work.n)
        kernels.write_forces(
            x.kind, x.qadr, x.vadr, x.count, x.axes, self.data.qpos, work.R, work.f[0], work.n, damping,
            self.data.qfrc_applied, self.model.dof_damping,
        )  # fmt: skip
        if carrier is not None:
            # What pushes the rider pushes what carries it.
            self._push(carrier, work.state.root, work.n[0], work.f[0])

    def nudge(self, body: int, joint: int, turn: np.ndarray) -> None:
        """See `Simulation.nudge`."""
        from poise.engines import mujoco_kernels as kernels

        layout, work = self.layouts[body], self._work[body]
        if layout.kind[joint] == BALL:
            kernels.nudge(self.data.qpos, layout.qadr[joint], work.R[joint], turn)

    def push_prop(self, name: str, wrench: np.ndarray) -> None:
        """See `Simulation.push_prop`."""
        self._push(name, self.read_prop(name)[0], wrench[:3], wrench[3:])

    def _push(self, name: str, at: np.ndarray, torque: np.ndarray, force: np.ndarray) -> None:
        """Add a wrench about a point of the world to what acts on a prop."""
        inertia = self._props[name].inertia
        if inertia is None:
            return
        position, turn, _, _ = self.read_prop(name)
        row = self.data.xfrc_applied[self._body(f"prop/{name}")]
        # MuJoCo's wrench acts at the body's centre of mass.
        lever = at - position - rotation.rotate(turn, inertia.center)
        row[:3] += force
        row[3:] += torque + np.cross(lever, force)

    def step(self) -> None:
        """See `Simulation.step`."""
        self._mujoco.mj_step(self.model, self.data)
        # Forces are for one step: MuJoCo would keep them.
        self.data.qfrc_applied[:] = 0.0
        if self._props:
            self.data.xfrc_applied[:] = 0.0

    def read(self, body: int, state: BodyState) -> None:
        """See `Simulation.read`."""
        from poise.engines import mujoco_kernels as kernels

        x = self.layouts[body]
        kernels.read_body(
            x.kind, x.qadr, x.vadr, x.count, x.axes, x.built, self.data.qpos, self.data.qvel,
            state.root, state.q, state.v, state.w,
        )  # fmt: skip

    def read_prop(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """See `Simulation.read_prop`."""
        prop, b = self._props[name], self._body(f"prop/{name}")
        if prop.inertia is None:
            return prop.position, prop.turn, np.zeros(3), np.zeros(3)
        a, v = self.model.jnt_qposadr[self.model.body_jntadr[b]], self.model.body_dofadr[b]
        qpos, qvel = self.data.qpos, self.data.qvel
        if prop.hinge is None:
            turn = qpos[a + 3 : a + 7].copy()
            return qpos[a : a + 3].copy(), turn, qvel[v : v + 3].copy(), rotation.rotate(turn, qvel[v + 3 : v + 6])
        turn = rotation.multiply(prop.turn, rotation.from_axis_angle(prop.hinge.axis, float(qpos[a])))
        pivot = prop.position + rotation.rotate(prop.turn, prop.hinge.point)
        position = pivot - rotation.rotate(turn, prop.hinge.point)
        spin = rotation.rotate(turn, prop.hinge.axis) * qvel[v]
        return position, turn, np.cross(spin, position - pivot), spin

    def find_contacts(self, body: int) -> Contacts:
        """See `Simulation.find_contacts`."""
        layout, contact, data = self.layouts[body], self.data.contact, self.data
        joint_of = np.full(self.model.nbody, -1)
        joint_of[layout.bodies] = np.arange(len(layout.bodies))
        # One row a contact that carries: elliptic cones have their force in the contact's frame, the normal first.
        active = np.flatnonzero(contact.efc_address >= 0) if data.ncon else np.zeros(0, int)
        pair = self.model.geom_bodyid[contact.geom[active]].reshape(-1, 2)
        rows = contact.efc_address[active][:, None] + np.arange(3)
        frames = contact.frame[active].reshape(-1, 3, 3)
        force = np.einsum("ka,kab->kb", data.efc_force[rows].reshape(-1, 3), frames)
        joints, points, forces, others = [], [], [], []
        for mine, other, sign in ((1, 0, 1.0), (0, 1, -1.0)):
            found = np.flatnonzero(joint_of[pair[:, mine]] >= 0)
            joints.append(joint_of[pair[found, mine]])
            points.append(contact.pos[active[found]].reshape(-1, 3))
            forces.append(sign * force[found])
            others += [self._name(int(b)) for b in pair[found, other]]
        return Contacts(np.concatenate(joints), np.concatenate(points), np.concatenate(forces), tuple(others))

    def save(self) -> Any:
        """See `Simulation.save`."""
        size = self._mujoco.mj_stateSize(self.model, self._mujoco.mjtState.mjSTATE_INTEGRATION)
        state = np.empty(size)
        self._mujoco.mj_getState(self.model, self.data, state, self._mujoco.mjtState.mjSTATE_INTEGRATION)
        placed = [(work.root.copy(), work.turn.copy(), work.state.q.copy()) for work in self._work]
        pos, quat = self.model.body_pos.copy(), self.model.body_quat.copy()
        return {"state": state, "body_pos": pos, "body_quat": quat, "placed": placed}

    def restore(self, saved: Any) -> None:
        """See `Simulation.restore`."""
        self.away.steps[0] = 0
        self.model.body_pos[:], self.model.body_quat[:] = saved["body_pos"], saved["body_quat"]
        self._mujoco.mj_setState(self.model, self.data, saved["state"], self._mujoco.mjtState.mjSTATE_INTEGRATION)
        for work, (root, turn, q) in zip(self._work, saved["placed"], strict=True):
            work.root[:], work.turn[:], work.state.q[:] = root, turn, q

    def addresses(self) -> tuple[int, int, int]:
        """Where the model, the data and the C function `mj_step` are in memory, for loops that are compiled."""
        return int(self.model._address), int(self.data._address), _find_step()

    def _body(self, name: str) -> int:
        return int(self._mujoco.mj_name2id(self.model, self._mujoco.mjtObj.mjOBJ_BODY, name))

    def _name(self, body: int) -> str:
        if body == 0:
            return "ground"
        return str(self._mujoco.mj_id2name(self.model, self._mujoco.mjtObj.mjOBJ_BODY, body)).removeprefix("prop/")


@dataclass(eq=False)
class _Work:
    """Arrays that `apply` writes to, so that it allocates none.

    state  in the world, GIVEN joints as they were last placed;  root (3,), turn (4,): a GIVEN root as it was placed
    """

    state: BodyState
    root: np.ndarray
    turn: np.ndarray
    R: np.ndarray
    p: np.ndarray
    f: np.ndarray
    n: np.ndarray

    @staticmethod
    def of(tree: Tree) -> _Work:
        j = len(tree)
        at, turns = np.zeros((j, 3)), np.zeros((j, 3, 3))
        return _Work(
            BodyState.zeros(j), np.zeros(3), rotation.identity(), turns, at, np.zeros((j, 3)), np.zeros((j, 3))
        )


@cache
def _find_library() -> Any:
    """MuJoCo's own library, which the bindings have loaded already."""
    import ctypes

    import mujoco

    folder = Path(mujoco.__file__).parent
    for pattern in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll"):
        for library in sorted(folder.glob(pattern)):
            return ctypes.CDLL(str(library))
    raise InputError(f"MuJoCo's library is not in its package's folder {folder.name}. Install mujoco again.")


@cache
def _find_step() -> int:
    """The address of the C function `mj_step`."""
    import ctypes

    return int(ctypes.cast(_find_library().mj_step, ctypes.c_void_p).value or 0)


@cache
def _stop_timers() -> None:
    """Have MuJoCo not read the clock some twenty times a step for its profile (`MjData.timer`): a twentieth of a step.

    A clock that was set with `mujoco.set_mjcb_time` stays.
    """
    import ctypes

    import mujoco

    if mujoco.get_mjcb_time() is None:
        ctypes.c_void_p.in_dll(_find_library(), "mjcb_time").value = None


def _build_spec(scene: Scene) -> Any:
    import mujoco

    spec = mujoco.MjSpec()
    spec.memory = MEMORY * (1 + len(scene.bodies))
    spec.compiler.degree = False
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    option = spec.option
    option.timestep, option.gravity = scene.dt, scene.gravity
    option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    # A state that turned non-finite must be seen, not silently reset.
    option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    # Stages of the step that have nothing to do here, and take a fiftieth of it to find that out.
    for idle in ("FRICTIONLOSS", "SPRING", "ACTUATION", "SENSOR", "CLAMPCTRL", "MIDPHASE"):
        option.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{idle}")
    # One body is one island: looking for more costs a twelfth of the step.
    if len(scene.bodies) == 1 and not scene.props:
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
    if scene.ground is not None:
        spec.worldbody.add_geom(
            name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], pos=[0, scene.ground.height, 0],
            quat=[np.sqrt(0.5), -np.sqrt(0.5), 0, 0], friction=[scene.ground.friction, 0.005, 0.0001],
            contype=_GROUND, conaffinity=0,
        )  # fmt: skip
    bodies = {prop.name: _add_prop(spec, prop, scene) for prop in scene.props}
    for body in scene.bodies:
        _add_body(spec, body, scene, bodies.get(body.carrier or ""))
    return spec


def _add_prop(spec: Any, prop: Prop, scene: Scene) -> Any:
    import mujoco

    body = spec.worldbody.add_body(name=f"prop/{prop.name}", pos=prop.position, quat=prop.turn)
    if prop.inertia is not None:
        _set_inertia(body, prop.inertia)
        if prop.hinge is None:
            body.add_freejoint()
        else:
            body.add_joint(
                type=mujoco.mjtJoint.mjJNT_HINGE, pos=prop.hinge.point, axis=prop.hinge.axis,
                damping=[prop.hinge.damping, 0, 0],
            )  # fmt: skip
    if prop.touches:
        for shape in prop.shapes:
            _add_geom(body, shape, _PROP, _GROUND | _PROP, scene)
    return body


def _add_body(spec: Any, body: SceneBody, scene: Scene, carrier: Any) -> None:
    import mujoco

    made: list[Any] = []
    tree = body.tree
    for i, joint in enumerate(body.joints):
        parent = made[int(tree.parents[i])] if i else (carrier if carrier is not None else spec.worldbody)
        place = tree.offsets[i] if i else body.root
        made.append(parent.add_body(name=f"{body.name}/{tree.names[i]}", pos=place, quat=_built(joint.kind, body, i)))
        if joint.kind == FREE:
            made[i].add_freejoint()
        elif joint.kind == BALL:
            made[i].add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
        elif joint.kind == HINGES:
            for axis, reach in zip(joint.axes, joint.ranges, strict=True):
                limited = bool(np.all(np.isfinite(reach)))
                made[i].add_joint(
                    type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, range=reach if limited else [0, 0],
                    limited=mujoco.mjtLimited.mjLIMITED_TRUE if limited else mujoco.mjtLimited.mjLIMITED_FALSE,
                )  # fmt: skip
        elif i == 0 and carrier is None:
            made[i].mocap = True
        has_mass = joint.kind != GIVEN or body.is_locked
        _set_inertia(made[i], tree.body(i) if has_mass else RigidInertia.zero())
    for i, shape in body.shapes:
        _add_geom(made[i], shape, _BODY, _GROUND | _PROP, scene)
    for i in body.pinned:
        pin = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY, name1=f"{body.name}/{tree.names[i]}"
        )
        pin.solref, pin.solimp = [2.0 * scene.dt, 1.0], [0.9999, 0.9999, 0.001, 0.5, 2.0]


def _built(kind: int, body: SceneBody, i: int) -> np.ndarray:
    """MuJoCo's `body_quat`: balls and free roots count from the identity, hinges from the pose they are built at."""
    return rotation.identity() if kind in (FREE, BALL) else np.asarray(body.rotations[i])


def _set_inertia(body: Any, inertia: RigidInertia) -> None:
    body.explicitinertial = True
    if inertia.mass > 0.0:
        body.mass, body.ipos = inertia.mass, inertia.center
        body.fullinertia = inertia.inertia[_SIX]
    else:
        body.mass, body.inertia = TRACE_MASS, [TRACE_INERTIA] * 3


def _add_geom(body: Any, shape: Shape, contype: int, conaffinity: int, scene: Scene) -> None:
    import mujoco

    friction = [scene.ground.friction if scene.ground is not None else 0.8, 0.005, 0.0001]
    options: dict[str, Any] = {"contype": contype, "conaffinity": conaffinity, "friction": friction, "condim": 3}
    # Contacts begin a little early and are as stiff as the step allows: feet rest at the ground's height, not in it.
    options |= {"margin": SKIN, "solref": [max(2.0 * scene.dt, 0.008), 1.0]}
    kinds = mujoco.mjtGeom
    if isinstance(shape, Sphere):
        body.add_geom(type=kinds.mjGEOM_SPHERE, size=[shape.radius, 0, 0], pos=shape.center, **options)
    elif isinstance(shape, Capsule):
        ends = np.concatenate([shape.start, shape.end])
        body.add_geom(type=kinds.mjGEOM_CAPSULE, size=[shape.radius, 0, 0], fromto=ends, **options)
    else:
        body.add_geom(type=kinds.mjGEOM_BOX, size=shape.half, pos=shape.center, quat=shape.turn, **options)


def _find_layout(model: Any, body: SceneBody) -> BodyLayout:
    import mujoco

    j = len(body.tree)
    ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"{body.name}/{name}") for name in body.tree.names]
    kind = np.array([joint.kind for joint in body.joints])
    qadr, vadr, count, axes = np.zeros(j, int), np.zeros(j, int), np.zeros(j, int), np.zeros((j, 2, 3))
    for i, joint in enumerate(body.joints):
        if joint.kind not in (GIVEN, HINGES) or len(joint.axes):
            qadr[i], vadr[i] = model.jnt_qposadr[model.body_jntadr[ids[i]]], model.body_dofadr[ids[i]]
        count[i] = len(joint.axes)
        axes[i, : count[i]] = joint.axes
    given = np.array([i for i in range(1, j) if body.joints[i].kind == GIVEN], int)
    mocap = int(model.body_mocapid[ids[0]])
    bodies = np.array(ids)
    return BodyLayout(kind, qadr, vadr, count, axes, np.array(body.rotations), bodies, given, bodies[given], mocap)
