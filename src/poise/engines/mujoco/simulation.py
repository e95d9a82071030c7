"""MuJoCo behind the protocol of `engines/engine.py`.

Kinematic segments stay in the model as *jointless child bodies* whose pose in their parent is rewritten every step:
their inertia, locked in the present pose, is then exact at no cost, which is what the `exact` coupling needs. A GIVEN
root is a mocap body, or a jointless child of the prop that it rides on. Contacts know the velocity of those segments:
see `engines/mujoco/contacts.py`.

Forces go in as generalised forces, found from the body's own poses: what MuJoCo derives from its state (`xpos` and so
on) is one step old by then. All of this is compiled (`kernels.py`); a step calls it by address, or through `write`,
`step` and `read` if Python has a part in it: a root that rides on a prop, a ground that moves.

Joint damping is MuJoCo's own, which `discrete` integrates implicitly inside the solve for contacts. (`implicitfast`
costs a fiftieth less per step, but solves contacts without the damping: a 1 kg foot under a leg with 20 N m s/rad at
the ankle rocks for seconds at 5 ms, and ever more at 10 ms.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.compiled.arena import Arena
from poise.compiled.law import Block, Law
from poise.engines.contact_log import ContactLog
from poise.engines.engine import BodyContacts, Capabilities, Engine, PropState, Simulation, SimulationLaws, Workspaces
from poise.engines.memory import write_over
from poise.engines.mujoco.contacts import list_things
from poise.engines.mujoco.ground import MujocoCarrier
from poise.engines.mujoco.landing import StagedStep, needs_care
from poise.engines.mujoco.library import build_offsets, find_function, give_memory_back, stop_timers
from poise.engines.mujoco.model import BodyLayout, SceneNames, build_spec, find_layout
from poise.engines.mujoco.workspaces import PendingStep, StateWorkspaces, build_state, find_structure
from poise.engines.scene import BALL, FREE, GIVEN, HINGES, Scene, SceneBody
from poise.errors import InputError
from poise.spatial import rotation
from poise.world.ground.moving import MovingGround
from poise.world.prop import Prop

if TYPE_CHECKING:
    from poise.dynamics.body_kernels import Body
    from poise.engines.mujoco.contact_kernels import ContactList, ContactSums
    from poise.engines.mujoco.kernels import MujocoBody, MujocoScene
_BODY = 1 << 20  # bytes of a body, besides MuJoCo's own
_FUNCTIONS = {"step": "mj_step", "forward": "mj_forward", "solve": "mj_fwdConstraint", "advance": "mj_Euler"}


class MujocoEngine(Engine):
    """MuJoCo 4: exact coupling, hinges, pins, and bodies that ride on props."""

    name = "mujoco"
    abilities = Capabilities(couplings=("exact", "paper"), flights=True, axial=True)

    def build(self, scene: Scene) -> Simulation:
        """A model of the scene with its state."""
        return MujocoSimulation(scene)

    def share(self, threads: int) -> Workspaces:
        """See `Engine.share`."""
        return StateWorkspaces(threads)


class MujocoSimulation(Simulation):
    """One scene in MuJoCo. `model` and `data` are MuJoCo's own, for callers that read them.

    block   the layout `MujocoScene`;  bodies: a `MujocoBody` for each
    """

    def __init__(self, scene: Scene):
        import mujoco

        self.scene = scene
        self._mujoco = mujoco
        # A state that turns non-finite is the stage's to report; MuJoCo would write a log file where the user works.
        mujoco.set_mju_user_warning(lambda message: None)
        stop_timers()
        give_memory_back()
        self._names = SceneNames(scene)
        self.model = _compile(scene, self._names)
        self.away = PendingStep(self.model)
        self._data, self._state = build_state(mujoco.MjData(self.model))
        own = self.model.nbuffer + self._data.nbuffer + self._data.narena
        self.memory_bytes = int(own) + len(scene.bodies) * _BODY
        pairs = zip(scene.bodies, self._names.bodies, strict=True)
        self.layouts = [find_layout(self.model, body, names) for body, names in pairs]
        self._care = StagedStep(self.model, scene, self.layouts) if needs_care(scene, self.model.nv) else None
        self._props = {prop.name: prop for prop in scene.props}
        self._touched: tuple[float, list[BodyContacts]] | None = None  # what was restored, and at what time
        self._lists: dict[int, ContactList] = {}
        self._sums: dict[int, tuple[np.ndarray, ContactSums]] = {}
        self.block = self._build_block()
        self.bodies = [self._build_body(k, layout) for k, layout in enumerate(self.layouts)]
        self._riders = {k: _Rider(body) for k, body in enumerate(scene.bodies) if body.carrier is not None}
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
        """MuJoCo's own data, as the last step left it."""
        if self.away.steps[0]:
            self.away.catch_up(self.model, self._data, self._advance)
        return self._data

    def _build_block(self) -> MujocoScene:
        from poise.engines.mujoco.kernels import MujocoScene

        model, away, care = self.model, self.away, {} if self._care is None else self._care.fields()
        return MujocoScene(
            model=int(model._address), state=self._state.address, own_state=self._state.address,
            offsets=build_offsets().address, dt=model.opt.timestep, nq=model.nq, nv=model.nv,
            before_size=len(away.before), before=away.before, after_size=len(away.after), after=away.after,
            ahead=away.steps, **{name: find_function(function) for name, function in _FUNCTIONS.items()}, **care,
        )  # fmt: skip

    def _build_body(self, body: int, layout: BodyLayout) -> MujocoBody:
        from poise.engines.mujoco.kernels import MujocoBody

        room = Arena(600 * (len(layout.kind) + 1))
        names = ("kind", "qadr", "vadr", "count", "axes", "built", "given", "given_bodies")
        found: dict[str, Any] = {name: room.copy(np.ascontiguousarray(getattr(layout, name))) for name in names}
        if layout.mocap >= 0:
            data = self._data
            found |= {"is_mocap": 1, "mocap_pos": data.mocap_pos[layout.mocap]}
            found["mocap_quat"] = data.mocap_quat[layout.mocap]
        if self.floater is not None:
            found |= {"has_floaters": 1, "geoms": len(self.floater), "floater": self.floater}
        if self._care is not None:
            moved = self._care.moved.rows_of(body)
            found |= {"moved_count": len(moved), "moved": moved}
        return MujocoBody(
            room, scene=self.block.address, number=body, joints=len(layout.kind), given_count=len(layout.given),
            bodies=self.model.nbody, body_quat=self.model.body_quat, nv=self.model.nv,
            dof_damping=self.model.dof_damping, rides=self.scene.bodies[body].carrier is not None,
            is_open=self._is_open, **found,
        )  # fmt: skip

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
        if len(layout.given):
            self.model.body_quat[layout.given_bodies] = body.rotations[layout.given]
        if layout.mocap >= 0:
            data.mocap_pos[layout.mocap], data.mocap_quat[layout.mocap] = body.root, body.rotations[0]

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

    def write(self, body: int, state: Body) -> None:
        """See `Simulation.write`."""
        from poise.engines.mujoco.contact_kernels import move
        from poise.engines.mujoco.kernels import write

        _, x, rider, carrier = self.data, self.bodies[body], self._riders.get(body), self.scene.bodies[body].carrier
        if rider is not None and carrier is not None:
            state = rider.follow(state, self.read_prop(carrier))
        write(state, x)
        if self._care is not None and self._care.is_moving:
            move(state, x)
        if carrier is not None:  # what pushes the rider pushes the prop
            self._push(carrier, state.root, state.n[0], state.f[0])

    def _list_met(self) -> np.ndarray:
        """(n, 2) the shapes that touched each other in the last step."""
        contact = self.data.contact
        return np.asarray(contact.geom[contact.efc_address >= 0])

    @property
    def _is_open(self) -> bool:
        """Whether everything in the scene floats."""
        scene = self.scene
        given = any(body.joints[0].kind == GIVEN or body.pinned for body in scene.bodies)
        return scene.ground is None and not given and all(prop.inertia is not None for prop in scene.props)

    @cached_property
    def floater(self) -> np.ndarray | None:
        """(geoms,) which floating thing each shape is of: bodies by their numbers, then props; -1: it is fixed.

        None: either fixed things or floating things are all that a body can touch.
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

    def set_root_velocity(self, body: int, state: Body) -> None:
        """See `Simulation.set_root_velocity`."""
        from poise.engines.mujoco.kernels import set_root_velocity

        _ = self.data
        set_root_velocity(state, self.bodies[body])

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
        _ = self.data
        self._advance()
        # Forces are for one step: MuJoCo would keep them.
        self.data.qfrc_applied[:] = 0.0
        if self._props:
            self.data.xfrc_applied[:] = 0.0

    @cached_property
    def _step_law(self) -> Law:
        """MuJoCo's own step, or the step in three."""
        from poise.engines.mujoco import kernels, landing_kernels

        return kernels.step if self._care is None else landing_kernels.step

    def _advance(self) -> None:
        """Make a step in MuJoCo's own data."""
        self._step_law(self.block, self.block)

    def read(self, body: int, state: Body) -> None:
        """See `Simulation.read`."""
        from poise.engines.mujoco.kernels import read

        _ = self.data
        read(state, self.bodies[body])

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

        n, found = self.data.ncon, self._lists.get(body)
        if not n:
            return BodyContacts.none()
        if found is None or found.size < 2 * n:
            found = self._lists[body] = self._build_list(body, max(64, 4 * n))
        list_contacts(found, self.block)
        rows = slice(0, int(found.count[0]))
        names = tuple(self._called[b] for b in found.others[rows].tolist())
        return BodyContacts(found.joints[rows].copy(), found.points[rows].copy(), found.forces[rows].copy(), names)

    def _build_list(self, body: int, size: int) -> ContactList:
        from poise.engines.mujoco.contact_kernels import ContactList

        model, landing = self.model, None if self._care is None else self._care.landing
        return ContactList(
            geoms=model.ngeom, base=np.full(model.ngeom, np.nan) if landing is None else landing.base,
            body_of_geom=model.geom_bodyid.astype(np.int64), bodies=model.nbody, joint_of_body=self._joint_of[body],
            size=size,
        )  # fmt: skip

    @cached_property
    def _joint_of(self) -> list[np.ndarray]:
        """(B,) for each body of the scene: which of its joints each of MuJoCo's bodies is; -1: none of its."""
        found = [np.full(self.model.nbody, -1) for _ in self.layouts]
        for layout, joints in zip(self.layouts, found, strict=True):
            joints[layout.bodies] = np.arange(len(layout.bodies))
        return found

    @cached_property
    def _called(self) -> list[str]:
        """The stage's name of each of MuJoCo's bodies."""
        return [self._name(b) for b in range(self.model.nbody)]

    def contact_law(self, log: ContactLog) -> tuple[Law, Block] | None:
        """See `Simulation.contact_law`."""
        from poise.engines.mujoco.contact_kernels import ContactSource, note_contacts

        if not self._is_lawful:
            return None
        thing = list_things(self.model, self.layouts, self._props_at(), log)
        return note_contacts, ContactSource(
            log=log.block.address, scene=self.block.address, geoms=len(thing), thing=thing
        )

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
        from poise.engines.mujoco.contact_kernels import SHORT, ContactSums, sort_contacts

        asked, x = self._sums.get(body, (None, None))
        if x is None or asked is not groups or x.size < 2 * data.ncon:
            group_of_body = np.full(self.model.nbody, -1)
            group_of_body[self.layouts[body].bodies] = groups
            x = ContactSums(
                geoms=self.model.ngeom, body_of_geom=self.model.geom_bodyid.astype(np.int64), bodies=self.model.nbody,
                group_of_body=group_of_body, groups=int(groups.max(initial=-1)) + 1, size=max(64, 4 * data.ncon),
            )  # fmt: skip
            self._sums[body] = groups, x
        sort_contacts(x, self.block)
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
        pos, quat = self.model.body_pos.copy(), self.model.body_quat.copy()
        touched = [self.find_contacts(k).save() for k in range(len(self.bodies))]
        return {"state": state, "body_pos": pos, "body_quat": quat, "touched": touched}

    def restore(self, saved: Any) -> None:
        """See `Simulation.restore`."""
        self.away.steps[0] = 0
        write_over({"body_pos": self.model.body_pos, "body_quat": self.model.body_quat}, saved)
        self._mujoco.mj_setState(self.model, self.data, saved["state"], self._mujoco.mjtState.mjSTATE_INTEGRATION)
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
        """See `Simulation.laws`; None if a root rides on a prop, or the ground moves."""
        from poise.engines.mujoco import contact_kernels
        from poise.engines.mujoco import kernels as laws

        if not self._is_lawful:
            return None
        write = [laws.write]
        if self._care is not None and self._care.is_moving:
            write.append(contact_kernels.move)
        return SimulationLaws(
            write, self._step_law, laws.read, list(self.bodies), self.block, laws.load_state, laws.store_state,
            laws.set_root_velocity,
        )  # fmt: skip

    def _find_prop(self, name: str) -> int:
        return int(self._mujoco.mj_name2id(self.model, self._mujoco.mjtObj.mjOBJ_BODY, self._names.props[name]))

    def _name(self, body: int) -> str:
        if body == 0:
            return "ground"
        return self._names.tell(str(self._mujoco.mj_id2name(self.model, self._mujoco.mjtObj.mjOBJ_BODY, body)))


