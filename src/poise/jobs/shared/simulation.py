"""A clip with physics under it: the chosen parts are simulated, all others are where the clip has them.

The body is simulated apart from what carries it in the file (`motion/root.py`), and goes back there in the result.
Physical legs balance, and free the root, where the clip stands (`base.py`): the balance follows its hips and its centre
of mass. A clip that steps goes on its own legs, unless its feet are to stay planted as they first are: then the balance
holds its stance. Other physical parts track the clip by springs.

Segments that a clip itself has inside one another (a hand in a thigh) do not push: shapes are simple and bones short.

Where both follow the clip, on either side of what is physical, nothing can take them out of there: their contact would
only push what is between them, with hundreds of newton metres.
"""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.roles import BODY, PARTS, TRUNK_ROLES
from poise.body.skeleton import Skeleton
from poise.drivers.balance.balance import STEADY, Balance
from poise.drivers.counterpoise.counterpoise import answer_with, find_spine_and_head
from poise.drivers.counterpoise.lean import find_arms
from poise.drivers.driver import Driver
from poise.drivers.kinematic.kinematic import Kinematic
from poise.dynamics.kinematics import compute_world_pose
from poise.dynamics.tree import build_tree
from poise.errors import InputError, RangeError, SolveError, check_most, unknown_name
from poise.frozen import Portable
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.base import Base, find_legs, find_part_joints, has_feet
from poise.jobs.shared.options import PLANTED
from poise.motion.clip import Clip
from poise.motion.contacts.contacts import find_contacts
from poise.motion.contacts.stepping import Step
from poise.motion.motion import Pose
from poise.motion.parts import part_joints
from poise.motion.root import HipsRoot, root_at_hips
from poise.spatial.filter import uniform_rate
from poise.stage.actor import Actor
from poise.stage.arguments import ROOT, STEPS, is_step
from poise.stage.stage import Stage
from poise.stage.take.take import ARRAYS, ActorTake, Take
from poise.world.ground.floor import Floor
from poise.world.ground.ground import Ground
from poise.world.overlap import Lines, find_depths, find_lines, find_neighbours

MOST_POSES = 8_000_000  # joints times frames: an hour of 20 joints at 110 frames a second takes 3 GB
LONGEST = 100_000.0  # s: more than a day
LAST_STATES = 100  # steps before a simulation became non-finite that are kept
_FEATHER = 1e-4  # kg: what carries less follows the clip; no engine could move it
_GRID = 1e-10  # s: frames this near to a step are on it


@dataclass(frozen=True, eq=False)
class Mix(Portable):
    """What came of it.

    take       on the stage's clock, which begins at the clip's first frame; of the clip's skeleton, as all that follows
    clip       the result: the clip's skeleton, names and frame times; shorter where the simulation broke off
    wanted     what kinematic and tracked joints followed: the clip, with the parts that came from other clips
    kinematic  indices of the joints that followed it;  answering: of those, the ones that were to deviate from it,
               since their driver answers loads and moved parts: no error is measured on them
    physical   indices of those that the engine moved;  tracked: of those, the ones that springs drew along the clip
    steps      of the clip;  base: `planted`, or `kinematic` where root and legs followed it;  base_chosen: why that was
               chosen for the user, in words
    ground     m, its height
    dt         s, the step
    fell_at    s after the first frame, None: it stood;  fell_why: in words
    broken     the sentence about a simulation that became non-finite, else None;  last: its last states, of the body
               apart
    floor      what was under it, where that is not level ground alone
    notes      what there is to say, a sentence each;  warnings: what may be wrong
    figures    what it came to, under the names of `poise mix --json`; of what was written, where anything was
    files      what was written, the motion first
    """

    take: Take
    clip: Clip
    kinematic: list[int]
    physical: list[int]
    steps: tuple[Step, ...]
    ground: float
    dt: float
    fell_at: float | None
    fell_why: str
    broken: str | None = None
    last: Take | None = None
    notes: tuple[str, ...] = ()
    floor: Floor | None = None
    warnings: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    base: str = PLANTED
    base_chosen: str = ""
    tracked: list[int] = field(default_factory=list)
    answering: list[int] = field(default_factory=list)
    wanted: Clip | None = None

    @property
    def stepping(self) -> bool:
        """Whether the clip steps."""
        return bool(self.steps)

    @property
    def stands(self) -> bool:
        """Whether its feet stayed planted and it did not fall."""
        return self.base == PLANTED and not self.fell

    @property
    def fell(self) -> bool:
        """Whether it fell, or the simulation broke off."""
        return self.fell_at is not None or self.broken is not None


