"""A clip followed within strength: the whole body is physical, and what each degree of freedom does is kept.

As for a mix, the body is simulated apart from what carries it in the file, and goes back there in the result.

Soles of a recording are laid flat: a body that is held up by pushes on its soles needs all of them on the ground.

Recorded feet are centimetres askew and creep. In a clip that stands each foot is held where it is on the whole, level
on the ground, and its leg brought there with as little change as that takes; the root comes down where a leg is short.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import build_footing
from poise.body.roles import SIDES
from poise.body.strength.joint_strength import JointStrength
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.strength.player import StrengthPlayer
from poise.drivers.strength.strength import STRICT, Strength
from poise.errors import InputError
from poise.frozen import Portable
from poise.ik.two_bone import correct_two_bone, find_hinge
from poise.jobs.lift.plan import LiftPlan
from poise.jobs.shared.base import find_legs
from poise.jobs.shared.options import KINEMATIC, PLANTED
from poise.jobs.shared.simulation import (
    Mix,
    add_body,
    add_pushes,
    check_size,
    choose_step,
    cut_character,
    describe_base,
    find_ground,
    find_physical,
    restore_mix,
    run_stage,
)
from poise.motion.clip import Clip
from poise.motion.root import HipsRoot, root_at_hips
from poise.motion.samples.body import REACH
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.stage import Stage
from poise.world.foot_boxes import find_corners
from poise.world.ground.ground import Ground

NOTED = 1.0  # degrees: legs that are turned by more are told of


@dataclass(frozen=True, eq=False)
class Efforts(Portable):
    """What the degrees of freedom of a body did, step by step.

    times   (S,) s after the first frame, the end of each step
    joints  n labels of their joints;  axes: n letters
    at      (S, n) -1, 1 where a torque was at its low or high bound, else 0
    torque  (S, n) N m;  low, high  (S, n) N m, its bounds at that angle and speed
    zmp     (S, 3) m, where the ground's push has no moment along it
    """

    times: np.ndarray
    joints: tuple[str, ...]
    axes: tuple[str, ...]
    at: np.ndarray
    torque: np.ndarray
    low: np.ndarray
    high: np.ndarray
    zmp: np.ndarray

    @property
    def ratio(self) -> np.ndarray:
        """(S, n) torque over strength."""
        bound = np.where(self.torque > 0.0, self.high, -self.low)
        return np.asarray(np.abs(self.torque) / np.maximum(bound, 1e-9))

    def before(self, time: float | None) -> Efforts:
        """Those up to a time (s); all if None."""
        if time is None:
            return self
        kept = self.times <= time + 1e-9
        arrays = {name: getattr(self, name)[kept] for name in ("times", "at", "torque", "low", "high", "zmp")}
        return dataclasses.replace(self, **arrays)


@dataclass(frozen=True, eq=False)
class Lifted(Portable):
    """What came of it: the mix, what the degrees of freedom did, and how strong they are."""

    mix: Mix
    efforts: Efforts
    muscles: JointStrength


@dataclass
class _Diary:
    """Keeps what a player does; called before every step, it sees the one before."""

    actor: Actor
    part: str
    rows: list[tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)

    def __call__(self, t: float) -> None:
        if t > 0.0 and isinstance(p := self.actor.player(self.part), StrengthPlayer):
            self.rows.append((t, p.at.copy(), p.torque.copy(), p.low.copy(), p.high.copy(), p.zmp.copy()))

    def close(self, player: StrengthPlayer) -> Efforts:
        """All of it."""
        words = [label.rsplit(" ", 1) for label in player.labels]
        n = len(words)
        times, *each = (np.array([row[k] for row in self.rows]) for k in range(6))
        at, torque, low, high = (array.reshape(-1, n) for array in each[:4])
        return Efforts(
            times, tuple(word[0] for word in words), tuple(word[1] for word in words), at, torque, low, high,
            each[4].reshape(-1, 3),
        )  # fmt: skip


def simulate_lift(clip: Clip, character: Character, plan: LiftPlan | None = None) -> Lifted:
    """Have a body follow a clip within its strength. character: on the clip's own skeleton."""
    plan = plan or LiftPlan()
    check_size(clip)
    rooting = root_at_hips(clip)
    found = _lift_body(rooting, cut_character(character, rooting.body.skeleton), plan)
    if rooting.body is clip:
        return found
    return dataclasses.replace(found, mix=restore_mix(found.mix, rooting, character))


def _lift_body(rooting: HipsRoot, character: Character, plan: LiftPlan) -> Lifted:
    """The same of a body apart."""
    clip = rooting.body
    base = plan.choose_base(clip, character, balances=True)
    is_kinematic = base.name == KINEMATIC
    muscles = plan.build_muscles(character)
    ground = plan.fit_ground(find_ground(rooting.clip, plan), clip, character, base)
    notes: list[str] = []
    if base.name == PLANTED and type(ground) is Ground and not base.steps:
        clip, notes = _lay_soles(clip, ground.height)
    stage = Stage(plan.engine, choose_step(clip, plan.dt), ground=ground, touch=plan.scenery.touch)
    actor = add_body(stage, character, clip, plan)
    moved = _find_moved(character, plan, is_kinematic)
    rest = [i for i in range(0 if is_kinematic else 1, len(clip.skeleton)) if i not in moved]
    strength = _build_strength(clip, muscles, plan, is_kinematic)
    names = clip.skeleton.names
    if rest:  # first: a split is judged when it is whole
        actor.drive([names[i] for i in rest], Kinematic(clip, -float(clip.times[0])))
    part = [names[i] for i in moved]
    actor.drive(part, strength)
    add_pushes(actor, plan)
    diary = _Diary(actor, ", ".join(part))
    mix = run_stage(stage, actor, clip, rest, base.steps, diary)
    player = actor.player(diary.part)
    assert isinstance(player, StrengthPlayer)
    diary(stage.time)
    described = describe_base(base)
    mix = dataclasses.replace(mix, **{**described, "notes": (*described["notes"], *notes)}, tracked=moved)
    return Lifted(mix, diary.close(player), muscles)


