"""MuJoCo behind the protocol of `engines/engine.py`.

Kinematic segments stay in the model as *jointless child bodies* whose place in their parent is rewritten every step:
their inertia, locked in the present pose, is then exact at no cost, which is what the `exact` coupling needs. A GIVEN
root is a mocap body, or a jointless child of the prop that it rides on. Contacts know how fast they are: see
`engines/mujoco/contacts.py`.

Forces go in as generalised forces, found here from the state itself: what MuJoCo derives from it (`xpos` and so on)
is one step old by then. Joint damping is MuJoCo's own, which `discrete` integrates implicitly inside the solve for
contacts. (`implicitfast` costs a fiftieth less a step, but solves contacts without the damping: a 1 kg foot under a leg
with 20 N m s/rad at the ankle rocks for seconds at 5 ms, and ever more at 10 ms.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poise.compiled.arena import Arena
from poise.compiled.law import Block, Law
from poise.dynamics.tree import Tree
from poise.engines.contact_log import ContactLog
from poise.engines.engine import (
    BodyContacts,
    BodyState,
    Capabilities,
    Engine,
    PropState,
    Simulation,
    SimulationLaws,
    Workspaces,
)
from poise.engines.memory import write_over
from poise.engines.mujoco.ground import MujocoCarrier
from poise.engines.mujoco.landing import StagedStep, needs_care
from poise.engines.mujoco.library import find_function, find_offsets, give_memory_back, stop_timers
from poise.engines.mujoco.model import BodyLayout, SceneNames, build_spec, find_layout
from poise.engines.mujoco.workspaces import PendingStep, StateWorkspaces, find_structure
from poise.engines.scene import BALL, FREE, GIVEN, HINGES, Scene, SceneBody
from poise.errors import InputError
from poise.spatial import rotation
from poise.world.ground.moving import MovingGround
from poise.world.prop import Prop

_EVERYWHERE = np.zeros(0)
_BODY = 1 << 20  # bytes of a body, besides MuJoCo's own


class MujocoEngine(Engine):
    """MuJoCo 4: exact coupling, hinges, pins, and bodies that ride on props."""

    name = "mujoco"
    abilities = Capabilities(couplings=("exact", "paper"), nudges=True, flights=True, speeds=True, axial=True)

    def build(self, scene: Scene) -> Simulation:
        """A model of the scene with its state."""
        return MujocoSimulation(scene)

    def share(self, threads: int) -> Workspaces:
        """See `Engine.share`."""
        return StateWorkspaces(threads)


class MujocoSimulation(Simulation):
    """One scene in MuJoCo. `model` and `data` are MuJoCo's own, for whoever wants to look."""

    def __init__(self, scene: Scene):
        import mujoco

        self.scene = scene
        self._mujoco = mujoco
        # A state that turns non-finite is the stage's to tell; MuJoCo would write a log file where the user works.
        mujoco.set_mju_user_warning(lambda message: None)
        stop_timers()
        give_memory_back()
        self._names = SceneNames(scene)
        self.model = _compile(scene, self._names)
        self._data, self.away = mujoco.MjData(self.model), PendingStep(self.model)
        own = self.model.nbuffer + self._data.nbuffer + self._data.narena
        self.memory_bytes = int(own) + len(scene.bodies) * _BODY
        pairs = zip(scene.bodies, self._names.bodies, strict=True)
        self.layouts = [find_layout(self.model, body, names) for body, names in pairs]
        self._care = StagedStep(self.model, scene, self.layouts) if needs_care(scene, self.model.nv) else None
        self._work = [_Work.of(body.tree) for body in scene.bodies]
        self._props = {prop.name: prop for prop in scene.props}
        self._touched: tuple[float, list[BodyContacts]] | None = None  # what was restored, and at what time
        self._scene_block: Block | None = None
        self._body_blocks: list[Block] = []
        self._sorting: dict[int, _Sorting] = {}
        for layout, body in zip(self.layouts, scene.bodies, strict=True):
            self._set_state(layout, body)
        for prop in scene.props:
            self._start_prop(prop)
        self._carrier = None
        if isinstance(scene.ground, MovingGround):
            self._carrier = MujocoCarrier(self.model, scene.ground, scene.gravity, scene.dt)
            self._data.time = scene.time
            self._carrier.place(self._data)
        self._weld_pins()
        mujoco.mj_forward(self.model, self.data)

    @property
    def data(self) -> Any:
        """MuJoCo's own, as the last step left it."""
        if self.away.steps[0]:
            self.away.catch_up(self.model, self._data, self._advance)
        return self._data

    @cached_property
    def structure(self) -> str:
        """See `engines/mujoco/workspaces.py:find_structure`."""
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
            elif joint.kind == HINGES and len(joint.axes) and body.angular_velocity[i].any():
                data.qvel[b : b + len(joint.axes)] = np.linalg.lstsq(
                    joint.axes.T, body.angular_velocity[i], rcond=None
                )[0]
        work = self._work[self.scene.bodies.index(body)]
        work.root[:], work.turn[:] = body.root, body.rotations[0]
        state = BodyState(np.array(body.root), np.array(body.rotations), np.zeros(3), np.zeros((len(body.tree), 3)))
        self.place(self.scene.bodies.index(body), state)

    def _start_prop(self, prop: Prop) -> None:
        """Give a prop the speed that it begins with."""
        if prop.inertia is None:
            return
        v = self.model.body_dofadr[self._find_prop(prop.name)]
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

    def move_pin(self, body: int, joint: int, place: np.ndarray, turn: np.ndarray) -> None:
        """See `Simulation.move_pin`."""
        for k in np.flatnonzero(self.model.eq_obj1id == self.layouts[body].bodies[joint]):
            self.model.eq_data[k, :3], self.model.eq_data[k, 6:10] = place, rotation.conjugate(turn)

    def place(self, body: int, state: BodyState) -> None:
        """See `Simulation.place`."""
        layout, work, data = self.layouts[body], self._work[body], self.data
        if len(layout.given):
            self.model.body_quat[layout.given_bodies] = work.state.q[layout.given] = state.q[layout.given]
        if layout.mocap >= 0:
            work.root[:], work.turn[:] = state.root, state.q[0]
            data.mocap_pos[layout.mocap], data.mocap_quat[layout.mocap] = state.root, state.q[0]

    def apply(
        self, body: int, torque: np.ndarray, damping: np.ndarray, wrench: np.ndarray, axial: np.ndarray | None = None
    ) -> None:
        """See `Simulation.apply`."""
        from poise.dynamics import body_kernels
        from poise.engines.mujoco import kernels
        from poise.engines.mujoco.kernels import gather_wrenches

        x, work, tree = self.layouts[body], self._work[body], self.scene.bodies[body].tree
        carrier = self.scene.bodies[body].carrier
        self.read(body, work.state)
        if x.kind[0] == GIVEN:
            work.state.root[:], work.state.q[0] = work.root, work.turn
            if carrier is not None:
                at, turn, _, _ = self.read_prop(carrier)
                work.state.root[:] = at + rotation.rotate(turn, work.root)
                work.state.q[0] = rotation.multiply(turn, work.turn)
        body_kernels.pose_bodies(tree.parents, tree.offsets, work.state.root, work.state.q, work.R, work.p)
        gather_wrenches(x.kind, tree.parents, work.p, wrench, torque, work.f, work.n)
        kernels.write_forces(
            x.kind, x.qadr, x.vadr, x.count, x.axes, self.data.qpos, work.R, work.f[0], work.n, damping,
            np.zeros((len(tree), 3)) if axial is None else axial, self.data.qfrc_applied, self.model.dof_damping,
        )  # fmt: skip
        if carrier is not None:
            # What pushes the rider pushes what carries it.
            self._push(carrier, work.state.root, work.n[0], work.f[0])

    def nudge(self, body: int, joint: int, turn: np.ndarray) -> None:
        """See `Simulation.nudge`."""
        from poise.engines.mujoco import kernels

        layout, work = self.layouts[body], self._work[body]
        if layout.kind[joint] == BALL:
            kernels.nudge(self.data.qpos, layout.qadr[joint], work.R[joint], turn)

    def is_aloft(self, body: int) -> bool:
        """See `Simulation.is_aloft`."""
        from poise.engines.mujoco.kernels import is_aloft

        x = self.layouts[body]
        if self._care is not None and self._care.is_unsolved:
            return bool(is_aloft(x.kind, x.vadr, self.data.qfrc_constraint, False))
        if is_aloft(x.kind, x.vadr, self.data.qfrc_constraint, self._is_open):
            return True
        if self.floater is None or x.kind[0] != FREE:
            return False
        pairs = self.floater[self._list_met()]
        return not bool(np.any((pairs == body) & (pairs[:, ::-1] < 0)))

    def _list_met(self) -> np.ndarray:
        """(n, 2) the shapes that touched each other in the last step."""
        contact = self.data.contact
        return np.asarray(contact.geom[contact.efc_address >= 0])

    def find_outside(self, body: int) -> np.ndarray:
        """See `Simulation.find_outside`."""
        start = self.layouts[body].vadr[0]
        return self.data.qfrc_constraint[start : start + 6].copy()

    @property
    def _is_open(self) -> bool:
        """Whether everything in the scene floats."""
        scene = self.scene
        given = any(body.joints[0].kind == GIVEN or body.pinned for body in scene.bodies)
        return scene.ground is None and not given and all(prop.inertia is not None for prop in scene.props)

    @cached_property
    def floater(self) -> np.ndarray | None:
        """(geoms,) which thing each shape is of that floats: bodies by their numbers, then props; -1: it stands fast.

        None: there is nothing else to touch than what stands fast, or nothing that does.
        """
        scene, things = self.scene, np.full(self.model.nbody, -1, np.int64)
        for k, (body, layout) in enumerate(zip(scene.bodies, self.layouts, strict=True)):
            if body.joints[0].kind == FREE and not body.pinned:
                things[layout.bodies] = k
        for k, prop in enumerate(scene.props):
            if prop.inertia is not None and prop.hinge is None:
                things[self._find_prop(prop.name)] = len(scene.bodies) + k
        if self._is_open or len(set(things[things >= 0].tolist())) < 2:
            return None
        return np.ascontiguousarray(things[self.model.geom_bodyid])

    def steer(self, body: int, state: BodyState) -> None:
        """See `Simulation.steer`."""
        from poise.engines.mujoco.kernels import steer_root

        x = self.layouts[body]
        steer_root(x.kind, x.vadr, state.v, state.w, self.data.qvel)

    def speed(self, body: int, state: BodyState, dw: np.ndarray, a: np.ndarray) -> None:
        """See `Simulation.speed`."""
        if self._care is None or not self._care.is_moving:
            return
        from poise.engines.mujoco.contact_kernels import move_segments

        work, tree = self._work[body], self.scene.bodies[body].tree
        move_segments(
            self.layouts[body].kind, tree.parents, self.scene.bodies[body].carrier is not None, self.scene.dt, work.R,
            work.p, state.w, dw, state.v, a, self._care.moved.rows_of(body),
        )  # fmt: skip

    def push_prop(self, name: str, wrench: np.ndarray) -> None:
        """See `Simulation.push_prop`."""
        self._push(name, self.read_prop(name)[0], wrench[:3], wrench[3:])

    def _push(self, name: str, at: np.ndarray, torque: np.ndarray, force: np.ndarray) -> None:
        """Add a wrench about a point of the world to what acts on a prop."""
        inertia = self._props[name].inertia
        if inertia is None:
            return
        position, turn, _, _ = self.read_prop(name)
        row = self.data.xfrc_applied[self._find_prop(name)]
        # MuJoCo's wrench acts at the body's centre of mass.
        lever = at - position - rotation.rotate(turn, inertia.center)
        row[:3] += force
        row[3:] += torque + np.cross(lever, force)

    def step(self) -> None:
        """See `Simulation.step`."""
        if self._carrier is not None:
            self._carrier.place(self.data)
        self._advance(self.model, self.data)
        # Forces are for one step: MuJoCo would keep them.
        self.data.qfrc_applied[:] = 0.0
        if self._props:
            self.data.xfrc_applied[:] = 0.0

    def _advance(self, model: Any, data: Any) -> None:
        """MuJoCo's own step."""
        if self._care is not None:
            self._care.step(model, data)
        else:
            self._mujoco.mj_step(model, data)

    def read(self, body: int, state: BodyState) -> None:
        """See `Simulation.read`."""
        from poise.engines.mujoco import kernels

        x = self.layouts[body]
        kernels.read_body(
            x.kind, x.qadr, x.vadr, x.count, x.axes, x.built, self.data.qpos, self.data.qvel,
            state.root, state.q, state.v, state.w,
        )  # fmt: skip

    def read_prop(self, name: str) -> PropState:
        """See `Simulation.read_prop`."""
        prop, b = self._props[name], self._find_prop(name)
        if prop.inertia is None:
            return PropState(prop.position, prop.turn, np.zeros(3), np.zeros(3))
        a, v = self.model.jnt_qposadr[self.model.body_jntadr[b]], self.model.body_dofadr[b]
        qpos, qvel = self.data.qpos, self.data.qvel
        if prop.hinge is None:
            turn = qpos[a + 3 : a + 7].copy()
            spin = rotation.rotate(turn, qvel[v + 3 : v + 6])
            return PropState(qpos[a : a + 3].copy(), turn, qvel[v : v + 3].copy(), spin)
        turn = rotation.multiply(prop.turn, rotation.from_axis_angle(prop.hinge.axis, float(qpos[a])))
        pivot = prop.position + rotation.rotate(prop.turn, prop.hinge.point)
        position = pivot - rotation.rotate(turn, prop.hinge.point)
        spin = rotation.rotate(turn, prop.hinge.axis) * qvel[v]
        return PropState(position, turn, np.cross(spin, position - pivot), spin)

    @property
    def _is_restored(self) -> bool:
        """Whether it was restored and has not stepped since: contacts in `data` are then those of another step."""
        return self._touched is not None and self._touched[0] == self.data.time

    def find_contacts(self, body: int) -> BodyContacts:
        """See `Simulation.find_contacts`."""
        if self._touched is not None and self._is_restored:
            return self._touched[1][body]
        from poise.engines.mujoco.contact_kernels import list_contacts

        contact, data, n = self.data.contact, self.data, self.data.ncon
        if not n:
            return BodyContacts.none()
        landing = None if self._care is None else self._care.landing
        joints, others = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
        points, forces = np.empty((2 * n, 3)), np.empty((2 * n, 3))
        count = list_contacts(
            contact.efc_address, contact.geom, contact.frame, contact.pos, contact.dist, data.efc_force,
            landing.base if landing is not None else _EVERYWHERE, self.model.geom_bodyid, self._joint_of[body],
            joints, others, points, forces,
        )  # fmt: skip
        names = tuple(self._called[b] for b in others[:count].tolist())
        return BodyContacts(joints[:count], points[:count], forces[:count], names)

    @cached_property
    def _joint_of(self) -> list[np.ndarray]:
        """(B,) for each body of the scene: which of its joints each of MuJoCo's bodies is; -1: none of its."""
        found = [np.full(self.model.nbody, -1) for _ in self.layouts]
        for layout, joints in zip(self.layouts, found, strict=True):
            joints[layout.bodies] = np.arange(len(layout.bodies))
        return found

    @cached_property
    def _called(self) -> list[str]:
        """What each of MuJoCo's bodies is called."""
        return [self._name(b) for b in range(self.model.nbody)]

    def feel(self, hits: ContactLog) -> tuple[Law, Block] | None:
        """See `Simulation.feel`."""
        from poise.engines.mujoco.contacts import build_source

        return None if self._scene_block is None else build_source(self.model, self.layouts, self._props_at(), hits,
                                                                   self._scene_block)  # fmt: skip

    def _props_at(self) -> list[int]:
        return [self._find_prop(name) for name in self._props]

    def press(self, body: int, groups: np.ndarray, force: np.ndarray, pressure: np.ndarray) -> bool:
        """Write the force (G, 3) N on each group of a body's joints and its centre (G, 3) m, where one is pressed up.

        groups  (J,) int, of each joint; -1 for one in none

        The sums of what `find_contacts` finds, in the same order, in a tenth of the time. False, and nothing written,
        where there are so few contacts that it is not worth it.
        """
        data = self.data
        if data.ncon < 2 or self._is_restored:
            return False
        from poise.engines.mujoco.contact_kernels import SHORT, sort_contacts

        x, contact = self._sorting.get(body), data.contact
        if x is None or x.asked is not groups or x.forces.shape[1] < 2 * data.ncon:
            x = self._sorting[body] = _Sorting.of(groups, self.layouts[body].bodies, self.model, data.ncon)
        sort_contacts(
            contact.efc_address, contact.geom, contact.frame, contact.pos, data.efc_force, x.body_of_geom,
            x.group_of_body, x.forces, x.points, x.counts, x.totals,
        )  # fmt: skip
        for k, count in enumerate(x.counts.tolist()):
            upward, total = x.forces[k, :count, 1], x.totals[k]
            load = total[1] if count < SHORT else np.add.reduce(upward)  # NumPy adds up longer rows in another order
            if load > 0.0:
                force[k] = total
                np.divide(upward @ x.points[k, :count], load, out=pressure[k])
        return True

    def save(self) -> Any:
        """See `Simulation.save`."""
        size = self._mujoco.mj_stateSize(self.model, self._mujoco.mjtState.mjSTATE_INTEGRATION)
        state = np.empty(size)
        self._mujoco.mj_getState(self.model, self.data, state, self._mujoco.mjtState.mjSTATE_INTEGRATION)
        placed = [{"root": x.root.copy(), "turn": x.turn.copy(), "q": x.state.q.copy()} for x in self._work]
        pos, quat = self.model.body_pos.copy(), self.model.body_quat.copy()
        touched = [self.find_contacts(k).save() for k in range(len(self._work))]
        return {"state": state, "body_pos": pos, "body_quat": quat, "placed": placed, "touched": touched}

    def restore(self, saved: Any) -> None:
        """See `Simulation.restore`."""
        self.away.steps[0] = 0
        write_over({"body_pos": self.model.body_pos, "body_quat": self.model.body_quat}, saved)
        self._mujoco.mj_setState(self.model, self.data, saved["state"], self._mujoco.mjtState.mjSTATE_INTEGRATION)
        for work, placed in zip(self._work, saved["placed"], strict=True):
            write_over({"root": work.root, "turn": work.turn, "q": work.state.q}, placed)
        # MuJoCo's own contacts are those of its last step, which is another one.
        self._touched = float(self.data.time), [BodyContacts.load(each) for each in saved["touched"]]

    @property
    def can_move(self) -> bool:
        """Whether its state can be taken to another `MjData`: one body, and nothing else that moves."""
        return len(self.scene.bodies) == 1 and self.layouts[0].mocap < 0 and self._is_lawful

    @property
    def _is_lawful(self) -> bool:
        return self._carrier is None and all(body.carrier is None for body in self.scene.bodies)

    def laws(self, bodies: list[Block]) -> SimulationLaws | None:
        """See `Simulation.laws`. Riding on a prop, which is pushed, and ground that moves are done in Python."""
        from poise.engines.mujoco import kernels as laws

        moved = self._care.fields(self.model) if self._care is not None else {}
        if not self._is_lawful or moved is None:
            return None
        data, away = self.data, self.away
        own = {
            "qpos": data.qpos, "qvel": data.qvel, "warm": data.qacc_warmstart, "force": data.qfrc_applied,
            "constraint": data.qfrc_constraint,
        }  # fmt: skip
        if self.floater is not None:
            moved = {**{name: at for name, at in (find_offsets() or {}).items() if name != "force"}, **moved}
        if self._scene_block is None:
            self._scene_block = Block(
                laws.DATA, step=find_function("mj_step"), model=int(self.model._address), data=int(data._address),
                own_data=int(data._address), nq=self.model.nq, nv=self.model.nv, before=away.before, after=away.after,
                ahead=away.steps, **own, **{f"own_{name}": array for name, array in own.items()}, **moved,
            )  # fmt: skip
            self._body_blocks = [self._body_block(k, layout) for k, layout in enumerate(self.layouts)]
        step, move = laws.step, None
        if self._care is not None:
            from poise.engines.mujoco import contact_kernels, landing_kernels

            step, move = landing_kernels.step, contact_kernels.move if self._care.is_moving else None
        return SimulationLaws(
            laws.take,
            step,
            laws.read,
            self._body_blocks,
            self._scene_block,
            laws.load_state,
            laws.store_state,
            laws.steer,
            move,
        )

    def _body_block(self, body: int, layout: BodyLayout) -> Block:
        from poise.engines.mujoco.kernels import PLACES

        names = ("kind", "qadr", "vadr", "count", "axes", "built", "given", "given_bodies")
        room = Arena(600 * (len(layout.kind) + 1))
        made = Block(
            PLACES, room, data=self._scene_block.address if self._scene_block is not None else 0,
            given_count=len(layout.given), bodies=self.model.nbody, dof_damping=self.model.dof_damping,
            body_quat=self.model.body_quat, is_open=self._is_open,
            **{name: room.copy(np.ascontiguousarray(getattr(layout, name))) for name in names},
        )  # fmt: skip
        if self.floater is not None and find_offsets() is not None:
            made.set(floater=self.floater, geoms=len(self.floater), number=body)
        if layout.mocap >= 0:
            made.set(mocap_pos=self.data.mocap_pos[layout.mocap], mocap_quat=self.data.mocap_quat[layout.mocap])
        if self._care is not None:
            made.set(moved=self._care.moved.rows_of(body))
        return made

    def _find_prop(self, name: str) -> int:
        return int(self._mujoco.mj_name2id(self.model, self._mujoco.mjtObj.mjOBJ_BODY, self._names.props[name]))

    def _name(self, body: int) -> str:
        if body == 0:
            return "ground"
        return self._names.tell(str(self._mujoco.mj_id2name(self.model, self._mujoco.mjtObj.mjOBJ_BODY, body)))


