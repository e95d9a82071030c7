"""MuJoCo's model of a scene: which bodies, joints and shapes there are, and where Poise's joints are among them.

Kinematic segments are *jointless child bodies*; see `simulation.py`.

Options, each measured (design notes, and the table in docs/crowd.md): elliptic cones with impratio 100, without which
feet creep under a steady sideways load; Newton's solver, which converges in one to three iterations here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.geometry.primitives import Capsule, Shape, Sphere
from poise.body.role_finding.names import fit_name
from poise.engines.mujoco.ground import NAME, add_ground
from poise.engines.scene import BALL, FREE, GIVEN, HINGES, Joint, Scene, SceneBody, Thing
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.world.contact_settings import find_damping
from poise.world.prop import Prop

# MuJoCo wants mass and inertia in every body that moves; so little is lost in round-off beside a segment's.
TRACE_MASS, TRACE_INERTIA = 1e-9, 1e-12
MEMORY = 1 << 20  # bytes for contacts and the solver, a body: some ten times what 30 contacts take
SKIN = 5e-4  # m: a body at rest on its feet sinks in by about this much
_SIX = (np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2]))
# Bits that say who may touch whom: the ground, props, and kinds of bodies (`Scene.find_kinds`) from the third on.
_GROUND, _PROP, _KINDS = 1, 2, range(2, 31)
_HARD = 0.02  # s: MuJoCo's own softness, which the ground has
# Damping over critical, where a body falls: what is in something is pushed out by 1.4 % of its depth a step. With 11 %,
# at 1, arms that a drop begins with 20 mm in the trunk give the body 2 % of its height.
_SLOWLY = 3.0
# rad/s, the least frequency of a contact that bounces: what meets it at 8 m/s sinks in by 80 mm. With 27 rad/s, which a
# bounce of 0.9 would need at 2 ms, a ball goes through a trunk.
_FIRM = 100.0


@dataclass(frozen=True, eq=False)
class BodyLayout:
    """Where a body's joints are in the model; the arrays that `engines/mujoco/kernels.py` read.

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


def build_spec(scene: Scene, names: SceneNames | None = None) -> Any:
    """A specification of the scene; `compile` makes a model of it. names: what everything is called there."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.memory = MEMORY * (1 + len(scene.bodies)) * (1 if scene.meets is None else 2)
    spec.compiler.degree = False
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    option = spec.option
    option.timestep, option.gravity = scene.dt, scene.gravity
    option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    # A state that turned non-finite must be seen, not silently reset.
    option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    # Stages of the step that have nothing to do here, and take a fiftieth of it to find that out.
    pins = [] if any(body.pinned for body in scene.bodies) else ["EQUALITY"]
    # FILTERPARENT: MuJoCo takes all given segments for one body, and what hangs on one would touch none of them. The
    # scene says which pairs are apart.
    for idle in ("FRICTIONLOSS", "SPRING", "ACTUATION", "SENSOR", "CLAMPCTRL", "MIDPHASE", "FILTERPARENT", *pins):
        option.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{idle}")
    # One body is one island: looking for more costs a twelfth of the step.
    if len(scene.bodies) == 1 and not scene.props:
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
    if scene.ground is not None:
        add_ground(spec, scene.ground, _GROUND, _tell_ground(scene))
    names = SceneNames(scene) if names is None else names
    bodies = {prop.name: _add_prop(spec, prop, scene, names.props[prop.name]) for prop in scene.props}
    masks = _find_masks(scene)
    for body, own, mask in zip(scene.bodies, names.bodies, masks, strict=True):
        _add_body(spec, body, scene, bodies.get(body.carrier or ""), own, mask)
    for a, b in (*scene.apart, *_list_strangers(scene, masks), *_list_seated(scene)):
        spec.add_exclude(bodyname1=_name(names, a), bodyname2=_name(names, b))
    return spec


def _list_seated(scene: Scene) -> list[tuple[Thing, Thing]]:
    """Segments that hang on those that ride on a prop, with that prop: a thigh is in its seat."""
    found: list[tuple[Thing, Thing]] = []
    for k, body in enumerate(scene.bodies):
        rides = [body.carrier is not None]
        for i in range(1, len(body.joints)):
            parent = int(body.tree.parents[i])
            hangs = rides[parent] and body.joints[parent].is_given
            rides.append(hangs)
            if hangs and not body.joints[i].is_given and body.carrier is not None:
                found.append(((k, i), body.carrier))
    return found


def _find_masks(scene: Scene) -> list[tuple[int, int]]:
    """Return collision masks of each body: what it is, and what it touches, in bits."""
    kinds, meets = scene.find_kinds()
    bits = [1 << _KINDS[kind % len(_KINDS)] for kind in range(len(meets))]
    others = [sum({bit for bit, met in zip(bits, row, strict=True) if met}) for row in meets]
    always = _GROUND | (_PROP if scene.touch.props else 0)
    return [(bits[kind], always | others[kind]) for kind in kinds]


def _list_strangers(scene: Scene, masks: list[tuple[int, int]]) -> list[tuple[Thing, Thing]]:
    """Pairs of segments that the bits let touch and that do not: there are more kinds of bodies than bits."""
    if scene.meets is None or len(scene.find_kinds()[1]) <= len(_KINDS):
        return []
    touching = [sorted({joint for joint, _ in body.shapes}) for body in scene.bodies]
    return [
        ((a, i), (b, j))
        for a, (own, _) in enumerate(masks)
        for b in range(a, len(masks))
        if own & masks[b][1] and not scene.meets[a, b]
        for i in touching[a]
        for j in touching[b]
        if a != b or i < j
    ]


def _name(names: SceneNames, thing: Thing) -> str:
    return names.props[thing] if isinstance(thing, str) else names.bodies[thing[0]][thing[1]]


def _tell_ground(scene: Scene) -> dict[str, Any]:
    """Return the options that keep the ground's own stiffness and friction, whatever those of bodies and props are."""
    if scene.touch.softness == 0.0 and scene.touch.friction is None and scene.touch.bounce == 0.0:
        return {}
    return {"priority": 2, "solref": [0.5 * (_HARD + _find_softness(scene, 0.0)), 1.0]}


