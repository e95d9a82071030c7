"""A body whose arm is given and touches things, and the same body whole in plain MuJoCo, made to move the same way.

`Whole` knows nothing of Poise: a model of its own whose joints are MuJoCo's, held to the same angles by servos so stiff
that nothing moves them. `Mixed` is Poise's engine with the arm's joints GIVEN, and the coupling of the stage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import mujoco
import numpy as np

from helpers.engine_verbs import Verbs
from poise.body.geometry.primitives import Box, Shape, Sphere
from poise.dynamics import body_kernels
from poise.dynamics.tree import GRAVITY, Tree
from poise.engines.engine import BodyState, Engine
from poise.engines.scene import FREE, GIVEN, Joint, Scene, SceneBody
from poise.spatial import rotation
from poise.stage.coupling import kernels as coupling
from poise.world.ground.ground import Ground
from poise.world.prop import Prop

# Angle, velocity and acceleration of a joint, or place of the root along x, at a time.
Motion = Callable[[float], tuple[float, float, float]]
NAMES = ("trunk", "upper", "lower", "hand")
OFFSETS = np.array([[0.0, 0, 0], [0.2, 0.3, 0], [0.3, 0, 0], [0.25, 0, 0]])
MASSES = np.array([40.0, 2.0, 1.2, 0.5])
CENTERS = np.array([[0.0, 0.1, 0], [0.15, 0, 0], [0.12, 0, 0], [0.05, 0, 0]])
MOMENTS = np.array([[1.5, 0.6, 1.4], [0.003, 0.02, 0.02], [0.002, 0.009, 0.009], [4e-4, 6e-4, 6e-4]])
HAND = 3
TRUNK_AT = np.array([0.0, 1.0, 0.0])


def still(_t: float) -> tuple[float, float, float]:
    return 0.0, 0.0, 0.0


def swing(size: float, seconds: float, start: float = 0.0) -> Motion:
    """From `start` by `size` and back again and again, seconds each way, smoothly."""
    w = np.pi / seconds

    def move(t: float) -> tuple[float, float, float]:
        c, s = np.cos(w * t), np.sin(w * t)
        return start + 0.5 * size * (1 - c), 0.5 * size * w * s, 0.5 * size * w * w * c

    return move


@dataclass
class Case:
    """axes of shoulder and elbow; what moves them and a GIVEN root along x (None: the trunk floats)."""

    prop: Prop | None = None
    hand: Shape = field(default_factory=lambda: Sphere(np.array([0.05, 0, 0]), 0.05))
    shoulder: Motion = still
    elbow: Motion = still
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    root: Motion | None = None
    gravity: float = 0.0
    ground: bool = False
    friction: float = 0.8


@dataclass
class Run:
    """times (n,); force (n,) N between hand and prop; prop (n, 3) m and speed (n, 3); trunk (n, 3) m/s."""

    force: np.ndarray
    prop: np.ndarray
    speed: np.ndarray
    trunk: np.ndarray
    spin: np.ndarray


class Mixed:
    """The arm GIVEN, in an engine of Poise's."""

    def __init__(self, case: Case, dt: float, engine: Engine, is_told: bool = True):
        self.case, self.dt, self.is_told = case, dt, is_told
        self.tree = Tree(
            NAMES, np.array([-1, 0, 1, 2]), OFFSETS, MASSES, CENTERS, np.array([np.diag(each) for each in MOMENTS])
        )
        self.given = np.array([case.root is not None, True, True, True])
        self.state, self.dw, self.a = BodyState.zeros(4), np.zeros((4, 3)), np.zeros(3)
        self.state.root[:] = TRUNK_AT
        self.give(0.0)
        kinds = tuple(Joint(GIVEN if given else FREE) for given in self.given)
        s = self.state
        body = SceneBody(
            "body", self.tree, kinds, s.root.copy(), s.q.copy(), s.v.copy(), s.w.copy(), shapes=((HAND, case.hand),)
        )
        ground = Ground(friction=case.friction) if case.ground else None
        props = (case.prop,) if case.prop is not None else ()
        gravity = np.array([0.0, -case.gravity, 0.0])
        self.simulation = Verbs(engine.build(Scene((body,), props, ground, dt, gravity)))
        self.time = 0.0

    def give(self, t: float) -> None:
        axis = np.array(self.case.axis)
        for i, motion in ((1, self.case.shoulder), (2, self.case.elbow)):
            angle, rate, change = motion(t)
            self.state.q[i] = rotation.from_axis_angle(axis, angle)
            self.state.w[i], self.dw[i] = rate * axis, change * axis
        if self.case.root is not None:
            x, v, a = self.case.root(t)
            self.state.root[0], self.state.v[0], self.a[0] = x, v, a

    def couple(self) -> np.ndarray:
        tree, s = self.tree, self.state
        R, p, om, v = np.empty((4, 3, 3)), *(np.empty((4, 3)) for _ in range(3))
        body_kernels.pose_bodies(tree.parents, tree.offsets, s.root, s.q, R, p)
        body_kernels.move_bodies(tree.parents, R, p, s.v, s.w, om, v)
        body = body_kernels.Body(
            joints=4, parents=tree.parents, masses=tree.masses, centers=tree.centers, inertias=tree.inertias, R=R, p=p,
            w=s.w, dw=self.dw, a=self.a, om=om,
        )  # fmt: skip
        gain = 0.0 if self.simulation.handles_coupling(0) else 1.0
        given = coupling.Coupling(joints=4, gain=gain, given=self.given, accelerating=self.given, touched=self.given)
        coupling.couple_exact(body, given, body.wrench)
        coupling.hand_to_connectors(tree.parents, self.given, p, body.wrench)
        return body.wrench

    def step(self) -> None:
        simulation = self.simulation
        self.give(self.time + 0.5 * self.dt)
        wrench = self.couple()
        simulation.place(0, self.state)
        simulation.apply(0, np.zeros((4, 3)), np.zeros(4), wrench)
        if self.is_told:
            simulation.speed(0, self.state, self.dw, self.a)
        simulation.step()
        simulation.read(0, self.state)
        self.time += self.dt

    def run(self, seconds: float) -> Run:
        rows = []
        for _ in range(round(seconds / self.dt)):
            self.step()
            touches = self.simulation.find_contacts(0)
            force = np.linalg.norm(touches.forces[touches.joints == HAND].sum(axis=0))
            moves = self.case.prop is not None and self.case.prop.inertia is not None
            prop = self.simulation.read_prop(self.case.prop.name) if moves else (np.zeros(3),) * 4
            rows.append((force, prop[0], prop[2], self.state.v.copy(), self.state.w[0].copy()))
        return Run(*(np.array(column) for column in zip(*rows, strict=True)))