def _compile(scene: Scene, names: SceneNames) -> Any:
    """MuJoCo's model of a scene; what it refuses is told in words."""
    try:
        return build_spec(scene, names).compile()
    except ValueError as error:
        said = " ".join(str(error).split()).removeprefix("Error: ").rstrip(".")
        who = ", ".join(f"'{body.name}'" for body in scene.bodies[:3])
        raise InputError(f"MuJoCo cannot simulate {who}: {said[:200]}. Mend the body or the props.") from error


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


@dataclass(frozen=True, eq=False)
class _Sorting:
    """Arrays that `press` works in, for one body and the groups of its joints that were asked for."""

    asked: np.ndarray
    body_of_geom: np.ndarray
    group_of_body: np.ndarray
    forces: np.ndarray
    points: np.ndarray
    counts: np.ndarray
    totals: np.ndarray

    @staticmethod
    def of(groups: np.ndarray, bodies: np.ndarray, model: Any, contacts: int) -> _Sorting:
        group_of_body = np.full(model.nbody, -1)
        group_of_body[bodies] = groups
        count = int(groups.max(initial=-1)) + 1
        room = (count, max(64, 4 * contacts), 3)  # a contact may be of two segments of one group
        totals = np.zeros((count, 3))
        forces, points, counts = np.zeros(room), np.zeros(room), np.zeros(count, np.int64)
        return _Sorting(groups, model.geom_bodyid.copy(), group_of_body, forces, points, counts, totals)
