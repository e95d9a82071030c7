"""Building an actor: players for all that is driven, and the description that an engine builds its body from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.body.geometry.primitives import Shape
from poise.drivers.checks import check_player
from poise.drivers.counterpoise.counterpoise import Counterpoise, lean_springs
from poise.drivers.driver import MOTION, BodyModel, MotionPlayer, Player
from poise.drivers.loose.rest import RestPlayer, hold_pose, let_run_out
from poise.engines.scene import BALL, FREE, GIVEN, Joint, SceneBody
from poise.errors import InputError
from poise.stage.assignment import Assignment
from poise.stage.attachment import list_held_shapes
from poise.stage.coupling.paper import check_standing, find_filter
from poise.stage.groups.contact_pairs import choose_shapes
from poise.stage.monitor.health import check_written, hips_over_floor
from poise.stage.standing import plant_feet, put_on_floor
from poise.world.ground.floor import Floor

if TYPE_CHECKING:
    from poise.stage.actor import Actor
_DOWN = 0.5  # component of gravity that points down, at least, for a body to stand: 60 degrees off


def build_actor(actor: Actor, t: float, starting: bool) -> None:
    """Build players for all that is driven, at the present state; starting: it has not been simulated yet."""
    body, assignments = actor.body, actor.assignments
    undriven = assignments.divide()
    _write_world(actor, t)
    if starting and not actor.is_posed:
        put_on_floor(body)
        actor.is_posed = True
    if not starting:
        _keep_dynamics(actor)
    for a in sorted(assignments, key=lambda a: a.claim.after_others):
        if a.player is None and a.driver.level == MOTION:
            _begin(actor, a, t, starting)
    body.stands = _is_grounded(actor)
    kinematic = list(assignments.partition.kinematic) if assignments.partition is not None else []
    body.trunk_moves = not starting or bool(body.find_trunk()[kinematic].any())
    if starting and body.stands:
        plant_feet(body)
    body.update()
    for a in assignments:
        if a.player is None:
            _begin(actor, a, t, starting)
    if not assignments.balances:
        body.lean[:] = 0.0  # hips lean over legs that balance
    take_part(actor, t)
    _hold(actor, undriven, t)
    _begin_effort(actor, t, starting)
    body.turning[:] = body.handed[:] = body.pulling[:] = 0.0  # the players have taken over
    _begin_coupling(actor, starting)
    actor.flight.begin(t)


def _begin_effort(actor: Actor, t: float, starting: bool) -> None:
    """Measure the height of the hips and begin with efforts, or bring prescribed joints without a driver to rest."""
    actor.assignments.still = None if starting else _let_run_out(actor, t)
    if starting:
        actor.start_height = hips_over_floor(actor)
        actor.effort.begin(t)


def _is_grounded(actor: Actor) -> bool:
    """Return whether a driver stands on the ground; raise InputError without ground, or if gravity points elsewhere."""
    stage = actor.stage
    stands = [type(a.driver).__name__ for a in actor.assignments if a.claim.needs_ground]
    if stands and stage.ground is None:
        raise InputError(f"{stands[0]} stands on the ground, and this stage has none. Give it one: Stage(ground=...).")
    if stands and not -stage.gravity[1] > _DOWN * float(np.linalg.norm(stage.gravity)):
        raise InputError(
            f"{stands[0]} stands against gravity, and this stage's, {stage.gravity.round(3).tolist()} m/s2, does not "
            "point down. Give it one that does: Stage(gravity=(0, -9.81, 0))."
        )
    return bool(stands)


def _begin_coupling(actor: Actor, starting: bool) -> None:
    """Begin the coupling of a new partition; raise InputError if the `paper` coupling would not be stable."""
    body, stage, assignments, coupling = actor.body, actor.stage, actor.assignments, actor.coupling
    assert assignments.partition is not None
    coupling.begin(assignments.partition, assignments.rides_on is not None, assignments.balances)
    body.root_is_given = bool(actor.given[0])
    if stage.couple != "paper":
        return
    if stage.coupling_filter is not None:
        coupling.filter_factor[0] = 1.0 - stage.coupling_filter
        return
    if starting:
        check_standing(body, actor.given, body.stands, actor.name)
    limit = stage.engine.abilities.max_mass_ratio_time
    coupling.filter_factor[0] = find_filter(body, actor.given, stage.gain, stage.torque_only, actor.name, limit)


def take_part(actor: Actor, t: float) -> None:
    """Let the body take part, from time t on, in the gesture that it plays; of several, in the one driven last."""
    offers = [player.gesture for player in actor.players]
    actor.body.taking_part.follow(next((each for each in reversed(offers) if each is not None), None), t)


def _keep_dynamics(actor: Actor) -> None:
    """Keep accelerations and torques of the joints, for the players that take them over."""
    body, given = actor.body, actor.given
    if given[0] and actor.assignments.rides_on is None:  # its velocity before is that of a mid-step
        body.v_before[:] = body.state.v - body.dt * body.a
    body.pulling[:] = (body.state.v - body.v_before) / body.dt
    body.turning[:] = np.where(given[:, None], body.dw, (body.state.w - body.w_before) / body.dt)
    body.handed[:] = actor.effort.compute()[0]
    # The torques of joint limits continue by themselves.
    stops = np.einsum("jba,jb->ja", body.R, body.stops) - body.axial * body.state.w
    body.handed[~given] -= stops[~given]
    # A blow is not passed on: no muscle gives more than its strength.
    size = np.linalg.norm(body.handed, axis=-1)
    body.handed *= np.minimum(1.0, actor.effort.strength / np.maximum(size, 1e-12))[:, None]


def _let_run_out(actor: Actor, t: float) -> RestPlayer | None:
    """Return what brings prescribed joints without a driver to rest."""
    if actor.partition is None:
        return None
    moved = {i for a in actor.assignments for i in a.claim.moved}
    left = [i for i in actor.partition.kinematic if i not in moved]
    is_placed = any(getattr(a.player, "moves_root", 0 in a.claim.moved) for a in actor.assignments)
    return let_run_out(actor.body, left, 0 in actor.partition.base and not is_placed, t)


def _write_world(actor: Actor, t: float) -> None:
    """Write the stage's step, gravity and ground into the body."""
    body, stage = actor.body, actor.stage
    body.dt, body.gravity = stage.dt, np.array(stage.gravity)
    body.floor = Floor(stage.ground, stage.props.values())
    body.floor.move(t)
    body.friction = stage.ground.friction if stage.ground is not None else 0.0
    body.block.gravity[:] = stage.gravity
    body.block.request = 0