def _find_softness(scene: Scene, softness: float) -> float:
    """Return MuJoCo's time constant (s): as stiff as the step allows, or softer."""
    return max(2.0 * scene.dt, 0.008, softness)


def _find_bounce(scene: Scene) -> list[float]:
    """Time constant (s) and damping ratio of what bounces: the spring's frequency is 1 over their product.

    The step is implicit, which damps by itself: w dt / 2 of critical. Where that is more than is wanted, things part
    with less speed: a softer spring would let them through one another.
    """
    wanted = find_damping(scene.touch.bounce)
    omega = max(min(0.5, 1.6 * wanted) / scene.dt, min(_FIRM, 0.5 / scene.dt))
    if scene.touch.softness > 0.0:
        omega = min(omega, 1.0 / scene.touch.softness)
    ratio = max(wanted - 0.5 * omega * scene.dt, 1e-3)
    return [1.0 / (omega * ratio), ratio]


class SceneNames:
    """Names in MuJoCo of all bodies and props of a scene.

    props   name -> its body's
    bodies  of each body: its joints' bodies', in order
    """

    def __init__(self, scene: Scene):
        taken = {"world", NAME}  # MuJoCo's own, and the ground's
        self.props = {prop.name: fit_name(f"prop/{prop.name}", taken) for prop in scene.props}
        self.bodies = [[fit_name(f"{body.name}/{name}", taken) for name in body.tree.names] for body in scene.bodies]
        told = {fitted: name for name, fitted in self.props.items()}
        for body, own in zip(scene.bodies, self.bodies, strict=True):
            told |= {fitted: f"{body.name}/{name}" for fitted, name in zip(own, body.tree.names, strict=True)}
        self._told = told

    def tell(self, fitted: str) -> str:
        """Return the stage's name of one of MuJoCo's bodies: a prop by its name, a segment as actor/joint."""
        return self._told.get(fitted, fitted)


def _add_prop(spec: Any, prop: Prop, scene: Scene, name: str) -> Any:
    import mujoco

    body = spec.worldbody.add_body(name=name, pos=prop.position, quat=prop.turn)
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
            _add_geom(body, shape, (_PROP, _GROUND | _PROP), scene, prop.friction)
    return body


def _add_body(spec: Any, body: SceneBody, scene: Scene, carrier: Any, names: list[str], mask: tuple[int, int]) -> None:
    import mujoco

    made: list[Any] = []
    tree = body.tree
    for i, joint in enumerate(body.joints):
        parent = made[int(tree.parents[i])] if i else (carrier if carrier is not None else spec.worldbody)
        place = tree.offsets[i] if i else body.root
        made.append(parent.add_body(name=names[i], pos=place, quat=_built(joint.kind, body, i)))
        if joint.kind == GIVEN and i == 0 and carrier is None:
            made[i].mocap = True
        _add_joint(made[i], joint)
        has_mass = joint.kind != GIVEN or body.is_locked
        _set_inertia(made[i], tree.body(i) if has_mass else RigidInertia.zero())
    for i, shape in body.shapes:
        _add_geom(made[i], shape, mask, scene, is_hard=body.is_hard)
    for i in body.pinned:
        pin = spec.add_equality(type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY, name1=names[i])
        pin.solref, pin.solimp = [2.0 * scene.dt, 1.0], [0.9999, 0.9999, 0.001, 0.5, 2.0]


