"""Following a motion as far as muscles allow (O3, O4).   [strength, section 5]

Step by step: the accelerations that bring the joints to the motion (eq 4); the torques that they and the contact forces
require of each joint (`dynamics/contact/contact_dynamics_kernels.py`, eq 6); and, where these are more than the muscles
have at the joint's angle and velocity (eq 5), the nearest accelerations that require no more, of all joints together,
so that others help (`dynamics/qp/priority_kernels.py`, eq 7 to 18). Contact forces are unknowns like accelerations,
within friction, so how supports share the load is found with the rest. Goals come before the joints' own tracking
(`goals.py`): feet that stand and hands that touch something, then the centre of mass, then effectors and paths.

By default (`priorities="weighted"`) these goals are weighted least squares in one problem, with weights far apart. With
`"strict"` they are the paper's hierarchy (eq 12 to 18): each goal is solved in the null space of those before it, so no
later goal changes an earlier one, however far off it is.

If another driver moves the root, only effectors and paths are left: the root carries the body, whatever that takes.

The centre of mass should be where the motion has it, loads included, as far as soles can push it there and keep it
there: that is planned ahead (`plan_center`), so a plan that no sole could follow is not chased, and a body that holds
too much in front of it leans back beforehand. Torques are never outside their ranges; what that costs is in
`StrengthPlayer.at` and `ratio`.

A body that tips over the edge of its support goes on trying until it lies or is beyond help; then it is given up: the
muscles only brake, with a fraction of their strength.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.body.strength.joint_strength import JointStrength
from poise.drivers.body import Body
from poise.drivers.checks import check_idle, check_playable
from poise.drivers.driver import TORQUE, Claim, Driver
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.strength.goals import BOTH, POSITION, STAY_WEIGHT, WAYS
from poise.drivers.strength.player import FEATHER, StrengthPlayer
from poise.drivers.strength.reference import CENTER
from poise.dynamics.tree import build_tree
from poise.errors import InputError, unknown_name
from poise.kinds import checked
from poise.motion.motion import Motion, as_motion
from poise.motion.point_path import PointPath

WEIGHTED, STRICT = PRIORITIES = ("weighted", "strict")


@checked
@dataclass(frozen=True, eq=False)
class Strength(Driver):
    """Follows a motion within what muscles can do.

    motion     motion that is followed; if it has the root, it is a recording of the whole body
    muscles    None: those of the character (`JointStrength.from_character`)
    start      s of the stage's clock at which the motion's own time is 0
    alpha      fraction of the way to the motion's pose in a step of 1/30 s, 0 to 1; the rest is for its velocity
    center     axes along which the centre of mass is led: "xz", "xyz", "" for none
    effectors  joint -> "position", "orientation" or "both": bodies that are led as well, as the motion has them
    insists    weight of a metre of what is led, beside a radian of a joint: with 3 a hand sinks with a weak arm, with
               30 the whole body helps to hold it up. However far off, it counts no more than a right angle
    cutoff     Hz, low-pass of the velocities of a recording; None: chosen from its noise
    hands      whether free hands reach for fixed props when balance is short (`hand_support.py`)
    paths      joint -> path that leads it instead, on the motion's clock, in the world; `center`: the centre of mass,
               along the chosen axes. A joint that is not among the effectors is led by all that its path has
    priorities "weighted": feet, centre of mass, effectors and joints are weighted goals of one problem. "strict": the
               paper's null-space hierarchy, in that order; `insists` then only limits how fast an effector returns
    """

    motion: Motion
    muscles: JointStrength | None = None
    start: float = 0.0
    alpha: float = 0.2
    center: str = "xz"
    effectors: Mapping[str, str] = field(default_factory=dict)
    insists: float = 10.0
    cutoff: float | None = None
    hands: bool = True
    paths: Mapping[str, PointPath] = field(default_factory=dict)
    priorities: str = WEIGHTED
    level = TORQUE
    active_after_fall = True

    def __post_init__(self) -> None:
        check_playable(self.motion, "Strength")
        object.__setattr__(self, "motion", as_motion(self.motion))
        object.__setattr__(self, "effectors", dict(self.effectors))
        object.__setattr__(self, "paths", dict(self.paths))
        self._check_paths()
        if self.motion.is_live:
            raise InputError("Strength follows a motion that is known beforehand; this one is live.")
        if not 0.0 < self.alpha <= 1.0:
            raise InputError(f"alpha is a share of the way, above 0 and up to 1; given {self.alpha:g}.")
        if not math.isfinite(self.start):
            raise InputError(f"a motion is followed from a finite time on; given {self.start:g} s.")
        if not 0.0 < self.insists <= STAY_WEIGHT:
            raise InputError(f"insists is above 0 and at most {STAY_WEIGHT:g}; given {self.insists:g}.")
        if self.priorities not in PRIORITIES:
            raise unknown_name("kind of priorities,", self.priorities, PRIORITIES)
        for axis in self.center:
            if axis not in "xyz":
                raise unknown_name("axis of the centre of mass,", axis, "xyz")
        for way in self.effectors.values():
            if way not in WAYS:
                raise unknown_name("way to lead a body,", way, WAYS)
        if not self.led:
            check_idle(self, ["insists"], "where no joint is led", "Give effectors or paths")

    def _check_paths(self) -> None:
        for joint, path in self.paths.items():
            if not isinstance(path, PointPath):
                raise InputError(f"the path of '{joint}' is a poise.PointPath; given {path!r:.60}.")
            if joint == CENTER and not self.center:
                raise InputError("a path of the centre of mass needs axes along which it is led, as center='xz'.")
            if path.turns is None and self.effectors.get(joint, POSITION) != POSITION:
                raise InputError(
                    f"'{joint}' is to be led by its {self.effectors[joint]}, and its path has places alone. Give it "
                    "turns, or lead its position."
                )

    @property
    def led(self) -> dict[str, str]:
        """Joint -> one of `WAYS`, of all bodies that are led."""
        ways = {joint: BOTH if path.turns is not None else POSITION for joint, path in self.paths.items()}
        return {joint: way for joint, way in {**ways, **self.effectors}.items() if joint != CENTER}

    @property
    def is_strict(self) -> bool:
        """Whether priorities are strict."""
        return self.priorities == STRICT

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """Claim all joints but the root, which floats; hold those that the motion does not move, or without mass."""
        skeleton = character.skeleton
        for joint in self.led:
            skeleton.index(joint)
        for side in SIDES:
            skeleton.index(f"{side}Foot")
        Kinematic(self.motion).claim(character, joints, part)
        tree = build_tree(character)
        carried = tree.masses.copy()
        for i in range(len(tree) - 1, 0, -1):
            carried[tree.parents[i]] += carried[i]
        moved = tuple(i for i in joints if i and carried[i] > FEATHER)
        return Claim(moved, tuple(i for i in joints if i and i not in moved), frees_root=True)

    def build(self, body: Body, joints: np.ndarray, t: float) -> StrengthPlayer:
        """See `Driver.build`."""
        return StrengthPlayer(self, body, joints, t)