def _compile(scene: Scene, names: SceneNames) -> Any:
    """Return MuJoCo's model of a scene; raise InputError if MuJoCo refuses it."""
    try:
        return build_spec(scene, names).compile()
    except ValueError as error:
        said = " ".join(str(error).split()).removeprefix("Error: ").rstrip(".")
        who = ", ".join(f"'{body.name}'" for body in scene.bodies[:3])
        raise InputError(f"MuJoCo cannot simulate {who}: {said[:200]}. Mend the body or the props.") from error


@dataclass(eq=False)
class _Rider:
    """A body whose root rides on a prop: its pose as the step begins is that of the prop as it is then.

    seat  what was built, with the root in the prop's frame
    """

    seat: SceneBody
    _body: Body | None = None
    _seen: Body | None = None

    def follow(self, body: Body, prop: PropState) -> Body:
        """Return the body with its root on the prop."""
        from poise.dynamics.body_kernels import Body, pose_bodies

        if self._seen is not body or self._body is None:
            own = ("root", "q", "R", "p", "f", "n")
            shared = {name: array for name, array in body.arrays.items() if name not in own}
            self._seen, self._body = body, Body(joints=body.joints, dt=body.dt, **shared)
        made = self._body
        made.q[:] = body.q
        made.root[:] = prop.position + rotation.rotate(prop.turn, self.seat.root)
        made.q[0] = rotation.multiply(prop.turn, self.seat.rotations[0])
        pose_bodies(made.parents, made.offsets, made.root, made.q, made.R, made.p)
        return made