def simulate(clip: Clip, character: Character, plan: MixPlan | None = None, played: Clip | None = None) -> Mix:
    """Simulate a clip's physical parts under its kinematic ones.

    character  a body on the clip's own skeleton
    played     the clip with some parts moving otherwise (`motion.borrow`): what the joints follow. The balance follows
               it with the clip's own arms: those that are played beside them are for the body to answer. None: the
               clip itself
    """
    plan = plan or MixPlan()
    check_size(clip)
    rooting = root_at_hips(clip)
    played = clip if played is None else played
    found = _mix_body(rooting, rooting.cut(played), cut_character(character, rooting.body.skeleton), plan)
    found = found if rooting.body is clip else restore_mix(found, rooting, character)
    return dataclasses.replace(found, wanted=played)


def _mix_body(rooting: HipsRoot, played: Clip, character: Character, plan: MixPlan) -> Mix:
    """The mix of a body apart. Joints follow `played`, the balance follows it with the body's own arms."""
    clip = rooting.body
    split = _split_body(rooting, played, character, plan)
    dt = choose_step(clip, plan.dt)
    ground = plan.fit_ground(find_ground(rooting.clip, plan), clip, character, split.base)
    touch = plan.scenery.touch
    if touch.itself and split.base.name != PLANTED:
        inside = [(f"actor/{a}", f"actor/{b}") for a, b in find_overlaps(clip, character, split.following)]
        touch = dataclasses.replace(touch, apart=(*touch.apart, *inside))
    stage = Stage(
        plan.engine, dt, plan.couple, gain=plan.gain, torque_only=plan.torque_only,
        coupling_filter=plan.coupling_filter, ground=ground, touch=touch,
    )  # fmt: skip
    actor = add_body(stage, character, played, plan)
    for part, driver in _list_drivers(split, played, -float(clip.times[0]), plan):
        actor.drive(part, driver)
    add_pushes(actor, plan)
    found = run_stage(stage, actor, clip, split.following, split.base.steps)
    return dataclasses.replace(found, **describe_base(split.base), tracked=split.tracked, answering=split.answering)


def describe_base(base: Base) -> dict[str, Any]:
    """Return the fields of a `Mix` that say what it is on, and why."""
    notes = (base.why,) if base.why and not base.is_chosen else ()
    return {"base": base.name, "base_chosen": base.why if base.is_chosen else "", "notes": notes}


@dataclass(frozen=True, eq=False)
class _Split:
    """What moves each joint (index) of a body apart, besides what has a driver of its own.

    balance    of the legs; None: they do not balance;  follow: the clip that it follows
    following  joints that follow the clip;  answering: of those, the ones that answer loads and moved parts
    tracked    joints that springs draw along the clip
    """

    base: Base
    balance: Balance | None
    follow: Clip | None
    following: list[int]
    answering: list[int]
    tracked: list[int]


def _split_body(rooting: HipsRoot, played: Clip, character: Character, plan: MixPlan) -> _Split:
    clip = rooting.body
    driven = find_driven(clip.skeleton, plan)
    base, physical = _find_base(rooting, character, plan)
    legs = find_legs(clip.skeleton)
    others = [i for i in range(len(clip.skeleton)) if i not in physical and i not in driven]
    if base.name != PLANTED or not legs or not legs <= physical:
        if plan.pinned:
            raise InputError("pinned feet are for physical legs; make 'legs' physical, or leave the feet unpinned.")
        return _Split(base, None, None, others, [], sorted(physical))
    follow = None if base.steps else _keep_arms(clip, played)
    answers = follow is not None and plan.counter_lean > 0.0 and _has_more(clip, played, plan, driven)
    balance = Balance(
        plan.stiffness, pinned=plan.pinned, follow=follow, follow_start=0.0 if base.steps else -float(clip.times[0]),
        damping=STEADY, give=plan.yielding, hold=plan.hold, counter_lean=plan.counter_lean if answers else 0.0,
    )  # fmt: skip
    claim = balance.claim(character, sorted(legs), "legs")
    claimed = {*claim.moved, *claim.held, 0}
    following = [i for i in others if i not in claimed]
    answering = []
    if answers and plan.couple == "exact":
        answering = [i for path in find_spine_and_head(clip.skeleton) for i in path if i in following]
    return _Split(base, balance, follow, following, answering, sorted(physical - claimed - legs))


