"""The plan of a mix: which parts are physical, loads, pushes, and how it is simulated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from poise.body.character import Character
from poise.drivers.registry import Drive
from poise.drivers.track.track import CUTOFF, Track
from poise.errors import unknown_name
from poise.jobs.shared.options import (
    BASES,
    PLANTED,
    CouplingOptions,
    EngineOptions,
    ForceOptions,
    PhysicalOptions,
    StepOptions,
    plan_push,
)
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
# Hz, of the low-pass under the rates of a root that follows the clip, and of what springs follow on it
# (`motion/forces/smoothed.py`). What is faster is mostly noise, and becomes torque: at the spine of eight walks and
# runs springs give 0.5 to 2.2 times the peak that `forces` finds, 1.3 times at the median.
LOWEST_KINEMATIC = 6.0


@dataclass(frozen=True)
class MixPlan(ForceOptions, PhysicalOptions, StepOptions, CouplingOptions, EngineOptions):
    """How a clip is mixed with physics: the options of its groups, once their files are read.

    drives   parts that are under drivers of their own, whatever else is said of them
    """

    physical: tuple[str, ...] = ("legs",)
    loads: tuple[Load, ...] = ()
    pushes: tuple[Push, ...] = ()
    scenery: Scenery = field(default_factory=Scenery)
    drives: tuple[Drive, ...] = ()
    parts: ClassVar[str] = "physical"  # the option that names what is physical
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