class Whole:
    """The same body in MuJoCo, all of it simulated."""

    def __init__(self, case: Case, dt: float):
        self.case, self.dt = case, dt
        self.model = mujoco.MjModel.from_xml_string(_describe(case, dt))
        self.data = mujoco.MjData(self.model)
        names = [mujoco.mj_id2name(self.model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(self.model.njnt)]
        self.joints = {name: k for k, name in enumerate(names)}
        self.motions = {"shoulder": case.shoulder, "elbow": case.elbow}
        if case.root is not None:
            self.motions["root"] = case.root
        for name, motion in self.motions.items():
            k = self.joints[name]
            place, rate, _ = motion(0.0)
            self.data.qpos[self.model.jnt_qposadr[k]], self.data.qvel[self.model.jnt_dofadr[k]] = place, rate
        if case.prop is not None and case.prop.inertia is not None:
            v = self.model.jnt_dofadr[self.joints["prop"]]
            self.data.qvel[v : v + 3] = case.prop.velocity

    def step(self) -> None:
        for k, motion in enumerate(self.motions.values()):
            self.data.ctrl[2 * k], self.data.ctrl[2 * k + 1], _ = motion(self.data.time + self.dt)
        mujoco.mj_step(self.model, self.data)

    def run(self, seconds: float) -> Run:
        rows, model, data = [], self.model, self.data
        hand = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, "hand")
        force = np.zeros(6)
        for _ in range(round(seconds / self.dt)):
            self.step()
            total = np.zeros(3)
            for k in range(data.ncon):
                if hand in data.contact.geom[k]:
                    mujoco.mj_contactForce(model, data, k, force)
                    total += data.contact.frame[k].reshape(3, 3).T @ force[:3]
            prop = speed = np.zeros(3)
            if "prop" in self.joints:
                k = self.joints["prop"]
                a, v = model.jnt_qposadr[k], model.jnt_dofadr[k]
                prop, speed = data.qpos[a : a + 3].copy(), data.qvel[v : v + 3].copy()
            rows.append((np.linalg.norm(total), prop, speed, data.qvel[:3].copy(), data.qvel[3:6].copy()))
        return Run(*(np.array(column) for column in zip(*rows, strict=True)))


