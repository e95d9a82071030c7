"""The plan of a mix: which parts are physical, loads, pushes, and how it is simulated."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from poise.body.character import Character
from poise.drivers.counterpoise.lean import PELVIS
from poise.drivers.registry import Drive
from poise.drivers.track.track import CUTOFF, Track
from poise.errors import InputError, unknown_name
from poise.motion.clip import Clip
from poise.motion.contacts.glitches import ease
from poise.motion.forces.smoothed import Smoothed
from poise.motion.motion import Motion
from poise.motion.playback.track import choose_shared_cutoff
from poise.world.forces import Load, Push
from poise.world.ground.ground import Ground
from poise.world.scenery import Scenery

if TYPE_CHECKING:
    from poise.jobs.shared.base import Base
AUTO, PLANTED, KINEMATIC = BASES = ("auto", "planted", "kinematic")
DT = 0.005  # s, the longest step that is taken unless another is asked for
# Hz, of the low-pass under the rates of a root that follows the clip, and of what springs follow on it
# (`motion/forces/smoothed.py`). What is faster is mostly noise, and becomes torque: at the spine of eight walks and
# runs springs give 0.5 to 2.2 times the peak that `forces` finds, 1.3 times at the median.
LOWEST_KINEMATIC = 6.0
_PUSH = "a push is written as 't=2 chest 0,0,75 0.2s': when, which joint, newtons along world x, y, z, and for how long"
_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"


@dataclass(frozen=True)
class MixPlan:
    """How a clip is mixed with physics.

    physical     parts that physics moves; the rest follows the clip exactly
    couple, gain, torque_only, coupling_filter, engine   as of `Stage`
    loads, pushes, scenery              see there
    pinned       whether the feet are fixed to the ground
    dt           s, the longest step: the one taken is the longest of which a frame is a multiple
    stiffness    of the balance: 0.3 sways widely, 3 is stiff
    hold         of the balance: 1 keeps the centre of mass still, 0 the hips
    counter_lean rad per m, how far pelvis and spine lean against what the clip's own arms do not do: loads, other arms
    drives       parts that are under drivers of their own, whatever else is said of them
    base         `planted`: physical legs balance on feet that stay; `kinematic`: root and legs follow the clip; `auto`:
                 planted where the clip stands, kinematic where it steps or is off its feet
    """

    physical: tuple[str, ...] = ("legs",)
    couple: str = "exact"
    gain: float = 1.0
    torque_only: bool = False
    coupling_filter: float | None = None
    loads: tuple[Load, ...] = ()
    pushes: tuple[Push, ...] = ()
    pinned: bool = False
    dt: float = DT
    engine: str = "mujoco"
    stiffness: float = 1.0
    hold: float = 1.0
    counter_lean: float = PELVIS
    scenery: Scenery = field(default_factory=Scenery)
    drives: tuple[Drive, ...] = ()
    base: str = AUTO
    planted: ClassVar[str] = PLANTED  # what a base of planted feet is called

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise unknown_name("base", str(self.base), BASES)
        for push in self.pushes:
            plan_push(push.joint, push.force, push.seconds, push.start)

    def choose_base(self, clip: Clip, character: Character, balances: bool) -> Base:
        """What a clip is simulated on. balances: whether its legs would be physical, all of them."""
        from poise.jobs.shared.base import choose_base

        return choose_base(clip, character, self, balances)

    def fit_ground(self, ground: Ground, clip: Clip, character: Character, base: Base) -> Ground:
        """The ground of a clip, which is at the height where its soles rest."""
        return ground

    @property
    def yielding(self) -> float:
        """The `give` of legs that balance."""
        return 0.0

    def build_track(self, clip: Clip, start: float, balances: bool) -> Track:
        """What the physical parts besides legs that balance follow a clip by. start: s, where the clip's time is 0."""
        motion, cutoff = choose_followed(clip, balances)
        return Track(motion, start=start, cutoff=cutoff)


def choose_followed(clip: Clip, balances: bool) -> tuple[Motion, float]:
    """What springs follow of a clip, and Hz of the low-pass under its rates: on a root that follows it, the root's."""
    if balances:
        return ease(clip), CUTOFF
    cutoff = choose_shared_cutoff(clip, LOWEST_KINEMATIC)
    return Smoothed(ease(clip), cutoff), cutoff


def parse_push(text: str) -> Push:
    """A push out of words, as in `t=2 chest 0,0,75 0.2s`."""
    words = re.fullmatch(
        rf"\s*t\s*=\s*({_NUMBER})\s*s?\s+(\S+)\s+({_NUMBER})\s*,\s*({_NUMBER})\s*,\s*({_NUMBER})\s+({_NUMBER})\s*s\s*",
        text,
    )
    if words is None:
        raise InputError(f"{_PUSH}; '{text}' was given.")
    time, joint, x, y, z, seconds = words.groups()
    return plan_push(joint, (float(x), float(y), float(z)), float(seconds), float(time))


def plan_push(joint: str, force: tuple[float, float, float], seconds: float, start: float) -> Push:
    """A push in a clip, which has no time before its first frame."""
    if not (all(math.isfinite(x) for x in (start, *force, seconds)) and seconds > 0.0 and start >= 0.0):
        raise InputError(
            f"a push of {list(force)} N at t={start:g} s for {seconds:g} s cannot be: it begins at 0 "
            "s or later, lasts more than 0 s, and its newtons are finite."
        )
    return Push(joint, force, seconds, start)


def parse_load(text: str) -> Load:
    """A load out of words, as in `rightHand=2`: joint and kilograms."""
    joint, equals, mass = (piece.strip() for piece in text.partition("="))
    number = re.fullmatch(rf"({_NUMBER})\s*(?:kg)?", mass)
    if not (joint and equals) or number is None:
        raise InputError(f"a load is written as joint=kilograms, as in rightHand=2; '{text}' was given.")
    return Load(joint, float(number[1]))


def parse_parts(words: tuple[str, ...]) -> tuple[str, ...]:
    """Parts out of words, several in one with commas."""
    parts = tuple(part for word in words for part in (piece.strip() for piece in word.split(",")) if part)
    if not parts:
        raise InputError("no part was named; name what physics moves, as in legs or legs,trunk.")
    return parts
