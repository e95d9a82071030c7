"""What following a clip within strength is asked to do: how strong, what it holds, and what it leads besides joints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from poise.body.character import Character
from poise.body.geometry.soles import leg_length
from poise.body.strength.joint_strength import JointStrength
from poise.drivers.strength.goals import POSITION, WAYS
from poise.drivers.strength.reference import CENTER
from poise.drivers.strength.strength import PRIORITIES, WEIGHTED
from poise.errors import InputError, unknown_name
from poise.jobs.shared.base import BALANCE, FollowPlan
from poise.jobs.shared.options import AUTO, KINEMATIC, PLANTED, StepOptions
from poise.motion.clip import Clip
from poise.motion.point_path import PointPath

if TYPE_CHECKING:
    from poise.jobs.shared.base import Base
INVERSE = "inverse"
ENGINES = (INVERSE, "mujoco", "bullet")
LONGEST = {INVERSE: 1.0 / 30.0}  # s, the longest step unless another is asked for; of other engines DT
CENTERS = ("xz", "xyz", "none")
MOST = 1000.0  # times the usual strength


@dataclass(frozen=True)
class LiftPlan(FollowPlan):
    """How a clip is followed within strength. What is not said here is as of a `FollowPlan`.

    strength  times the usual strength, of all joints
    joints    joint or role -> times that, of some
    weak      whether it is the paper's weak figure (`JointStrength.weak`)
    center    axes along which the centre of mass is led: `xz`, `xyz`, `none`
    lead      joint -> `position`, `orientation` or `both`: bodies that are led as well
    paths     joint, or `center` -> where it is led instead, s after the first frame: see `Strength`
    insists, priorities   as of `Strength`
    """

    engine: str = INVERSE
    dt: float = LONGEST[INVERSE]
    strength: float = 1.0
    joints: Mapping[str, float] = field(default_factory=dict)
    weak: bool = False
    center: str = "xz"
    lead: Mapping[str, str] = field(default_factory=dict)
    insists: float = 10.0
    priorities: str = WEIGHTED
    paths: Mapping[str, PointPath] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.engine not in ENGINES:
            raise unknown_name("engine", self.engine, ENGINES)
        if self.center not in CENTERS:
            raise unknown_name("axes of the centre of mass,", self.center, CENTERS)
        if self.priorities not in PRIORITIES:
            raise unknown_name("kind of priorities,", self.priorities, PRIORITIES)
        for way in self.lead.values():
            if way not in WAYS:
                raise unknown_name("way to lead a body,", way, WAYS)
        for what, scale in (("the strength", self.strength), *self.joints.items()):
            _check_scale(str(scale), scale, what)

    def choose_base(self, clip: Clip, character: Character, balances: bool) -> Base:
        """See `MixPlan.choose_base`. Whoever is to balance does so on its own feet, wherever they go."""
        from poise.jobs.shared.base import Base, find_off_its_feet, has_feet, say_steps
        from poise.motion.contacts.stepping import find_steps

        if self.base != PLANTED:
            base = super().choose_base(clip, character, balances)
            if base.name == KINEMATIC and (CENTER in self.paths or self.center == "xyz"):
                what = "the path" if CENTER in self.paths else "center xyz"
                raise InputError(
                    "the centre of mass is led by legs that carry it; here pelvis and legs follow the clip. Take the "
                    f"base {BALANCE}, or leave {what} out."
                )
            return base
        if not has_feet(clip):
            raise InputError(
                "a body that follows within its strength stands on its feet; here legs or feet are not known. Name "
                f"them by roles, or leave the base at {AUTO}."
            )
        off = find_off_its_feet(clip, character)
        if _is_down(clip, character) or (off is not None and off == clip.times[0]):
            raise InputError(
                "the clip begins off its feet, lying or sitting: nothing there holds the body up. Trim it to where it "
                f"stands, or leave the base at {AUTO}."
            )
        steps, why = find_steps(clip), ""
        if steps:
            why = (
                f"{say_steps(steps)}: a foot that it lifts carries nothing and goes as the clip does; no "
                "step is taken to save the balance."
            )
        elif off is not None:
            when = f"{off - clip.times[0]:.1f} s"
            why = f"the clip is off its feet at {when}: nothing but the ground holds the body there."
        return Base(PLANTED, steps, why)

    def build_muscles(self, character: Character) -> JointStrength:
        """The strength of a body."""
        muscles = JointStrength.weak(character) if self.weak else JointStrength.from_character(character)
        return muscles.scaled(self.strength).scaled(dict(self.joints))


def _is_down(clip: Clip, character: Character) -> bool:
    """Whether a clip begins with its centre of mass hardly above its soles, or below them."""
    from poise.dynamics.kinematics import compute_center_of_mass
    from poise.dynamics.tree import build_tree
    from poise.jobs.shared.base import OUTSIDE
    from poise.jobs.shared.metrics import find_sole_corners

    first = clip.pick(slice(0, 1))
    height = compute_center_of_mass(build_tree(character), *first.poses)[0, 1] - find_sole_corners(first)[..., 1].min()
    return bool(height < OUTSIDE * leg_length(clip.skeleton, "left"))


def choose_longest(engine: str | None) -> float:
    """s, the longest step of an engine unless another is asked for."""
    return LONGEST.get(engine or INVERSE, StepOptions.dt)


def parse_strengths(words: Iterable[str]) -> tuple[float, dict[str, float]]:
    """Strength out of words, `0.5` of all joints or `rightUpperArm=0.5` of one: times the usual, and by joint."""
    whole, joints = 1.0, {}
    for word in words:
        joint, equals, value = (piece.strip() for piece in word.rpartition("="))
        if (equals and not joint) or "=" in joint:
            raise InputError(f"a strength is a number, or joint=number as in rightUpperArm=0.5; '{word}' was given.")
        try:
            scale = float(value)
        except ValueError:
            scale = math.nan
        _check_scale(word, scale, f"the strength of '{joint}'" if joint else "the strength")
        if joint in joints:
            raise InputError(f"the strength of '{joint}' is given twice. Give it once.")
        if joint:
            joints[joint] = scale
        else:
            whole *= scale
    return whole, joints


def parse_lead(word: str) -> tuple[str, str]:
    """What is led out of a word, `rightHand=position`: the joint and the way; `rightHand` alone: its position."""
    joint, equals, way = (piece.strip() for piece in word.partition("="))
    if not joint or (equals and way not in WAYS):
        raise InputError(f"what is led is joint=way, and the way one of {', '.join(WAYS)}; '{word}' was given.")
    return joint, way or POSITION


def parse_path(word: str) -> tuple[str, Path]:
    """A path out of a word, `rightHand=hand.csv` or `center=com.csv`: the joint, and the file."""
    joint, equals, file = (piece.strip() for piece in word.partition("="))
    if not (joint and equals and file):
        raise InputError(f"a path is joint=file, as in rightHand=hand.csv, or center=com.csv; '{word}' was given.")
    return joint, Path(file)


def _check_scale(word: str, scale: float, what: str) -> None:
    if not 0.0 <= scale <= MOST:
        raise InputError(f"{what} is from 0 to {MOST:g} times the usual; '{word}' was given.")
