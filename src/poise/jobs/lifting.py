"""A clip followed within strength: the whole body is physical, and what each degree of freedom does is kept.

As for a mix, the body is simulated apart from what carries it in the file, and goes back there in the result.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from poise.body.character import Character
from poise.body.muscles import Muscles
from poise.drivers.kinematic import Kinematic
from poise.drivers.strength import STRICT, Strength, StrengthPlayer
from poise.errors import InputError
from poise.jobs.follow_plan import find_legs
from poise.jobs.lift_feet import plant_soles
from poise.jobs.lift_plan import LiftPlan
from poise.jobs.mixing import (
    Mix,
    check_size,
    choose_step,
    find_ground,
    find_physical,
    find_pushed,
    restore_mix,
    run_stage,
)
from poise.jobs.plan import KINEMATIC, PLANTED
from poise.jobs.rooted import cut_character
from poise.motion.clip import Clip
from poise.motion.motion import Pose
from poise.motion.rooting import Rooting, root_at_hips
from poise.spatial import rotation
from poise.spatial.portable import Portable
from poise.stage.actor import Actor
from poise.stage.stage import Stage
from poise.world.ground import Ground

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
    muscles: Muscles


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
    if len(clip) < 3:
        raise InputError(
            f"a simulation needs a clip of at least 3 frames, to have speeds and accelerations; this has {len(clip)}."
        )
    check_size(clip)
    rooting = root_at_hips(clip)
    found = _lift_body(rooting, cut_character(character, rooting.body.skeleton), plan)
    if rooting.body is clip:
        return found
    return dataclasses.replace(found, mix=restore_mix(found.mix, rooting, character))


def _lift_body(rooting: Rooting, character: Character, plan: LiftPlan) -> Lifted:
    """The same of a body apart."""
    clip = rooting.body
    skeleton, names = clip.skeleton, clip.skeleton.names
    base = plan.choose_base(clip, character, balances=True)
    muscles = plan.build_muscles(character)
    ground = plan.fit_ground(find_ground(rooting.clip, plan, bool(find_legs(skeleton))), clip, character, base)
    notes = [base.why] if base.why else []
    if base.name == PLANTED and type(ground) is Ground and not base.steps:
        planted = plant_soles(clip, ground.height)
        off = float(np.degrees(rotation.angle(planted.rotations, clip.rotations)).max())
        if off > NOTED:
            notes.append(
                f"the soles are laid flat on the ground, which turns joints of the legs by up to {off:.0f} degrees."
            )
        clip = planted
    stage = Stage(plan.engine, choose_step(clip, plan.dt), ground=ground, touch=plan.scenery.touch)
    for prop in plan.scenery.props:
        stage.add_prop(prop)
    for load in plan.loads:
        skeleton.index(load.joint)
    pose = Pose(clip.root[0].copy(), clip.rotations[0].copy())
    actor = stage.add(character, name="actor", pose=pose, loads=plan.loads)
    start = -float(clip.times[0])
    legs = {i for leg in find_legs(skeleton) for i in skeleton.chain(leg)} if base.name == KINEMATIC else set()
    moved = sorted(find_physical(character, plan.physical) - legs)
    if not moved:
        raise InputError("nothing is left that muscles could move: pelvis and legs follow the clip.")
    rest = [i for i in range(0 if base.name == KINEMATIC else 1, len(skeleton)) if i not in moved]
    part = [names[i] for i in moved]
    center = "" if plan.center == "none" or base.name == KINEMATIC else plan.center
    paths = {joint: path.shifted(-start) for joint, path in plan.paths.items()}
    if plan.priorities == STRICT and base.name == KINEMATIC and not (plan.lead or paths):
        raise InputError(
            "strict priorities need goals to rank; on a kinematic base nothing balances, and no joint is led. Lead a "
            "joint (rightHand=position), or use weighted priorities."
        )
    strength = Strength(
        clip, muscles, start, center=center, effectors=dict(plan.lead), insists=plan.insists, paths=paths,
        priorities=plan.priorities,
    )  # fmt: skip
    if rest:  # first: a split is judged when it is whole
        actor.drive([names[i] for i in rest], Kinematic(clip, start))
    actor.drive(part, strength)
    for push in plan.pushes:
        actor.push(find_pushed(skeleton, push.joint), push.force, push.seconds, push.start)
    diary = _Diary(actor, ", ".join(part))
    mix = run_stage(stage, actor, clip, rest, base.steps, diary)
    player = actor.player(diary.part)
    assert isinstance(player, StrengthPlayer)
    diary(stage.time)
    mix = dataclasses.replace(mix, base=base.name, notes=tuple(notes), tracked=moved)
    return Lifted(mix, diary.close(player), muscles)