def _list_drivers(split: _Split, played: Clip, start: float, plan: MixPlan) -> Iterator[tuple[str | list[str], Driver]]:
    """Parts, or names of joints, each with its driver. start: s, where the clip's time is 0

    What follows the clip comes before what springs draw: a stage judges a split when it is whole.
    """
    names, balances = played.skeleton.names, split.balance is not None
    track = plan.build_track(played, start, balances) if split.tracked else None
    if split.balance is not None:
        yield "legs", split.balance
    if split.following:
        cutoff = None if track is None or balances else track.cutoff
        yield [names[i] for i in split.following], Kinematic(played, start, cutoff)
    if split.answering:
        yield [names[i] for i in split.answering], answer_with(plan.counter_lean, split.follow, start)
    if track is not None:
        yield [names[i] for i in split.tracked], track
    for drive in plan.drives:
        yield _find_part(drive.part), drive.build(motion=played, start=start)


def add_body(stage: Stage, character: Character, clip: Clip, plan: MixPlan) -> Actor:
    """Add a plan's props, and a body in a clip's first pose with the plan's loads."""
    for prop in plan.scenery.props:
        stage.add_prop(prop)
    for load in plan.loads:
        clip.skeleton.index(load.joint)
    pose = Pose(clip.root[0].copy(), clip.rotations[0].copy())
    return stage.add(character, name="actor", pose=pose, loads=plan.loads)


def add_pushes(actor: Actor, plan: MixPlan) -> None:
    """Add a plan's pushes."""
    for push in plan.pushes:
        actor.push(find_pushed(actor.skeleton, push.joint), push.force, push.seconds, push.start)


def _has_more(clip: Clip, played: Clip, plan: MixPlan, driven: set[int]) -> bool:
    """Whether arms do what the clip does not have: they carry loads, or somebody else moves them."""
    arms = find_arms(clip.skeleton)
    changed = np.flatnonzero((played.rotations != clip.rotations).any(axis=(0, 2))).tolist()
    loaded = {clip.skeleton.index(load.joint) for load in plan.loads}
    return bool(arms & {*changed, *loaded, *driven})


def _keep_arms(clip: Clip, played: Clip) -> Clip:
    """What is played, with the clip's own arms; the clip itself where nothing else differs."""
    arms = find_part_joints(clip.skeleton, "arms")
    changed = np.flatnonzero((played.rotations != clip.rotations).any(axis=(0, 2))).tolist()
    others = [joint for joint in changed if joint not in arms]
    return clip.turned(others, played.rotations[:, others]) if others else clip


def restore_mix(found: Mix, rooting: HipsRoot, character: Character) -> Mix:
    """The mix of a body apart, as one of the clip's own skeleton."""
    record = restore_record(found.take.actor(), rooting, character, found.clip.times, found.kinematic)
    return dataclasses.replace(
        found,
        take=dataclasses.replace(found.take, actors={record.name: record}),
        clip=rooting.restore(found.clip, found.kinematic),
        kinematic=[int(rooting.joints[i]) for i in found.kinematic],
        physical=[int(rooting.joints[i]) for i in found.physical],
        tracked=[int(rooting.joints[i]) for i in found.tracked],
        answering=[int(rooting.joints[i]) for i in found.answering],
        notes=(*found.notes, *rooting.describe_stretch()),
    )


def find_base(clip: Clip, character: Character, plan: MixPlan) -> tuple[Base, set[str]]:
    """What a clip is mixed on, and the names of the joints that are physical then. character: on its skeleton."""
    rooting = root_at_hips(clip)
    base, physical = _find_base(rooting, cut_character(character, rooting.body.skeleton), plan)
    return base, {rooting.body.skeleton.names[i] for i in physical}


def _find_base(rooting: HipsRoot, character: Character, plan: MixPlan) -> tuple[Base, set[int]]:
    """The same of a body apart, with joints as indices; of parts that have drivers of their own, none."""
    skeleton = rooting.body.skeleton
    physical = find_physical(character, plan.physical) - find_driven(skeleton, plan)
    legs = find_legs(skeleton)
    base = plan.choose_base(rooting.body, character, bool(legs) and legs <= physical)
    if base.name == PLANTED or not legs <= physical:
        return base, physical
    return base, physical - {i for leg in legs for i in skeleton.chain(leg)}  # with what carries legs that follow


def check_size(clip: Clip) -> None:
    """Refuse what has no speeds, or would take many GB or days."""
    if len(clip) < 3:
        raise InputError(
            f"a simulation needs a clip of at least 3 frames, to have speeds and accelerations; this has {len(clip)}."
        )
    f, j = len(clip), len(clip.skeleton)
    check_most(f"{f} frames of {j} joints are {f * j} poses of joints to mix", f * j, MOST_POSES,
               "Trim the clip, or resample it to fewer frames a second.")  # fmt: skip
    check_most(f"the clip lasts {clip.duration:g} s at {clip.fps:g} frames a second", clip.duration, LONGEST,
               "Trim it, or give its true frame rate (--fps).")  # fmt: skip


