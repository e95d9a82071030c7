"""The protocol of drivers and players.

A driver is a description that a user makes: `Balance()`, `Kinematic(clip)`. For a body and the joints that it moves it
builds a *player*, which holds the state that belongs to one actor. The driver's level says which of them integrates
the joints:

    motion  q, w and dw of the joints are prescribed; nobody integrates them   `MotionPlayer`
    torque  torques act at the joints; the engine integrates them              `Player`

The stage never asks for the class of a driver or a player. What it needs to know is in three records:

    Claim      facts about a driver on a character: joints that it moves, holds or pins, and what it requires
    BodyModel  the engine's model of the body, as a player needs it at the body's present state
    Status     how the body stands under a player now: balance, support, posture

A player writes commands in each step (WRITE), and may correct the state after it (POST_STEP), by compiled laws or by
the methods of the same names. What it has to report, it emits: `body.emit`.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.compiled.arena import Arena
from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.drivers.counterpoise.taking_part import Offer
from poise.drivers.transition.transition import Transition
from poise.engines.memory import write_over
from poise.engines.scene import Joint
from poise.errors import InputError, unknown_name

MOTION, TORQUE = "motion", "torque"
WRITE, POST_STEP = "write", "post_step"


@dataclass(frozen=True)
class Claim:
    """Facts about one driver on the joints of one character.

    moved, held       indices of the joints that it moves, and of those that it holds still
    pinned            joints whose bodies are fixed to the world
    frees_root        whether the engine integrates the root
    needs_ground      whether both feet are planted on the ground at the start
    needs_motion      joints that must be prescribed by some driver
    after_others      whether its motion is computed from that of the actor's other drivers, hence after them
    carries_physical  whether undriven joints below its own are physical; those below a prescribed joint are not, else
    yields            whether contacts bend its prescribed joints: `body.pressed` has what acts on each after a step
    trunk             driver of trunk and head where no other driver moves them, with the `exact` coupling; with the
                      `paper` coupling springs hold them, whose targets lean as this driver's would
    rides_on          prop that the root rides on
    follows           actor, or another source of live poses, that it follows: its motion is not known in advance
    """

    moved: tuple[int, ...]
    held: tuple[int, ...] = ()
    pinned: tuple[int, ...] = ()
    frees_root: bool = False
    needs_ground: bool = False
    needs_motion: tuple[int, ...] = ()
    after_others: bool = False
    carries_physical: bool = False
    yields: bool = False
    trunk: Driver | None = None
    rides_on: str | None = None
    follows: Any = None


@dataclass(frozen=True, eq=False)
class BodyModel:
    """The engine's model of a body, as one player needs it.

    joints           types of its joints, by index; those that are not here are ball joints
    requires_hinges  whether an engine without hinges is refused; else it gets ball joints instead
    pinned           joints whose bodies are fixed to the world now; None: those of the claim
    seat             the root in the frame of the prop that it rides on: position (3,) m and orientation (4,)
    bends_toes       whether feet touch the ground with toes that bend, and not each as one stiff sole
    soles_only       whether only soles can touch the ground: the engine's step is faster
    """

    joints: Mapping[int, Joint] = field(default_factory=dict)
    requires_hinges: bool = False
    pinned: tuple[int, ...] | None = None
    seat: tuple[np.ndarray, np.ndarray] | None = None
    bends_toes: bool = False
    soles_only: bool = False


@dataclass(frozen=True, eq=False)
class Status:
    """How a body stands under one player. None: the player does not know.

    balances      whether the player keeps the body on its feet
    lost_balance  whether the body has lost its balance: the actor's other drivers then stop, unless they are
                  `active_after_fall`
    soles         (2, 4, 3) m, corners of the left and the right sole in the world
    margin        m, distance of the centre of mass inside the support polygon
    upright       cosine of the angle between the body's up axis and the one that the player aims at
    sunk          m, at most 0: how much lower than at the start the hips are meant to be
    """

    balances: bool = False
    lost_balance: bool = False
    soles: np.ndarray | None = None
    margin: float = np.nan
    upright: float | None = None
    sunk: float = 0.0


class Player:
    """A driver at work on one actor. Its commands are torques, unless it is a `MotionPlayer`.

    joints             (K,) indices of the joints that it moves; set by the stage if the player has none
    needs_contacts     whether `body.touches` has the contacts of the last step, and `on_contacts` is called
    needs_before_step  whether `before_step` is called; the stage then makes one step at a time
    held               rotations (4,) by joint of a pose that it holds for joints that no driver moves
    """

    joints: np.ndarray
    needs_contacts = False
    needs_before_step = False
    held: Mapping[int, np.ndarray] = {}

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """Begin at time t (s).

        starting  whether the actor has not been simulated yet: begin in the driver's own pose, else at the body's state
        previous  player that moved the joints until now: of the same driver, with more joints or fewer, or of another
                  driver with the same joints
        """

    # The step.

    def laws(self) -> Mapping[str, tuple[Law, Block]]:
        """Return compiled laws by phase (WRITE, POST_STEP), each with its block.

        The method of that name does what has no law. Called again after `change` and `restore`.
        """
        return {}

    def write(self, body: Body, t: float) -> None:
        """Write torques and damping of its joints, which are 0 before, for the step from time t (s) on.

        World poses are up to date.
        """
        found = self.laws().get(WRITE)
        if found is not None:
            body.block.t = t
            found[0](body.block, found[1])

    def post_step(self, body: Body, t: float) -> None:
        """Correct the body's state after the engine's step, at its end t (s)."""

    def before_step(self, body: Body, t: float) -> None:
        """Read other actors and live sources before the step from time t (s) on; no actor has moved yet."""

    def on_contacts(self, body: Body, force: np.ndarray) -> None:
        """Called after each step with the force (3,) N on the body by pushes and contacts, without its stance feet."""

    # What the stage asks for.

    def model(self, body: Body, falling: bool) -> BodyModel:
        """Return the engine's model at the body's present state.

        falling  whether no player keeps the body on its feet
        """
        return BodyModel()

    def status(self, body: Body, t: float) -> Status:
        """Return how the body stands at time t (s)."""
        return Status()

    def handle_request(self, body: Body, t: float) -> bool:
        """Handle what a law requested by `body.request` in the last step; return True to rebuild the body."""
        return False

    def on_mass_changed(self, body: Body) -> None:
        """Called after the actor picks up or drops a load."""

    @property
    def gesture(self) -> Offer | None:
        """Track and clock of the gesture that it plays, for the rest of the body: `counterpoise/taking_part.py`."""
        return None

    # What a user may change while it runs.

    def check_change(self, **parameters: Any) -> None:
        """Raise InputError where `change` would."""
        if type(self).change is Player.change:
            raise InputError(f"a {type(self).__name__} has no parameters to change while it runs.")
        known = [name for name in inspect.signature(self.change).parameters if name != "t"]
        for name in parameters:
            if name not in known and "parameters" not in known:
                raise unknown_name("parameter", name, known, f"what a {type(self).__name__} can change")

    def change(self, t: float, **parameters: Any) -> None:
        """Change parameters from time t on, without a jump."""
        self.check_change(**parameters)

    # Its state.

    def numbers(self) -> dict[str, np.ndarray]:
        """The arrays that say all of its state, by name: they are saved, and written to when it is restored."""
        return {}

    def save(self) -> dict[str, Any]:
        """All that it is now, as plain data: arrays, numbers, words, and lists and dictionaries of those."""
        return {name: array.copy() for name, array in self.numbers().items()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Be again what was saved."""
        write_over(self.numbers(), saved)