def _add_joint(body: Any, joint: Joint) -> None:
    """Add what moves a body: none if it is prescribed."""
    import mujoco

    if joint.kind == FREE:
        body.add_freejoint()
    elif joint.kind == BALL:
        body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
    elif joint.kind == HINGES:
        for axis, reach in zip(joint.axes, joint.ranges, strict=True):
            limited = bool(np.all(np.isfinite(reach)))
            body.add_joint(
                type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, range=reach if limited else [0, 0],
                limited=mujoco.mjtLimited.mjLIMITED_TRUE if limited else mujoco.mjtLimited.mjLIMITED_FALSE,
            )  # fmt: skip


def _built(kind: int, body: SceneBody, i: int) -> np.ndarray:
    """MuJoCo's `body_quat`: balls and free roots count from the identity, hinges from the pose they are built at."""
    return rotation.identity() if kind in (FREE, BALL) else np.asarray(body.rotations[i])


def _set_inertia(body: Any, inertia: RigidInertia) -> None:
    body.explicitinertial = True
    if inertia.mass > TRACE_MASS:
        body.mass, body.ipos = inertia.mass, inertia.center
        tensor = inertia.inertia
        if not _is_solid(tensor) and np.linalg.eigvalsh(tensor)[0] < TRACE_INERTIA:  # a point or a line of mass
            tensor = tensor + TRACE_INERTIA * np.eye(3)
        body.fullinertia = tensor[_SIX]
    else:
        body.mass, body.inertia = TRACE_MASS, [TRACE_INERTIA] * 3


def _is_solid(tensor: np.ndarray) -> bool:
    """Whether all moments are surely above the trace's: by the circles of the rows (Gershgorin)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = tensor.tolist()
    return min(xx - abs(xy) - abs(xz), yy - abs(yx) - abs(yz), zz - abs(zx) - abs(zy)) > 2.0 * TRACE_INERTIA


def _add_geom(
    body: Any, shape: Shape, mask: tuple[int, int], scene: Scene, friction: float | None = None, is_hard: bool = False
) -> None:
    import mujoco

    ground = scene.ground.friction if scene.ground is not None else 0.8
    common = ground if scene.touch.friction is None else scene.touch.friction
    options: dict[str, Any] = {"contype": mask[0], "conaffinity": mask[1], "condim": 3}
    options["friction"] = [common if friction is None else friction, 0.005, 0.0001]
    # Of two that touch, the one that comes first says how; of equals, the rougher one.
    options["priority"] = 0 if friction is None else 3
    # Contacts begin a little early and are as stiff as the step allows: feet rest at the ground's height, not in it.
    options |= {"margin": SKIN, "solref": [_find_softness(scene, scene.touch.softness), 1.0]}
    if is_hard and scene.touch.softness == 0.0:
        # Without priority the ground's own default, 20 ms, counts half. A landing heel has the leg behind it, which
        # MuJoCo's measure of softness, the foot's own inertia, does not know: with the usual 0.95 it is 50 to 140 mm
        # under the ground, and what pushes it out again gives up to 3 % of the body's height.
        options |= {"solref": [2.0 * scene.dt, _SLOWLY], "solimp": [0.99, 0.998, 0.001, 0.5, 2.0], "priority": 1}
    if scene.touch.bounce > 0.0:
        options |= {"solref": _find_bounce(scene), "solimp": [0.99, 0.998, 0.001, 0.5, 2.0], "priority": 1}
    kinds = mujoco.mjtGeom
    if isinstance(shape, Sphere):
        body.add_geom(type=kinds.mjGEOM_SPHERE, size=[shape.radius, 0, 0], pos=shape.center, **options)
    elif isinstance(shape, Capsule):
        ends = np.concatenate([shape.start, shape.end])
        body.add_geom(type=kinds.mjGEOM_CAPSULE, size=[shape.radius, 0, 0], fromto=ends, **options)
    else:
        body.add_geom(type=kinds.mjGEOM_BOX, size=shape.half, pos=shape.center, quat=shape.turn, **options)


def find_layout(model: Any, body: SceneBody, names: list[str]) -> BodyLayout:
    """Where a body's joints are in a compiled model. names: what their bodies are called there."""
    import mujoco

    j = len(body.tree)
    ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) for name in names]
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