def find_physical(character: Character, parts: tuple[str, ...]) -> set[int]:
    """Joints (indices) of the parts that physics is to move, without those that carry nothing."""
    skeleton = character.skeleton
    known = set(PARTS) | set(skeleton.names) | set(skeleton.roles)
    found: set[int] = set()
    for part in parts:
        if part not in known:
            raise unknown_name("part", part, [*PARTS, *skeleton.roles])
        # the root goes with the legs, so that the whole body is all but it
        found.update(
            range(1, len(skeleton)) if part == BODY else part_joints(skeleton, part if part in PARTS else [part])
        )
    if 0 in found:
        raise InputError(
            f"'{skeleton.labels[0]}' is the root: it is physical when the legs are, and follows the clip otherwise. "
            "Leave it out."
        )
    outboard = build_tree(character).masses.copy()
    for i in range(len(skeleton) - 1, 0, -1):
        outboard[skeleton.parents[i]] += outboard[i]
    return {i for i in found if outboard[i] > _FEATHER or i in find_legs(skeleton)}


def find_driven(skeleton: Skeleton, plan: MixPlan) -> set[int]:
    """Joints (indices) of the parts that have drivers of their own."""
    parts = [_find_part(drive.part) for drive in plan.drives]
    return {i for part in parts for i in ([0] if part == ROOT else part_joints(skeleton, part))}


def _find_part(part: str) -> str | list[str]:
    return part if part in PARTS or part == ROOT else [part]


def find_pushed(skeleton: Skeleton, joint: str) -> str:
    """The joint that a push at one means: of the trunk's roles the nearest below that the skeleton has."""
    if joint in TRUNK_ROLES and skeleton.find_role(joint) is None and joint not in skeleton.names:
        below = [role for role in TRUNK_ROLES[: TRUNK_ROLES.index(joint)] if skeleton.find_role(role) is not None]
        return below[-1] if below else skeleton.names[0]
    return joint


def choose_step(clip: Clip, longest: float) -> float:
    """s, the longest step of at most `longest` of which the clip's frames are a multiple."""
    if not is_step(longest):
        raise RangeError("the step of a stage", longest, *STEPS, "s")
    period = 1.0 / uniform_rate(clip.times)
    return period / math.ceil(period / longest - 1e-9)


def find_ground(clip: Clip, plan: MixPlan) -> Ground:
    """The ground of a plan; where nobody has placed it, at the height where the clip's soles rest."""
    ground = plan.scenery.ground
    if plan.scenery.is_placed or not has_feet(clip):
        return ground
    return dataclasses.replace(ground, height=find_contacts(clip).ground_height)