def _lay_soles(clip: Clip, height: float) -> tuple[Clip, list[str]]:
    """Return a clip whose soles lie on level ground at a height (m), and a note if that turned joints by much."""
    planted = plant_soles(clip, height)
    off = float(np.degrees(rotation.angle(planted.rotations, clip.rotations)).max())
    note = f"the soles are laid flat on the ground, which turns joints of the legs by up to {off:.0f} degrees."
    return planted, [note] if off > NOTED else []


def _find_moved(character: Character, plan: LiftPlan, is_kinematic: bool) -> list[int]:
    """Return the joints (indices) that muscles move. is_kinematic: root and legs follow the clip"""
    skeleton = character.skeleton
    legs = {i for leg in find_legs(skeleton) for i in skeleton.chain(leg)} if is_kinematic else set()
    moved = sorted(find_physical(character, plan.physical) - legs)
    if not moved:
        raise InputError("nothing is left that muscles could move: pelvis and legs follow the clip.")
    return moved


def _build_strength(clip: Clip, muscles: JointStrength, plan: LiftPlan, is_kinematic: bool) -> Strength:
    start = -float(clip.times[0])
    center = "" if plan.center == "none" or is_kinematic else plan.center
    paths = {joint: path.shifted(-start) for joint, path in plan.paths.items()}
    if plan.priorities == STRICT and is_kinematic and not (plan.lead or paths):
        raise InputError(
            "strict priorities need goals to rank; on a kinematic base nothing balances, and no joint is led. Lead a "
            "joint (rightHand=position), or use weighted priorities."
        )
    return Strength(
        clip, muscles, start, center=center, effectors=dict(plan.lead), insists=plan.insists, paths=paths,
        priorities=plan.priorities,
    )  # fmt: skip


_Y = np.array([0.0, 1.0, 0.0])


def plant_soles(clip: Clip, height: float) -> Clip:
    """A clip that stands, with both soles flat and still on level ground at a height (m)."""
    skeleton = clip.skeleton
    root, turns = clip.root.copy(), clip.rotations.copy()
    places, world = clip.world
    ankles, feet = np.zeros((2, 3)), np.zeros((2, 4))
    for k, (side, box) in enumerate(zip(SIDES, build_footing(skeleton), strict=True)):
        foot = skeleton.index(side + "Foot")
        ahead = rotation.rotate(world[:, foot], np.array([0.0, 0.0, 1.0])).mean(axis=0)
        feet[k] = rotation.exp(np.arctan2(ahead[0], ahead[2]) * _Y)
        ankles[k] = places[:, foot].mean(axis=0)
        ankles[k, 1] = height - find_corners(box)[:, 1].min()
    legs = [[skeleton.index(side + part) for part in ("UpperLeg", "LowerLeg", "Foot")] for side in SIDES]
    root[:, 1] -= _find_short(clip, legs, ankles)
    moved = clip.replace(root=root)
    places = moved.positions
    for k, (hip, knee, foot) in enumerate(legs):
        bones = skeleton.rest_positions()[[knee, foot]] - skeleton.rest_positions()[[hip, knee]]
        upper, lower = world[:, hip], world[:, knee]
        hinge = find_hinge(upper, lower, bones[0], bones[1])
        hinge = rotation.rotate(upper, hinge if np.linalg.norm(hinge) > 1e-3 else np.array([1.0, 0.0, 0.0]))
        found = correct_two_bone(upper, lower, bones[0], bones[1], ankles[k] - places[:, hip], hinge)
        above = world[:, int(skeleton.parents[hip])]
        turns[:, hip] = rotation.multiply(rotation.conjugate(above), found.upper)
        turns[:, knee] = rotation.multiply(rotation.conjugate(found.upper), found.lower)
        turns[:, foot] = rotation.multiply(rotation.conjugate(found.lower), np.broadcast_to(feet[k], (len(clip), 4)))
        for i in range(len(skeleton)):
            if i != foot and foot in skeleton.chain(i):
                turns[:, i] = rotation.identity()  # toes lie with the sole
    return moved.replace(rotations=rotation.make_continuous(turns))


def _find_short(clip: Clip, legs: list[list[int]], ankles: np.ndarray) -> float:
    """m, by how much the root must come down so that no leg is longer than it may be in any frame."""
    offsets, most = clip.skeleton.offsets, 0.0
    for ankle, (hip, knee, foot) in zip(ankles, legs, strict=True):
        reach = REACH * sum(float(np.linalg.norm(offsets[i])) for i in (knee, foot))
        apart = clip.positions[:, hip] - ankle
        flat = np.linalg.norm(apart[:, [0, 2]], axis=1)
        room = np.sqrt(np.maximum(reach**2 - flat**2, 0.0))
        most = max(most, float((apart[:, 1] - room).max()))
    return most