def _begin(actor: Actor, a: Assignment, t: float, starting: bool) -> None:
    joints = np.array(a.claim.moved)
    player = a.driver.build(actor.body, joints, t)
    check_player(player, a.driver, joints)
    player.begin(actor.body, t, starting, None if starting else a.heir_of)
    a.heir_of = None
    if isinstance(player, MotionPlayer):
        check_written(actor, player)
    a.player = player


def _hold(actor: Actor, undriven: list[int], t: float) -> None:
    """Hold physical joints without a driver by springs."""
    before, actor.assignments.rest = actor.assignments.rest, None
    if undriven:
        has_lost = actor.has_lost_balance
        held = hold_pose(actor.body, undriven, t, actor.body.held, before, has_lost and actor.ragdoll_on_fall)
        lean_springs(held, actor.body, _find_trunk(actor), t, before, not has_lost)
        actor.body.held = {joint: held.aim[k] for k, joint in enumerate(undriven)}
        actor.assignments.rest = held
    for player in actor.players:
        actor.body.held |= player.held


def _find_trunk(actor: Actor) -> Counterpoise | None:
    """Return the driver whose lean the springs of trunk and head follow, with the `paper` coupling."""
    wanted = [(a.before or a).claim.trunk for a in actor.assignments] if actor.stage.couple == "paper" else []
    return next((trunk for trunk in wanted if isinstance(trunk, Counterpoise)), None)


def describe_actor(actor: Actor, in_company: bool = False) -> SceneBody:
    """Describe an actor as it is now to the engine; see `choose_shapes`."""
    state, models = actor.body.state, actor.assignments.find_models()
    root, q = state.root.copy(), state.q.copy()
    for _, model in models:
        if model.seat is not None:
            root, q[0] = model.seat
    pose = {"root": root, "rotations": q, "velocity": state.v.copy(), "angular_velocity": state.w.copy()}
    shapes = choose_shapes(actor, [model for _, model in models], in_company)
    return describe_at(actor, models, _find_joints(actor, models), pose, shapes, not actor.assignments.balances)


def describe_at(
    actor: Actor,
    models: list[tuple[Player, BodyModel]],
    joints: tuple[Joint, ...],
    pose: dict[str, np.ndarray],
    shapes: tuple[tuple[int, Shape], ...],
    is_hard: bool,
) -> SceneBody:
    """Describe an actor at a pose to the engine, with some shapes and those of what it holds."""
    shapes = (*shapes, *list_held_shapes(actor)) if shapes else ()
    return SceneBody(
        actor.name, actor.body.tree, joints, **pose, shapes=shapes,
        pinned=_find_pins(actor, models), carrier=actor.assignments.rides_on,
        is_locked=actor.stage.couple == "exact", is_hard=is_hard,
    )  # fmt: skip


def _find_pins(actor: Actor, models: list[tuple[Player, BodyModel]]) -> tuple[int, ...]:
    """Joints whose bodies are fixed to the world."""
    now = {id(player): model.pinned for player, model in models}
    pins = [(a.claim.pinned, now.get(id(a.player))) for a in actor.assignments]
    return tuple(joint for claimed, present in pins for joint in (claimed if present is None else present))


def _find_joints(actor: Actor, models: list[tuple[Player, BodyModel]]) -> tuple[Joint, ...]:
    """Return the type of each joint in the engine."""
    has_hinges, given = actor.stage.engine.abilities.hinges, actor.given
    kinds: dict[int, Joint] = {}
    for _, model in models:
        kinds |= model.joints if has_hinges or model.requires_hinges else {}
    return tuple(
        Joint(FREE) if i == 0 and not given[0] else Joint(GIVEN) if given[i] else kinds.get(i, Joint(BALL))
        for i in range(len(given))
    )