class MotionPlayer(Player):
    """Prescribes the motion of its joints.

    transition  what is left of how the joints moved before; the stage adds it to what `write` writes
    """

    transition: Transition | None = None

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """Begin in the motion's own pose, or at the body's pose and velocity, and go over to the motion's.

        Subclasses that override this do both themselves.
        """
        with body.preserved():
            self.write(body, t)
            there, turning, pulling = body.state.copy(), body.dw[self.joints], body.a.copy()
        if starting:
            body.state.q[self.joints] = there.q[self.joints]
            if self._has_root:
                body.state.root[:] = there.root
            return
        self.transition, at = self._make_transition(body.arena), self.joints
        self.transition.measure(body, there.q[at], there.w[at], turning, there.root, there.v, pulling, t)

    def _make_transition(self, room: Arena | None) -> Transition:
        """A transition of what `begin` takes over, still of nothing."""
        return Transition(room, self.joints, moves_root=self._has_root)

    @property
    def _has_root(self) -> bool:
        """Whether the root is among its joints."""
        return bool(len(self.joints) and self.joints[0] == 0)

    def write(self, body: Body, t: float) -> None:
        """Write q, w and dw of its joints at time t (s), and the root's position, v and a if it moves the root."""
        law, block = self.laws()[WRITE]
        body.block.record["at"] = t  # no array has this size; faster than `Layout.set`, which checks them
        law(body.block, block)


class Driver(ABC):
    """What a user puts on a part of a body.

    level              MOTION or TORQUE
    root               whether it drives the `root`: "only", "never" or "also"
    active_after_fall  whether it goes on once the body has lost its balance; else its joints go limp then
    """

    level: str
    root: str = "never"
    active_after_fall: bool = False

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """Return which of the joints it moves and what it requires; raise InputError if they are not what it needs."""
        return Claim(tuple(joints))

    def check(self, body: Body) -> None:  # noqa: B027  most drivers take over from any state
        """Raise InputError if this driver cannot take over from the present state of a body."""

    @abstractmethod
    def build(self, body: Body, joints: np.ndarray, t: float) -> Player:
        """Return the player of this driver for some joints of a body, from time t (s) on, at the body's state."""