def run_stage(stage: Stage, actor: Actor, clip: Clip, rest: list[int], steps: tuple[Step, ...],
              each: Callable[[float], None] | None = None) -> Mix:  # fmt: skip
    """Run a stage for as long as a clip lasts, recorded at its frames.

    rest   indices of the joints that follow the clip exactly
    steps  of the clip
    each   called with the time before every step
    """
    times = np.asarray(clip.times) - clip.times[0]
    grid = np.rint(times / stage.dt) * stage.dt
    times = np.where(np.abs(times - grid) < _GRID, grid, times)
    states: deque[tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = deque(maxlen=LAST_STATES)

    def remember(t: float) -> None:
        s = actor.body.state
        states.append((t, s.root.copy(), s.q.copy(), s.v.copy(), s.w.copy()))
        if each is not None:
            each(t)

    stage.build()
    partition = actor.partition  # as asked for: one who falls is let go
    physical = list(partition.physical) if partition is not None else []
    broken, last = None, None
    try:
        take = stage.run(0.0, times=times, each=remember)
    except SolveError as error:
        take, broken, last = error.take, str(error), _keep(actor, list(states))  # type: ignore[attr-defined]
    record = take.actor(actor.name)
    n = len(take)
    result = Clip(clip.skeleton, clip.times[:n], record.root, record.rotations, clip.name)
    # Who has given up falls, though the clip may end before he lies.
    kinds = ("fell", "lost-balance")
    fell = next((event for kind in kinds for event in take.events if event.kind == kind), None)
    height = stage.ground.height if stage.ground is not None else 0.0
    is_level = type(stage.ground) is Ground and all(prop.inertia is not None for prop in stage.props.values())
    return Mix(
        take, result, rest, physical, steps, height, stage.dt,
        None if fell is None else fell.time, "" if fell is None else fell.message, broken, last,
        floor=None if is_level else Floor(stage.ground, stage.props.values()),
    )  # fmt: skip


def _keep(actor: Actor, states: list[tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]) -> Take:
    """Steps as a take: where the body was and how fast; nothing else is known of them."""
    f, j = len(states), len(actor.body.tree)
    shapes = {
        "torque": (f, j, 3), "effort": (f, j), "margin": (f,), "feet": (f, 2, 3), "pressure": (f, 2, 3),
        "soles": (f, 2, 4, 3), "wrench": (f, 0, 6),
    }  # fmt: skip
    arrays = {name: np.full(shapes.get(name, (f, 3)), np.nan) for name in ARRAYS}
    for k, name in enumerate(("root", "rotations", "velocity", "angular_velocity")):
        arrays[name] = np.array([state[k + 1] for state in states])
    for name in ("center", "center_velocity", "feet"):
        arrays[name] = np.zeros_like(arrays[name])
    record = ActorTake(actor.name, actor.character, connectors=(), **arrays)
    return Take(np.array([state[0] for state in states]), {actor.name: record})


def cut_character(character: Character, body: Skeleton) -> Character:
    """A character on the skeleton of its body apart. What is above the body must weigh nothing."""
    if body.names == character.skeleton.names and np.array_equal(body.offsets, character.skeleton.offsets):
        return character
    names = set(body.names)
    beside = [segment.joint for segment in character.segments if segment.joint not in names and segment.mass > 0.0]
    if beside:
        raise InputError(
            f"{', '.join(beside)} of character '{character.name}' has mass, but the hips do not carry it. Give a body "
            "whose hips carry all that weighs something."
        )
    return dataclasses.replace(
        character,
        skeleton=body,
        segments=tuple(segment for segment in character.segments if segment.joint in names),
        limits={name: limits for name, limits in character.limits.items() if name in names},
        freedoms={name: axes for name, axes in character.freedoms.items() if name in names and name != body.names[0]},
    )


def restore_record(
    record: ActorTake, rooting: HipsRoot, character: Character, times: np.ndarray, kinematic: Sequence[int]
) -> ActorTake:
    """What a body apart did, as an actor of the clip's own skeleton.

    times      (F,) s on the clip's clock
    kinematic  the body's joints that followed the clip

    The joints above and beside the body have no torque; neither has its first, which only the ground moves.
    """
    moved = Clip(rooting.body.skeleton, times, record.root, record.rotations, record.name)
    clip = rooting.restore(moved, kinematic)
    rates = clip.spline.velocity(clip.times)
    spins, joints = rates.rotation.copy(), rooting.joints[1:]
    spins[:, joints] = record.angular_velocity[:, 1:]
    torque, effort = np.full((*spins.shape[:2], 3), np.nan), np.full(spins.shape[:2], np.nan)
    torque[:, joints], effort[:, joints] = record.torque[:, 1:], record.effort[:, 1:]
    return dataclasses.replace(
        record,
        character=character,
        root=clip.root,
        rotations=clip.rotations,
        velocity=rates.root,
        angular_velocity=spins,
        torque=torque,
        effort=effort,
        shifts=clip.shifts,
    )


_EVERY = 1.0 / 30.0  # s between the frames that are looked at


def find_overlaps(clip: Clip, character: Character, joints: Sequence[int]) -> tuple[tuple[str, str], ...]:
    """Names of pairs of these joints whose segments are in one another in some frame. character: on its skeleton."""
    all_lines, names = find_lines(character), clip.skeleton.names
    ours = np.isin(all_lines.joint, joints)
    lines = Lines(all_lines.start[ours], all_lines.end[ours], all_lines.radius[ours], all_lines.joint[ours])
    stride = max(1, round(_EVERY * clip.fps))
    pose = compute_world_pose(build_tree(character), clip.root[::stride], clip.rotations[::stride])
    inside = np.zeros((len(lines.joint),) * 2, bool)
    for turns, places in zip(pose.turns, pose.joints, strict=True):
        placed = lines.placed(turns, places)
        inside |= find_depths(placed, placed) > 0.0
    i, j = (lines.joint[each].tolist() for each in np.nonzero(inside))
    pairs = {(a, b) for a, b in zip(i, j, strict=True) if a < b} - find_neighbours(character)
    return tuple((names[a], names[b]) for a, b in sorted(pairs))