def _numbers(x: object) -> str:
    return " ".join(f"{value:.17g}" for value in np.ravel(np.asarray(x, float)))


def _describe(case: Case, dt: float) -> str:
    touch = f'margin="0.0005" solref="{max(2 * dt, 0.008):.17g} 1" friction="{case.friction} 0.005 0.0001" condim="3"'
    body = '<body name="trunk" pos="0 1 0">' + (
        '<freejoint name="root"/>' if case.root is None else '<joint name="root" type="slide" axis="1 0 0"/>'
    )
    for i in range(4):
        if i:
            body += f'<body name="{NAMES[i]}" pos="{_numbers(OFFSETS[i])}">'
        if i in (1, 2):
            body += f'<joint name="{("", "shoulder", "elbow")[i]}" type="hinge" axis="{_numbers(case.axis)}"/>'
        body += (
            f'<inertial mass="{MASSES[i]}" pos="{_numbers(CENTERS[i])}" diaginertia="{_numbers(MOMENTS[i])}"/>'
        )  # fmt: skip
    body += _geom(case.hand, "hand", touch, 2, 5) + "</body>" * 4
    prop = ""
    if case.prop is not None:
        p = case.prop
        prop = f'<body name="prop" pos="{_numbers(p.position)}" quat="{_numbers(p.turn)}">'
        if p.inertia is not None:
            prop += f'<freejoint name="prop"/><inertial mass="{p.inertia.mass}" pos="{_numbers(p.inertia.center)}"'
            prop += f' diaginertia="{_numbers(np.diag(p.inertia.inertia))}"/>'
        prop += "".join(_geom(shape, f"prop{k}", touch, 4, 5) for k, shape in enumerate(p.shapes)) + "</body>"
    ground = f'<geom type="plane" size="0 0 1" quat="1 -1 0 0" contype="1" conaffinity="0" friction="{case.friction}"/>'
    driven = ["shoulder", "elbow"] + (["root"] if case.root is not None else [])
    servos = "".join(
        f'<general joint="{name}" gainprm="1e9" biastype="affine" biasprm="0 -1e9 0"/>'
        f'<general joint="{name}" gainprm="1e6" biastype="affine" biasprm="0 0 -1e6"/>'
        for name in driven
    )
    return f"""<mujoco><compiler angle="radian"/>
      <option timestep="{dt}" integrator="discrete" cone="elliptic" impratio="100" gravity="0 {-case.gravity} 0"/>
      <worldbody>{ground if case.ground else ""}{body}{prop}</worldbody><actuator>{servos}</actuator></mujoco>"""


def _geom(shape: Shape, name: str, touch: str, kind: int, others: int) -> str:
    at = f'name="{name}" pos="{_numbers(shape.center)}" contype="{kind}" conaffinity="{others}" {touch}'
    if isinstance(shape, Box):
        return f'<geom type="box" size="{_numbers(shape.half)}" quat="{_numbers(shape.turn)}" {at}/>'
    assert isinstance(shape, Sphere)
    return f'<geom type="sphere" size="{shape.radius}" {at}/>'


# What a hand does, and to what.
G = -float(GRAVITY[1])
DOWN = {"shoulder": swing(-0.6, 0.5), "elbow": swing(0.3, 0.5)}
PALM = Box(np.array([0.05, 0, 0]), np.array([0.12, 0.02, 0.12]))
LONG = Sphere(np.array([0.05, -1.2, 0]), 0.05)  # a hand that reaches down to the floor
STRIKES = {
    "ball": Case(Prop.sphere("ball", 0.05, 0.4, (0.8, 1.15, 0)), **DOWN),
    "heavy": Case(Prop.sphere("heavy", 0.1, 30.0, (0.8, 1.08, 0)), **DOWN),
    "drum": Case(
        Prop.box("drum", (0.3, 0.1, 0.3), None, (0.8, 1.1, 0)),
        shoulder=swing(-0.5, 0.25),
        elbow=swing(-0.1, 0.25),
    ),
    "box on the floor": Case(
        Prop.box("box", (0.2, 0.2, 0.2), 3.0, (0.75, 0.1, -0.25)), LONG, swing(1.2, 0.7), axis=(0.0, 1.0, 0.0),
        root=still, gravity=G, ground=True, friction=0.5,
    ),
}  # fmt: skip
CARRIED = Case(
    Prop.box("box", (0.1, 0.1, 0.1), 2.0, (0.8, 1.3702, 0)), PALM, root=swing(0.8, 0.8), gravity=G
)  # fmt: skip
