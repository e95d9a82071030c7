"""The protocol of drivers and players.

A driver is a description that a user makes: `Balance()`, `Kinematic(clip)`. Given a body and the joints that it is to
move it becomes a *player*, which holds the state that goes with one actor. A driver speaks at one level, and that says
who integrates its joints:

    motion        q, w and dw of its joints are given; nobody integrates them              `MotionPlayer.give`
    acceleration  dw of its joints is given; an engine that takes accelerations integrates `AccelerationPlayer.give`
    torque        torques at its joints; the engine integrates them                        `TorquePlayer.act`

A driver is told what joints it should move and answers which of them it moves and which it holds still (a foot's
toes under `Balance`); joints that it cannot do with or without it refuses by name.

The stage never asks who a driver is. All that it may need to know of one is here, and has an answer that does for most.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.drivers.counterpoise.taking_part import Offer
from poise.drivers.transition.transition import Transition
from poise.engines.memory import write_over
from poise.engines.scene import Joint
from poise.errors import InputError, unknown_name
from poise.spatial import rotation

MOTION, ACCELERATION, TORQUE = "motion", "acceleration", "torque"
# When a player's law is called: for line 1 of the step, line 3, after line 5, and for whoever looks.
GIVE, ACT, SETTLE, SHOW = "give", "act", "settle", "show"


@dataclass(frozen=True)
class Claim:
    """What a driver makes of the joints it is given: those it moves, those it holds, those it wants fixed to the world.

    frees_root  whether the root must float for this driver to make sense
    stands      whether it needs ground under both feet when it begins: they are put there
    """

    moved: tuple[int, ...]
    held: tuple[int, ...] = ()
    pinned: tuple[int, ...] = ()
    frees_root: bool = False
    stands: bool = False


@dataclass(frozen=True, eq=False)
class Support:
    """What a player says of the feet that it stands on.

    soles   (2, 4, 3) m, corners of the left and the right sole in the world
    margin  m, of the centre of mass inside their hull
    """

    soles: np.ndarray
    margin: float


@dataclass(frozen=True)
class Bearing:
    """How a body holds itself, beside what its player wants of it: one that follows a bow has not fallen.

    upright  cosine of the angle by which it leans from what is wanted
    sunk     m, at most 0: how much lower than at its beginning it is meant to be
    """

    upright: float
    sunk: float


class Player(ABC):
    """A driver at work on one actor.

    joints        (K,) indices of those that it moves; set for it where it does not
    after_others  whether it gives its motion after all others of the actor: it depends on theirs
    carrier       the prop that its root rides on, where it has one
    looks         whether it has to `look` before every step; the stage then makes one step at a time
    is_pressed    whether contacts bend its given joints: what they press on each is in `body.pressed` after each step
    feels         whether it wants to know what touched the body in the last step: it is in `body.touches` then
    bends_toes    whether feet are to touch the ground with toes that bend, and not as one stiff sole each
    """

    joints: np.ndarray
    after_others = False
    carrier: str | None = None
    looks = False
    feels = False
    is_pressed = False
    bends_toes = False

    @property
    def leans(self) -> bool:
        """Whether it writes `Body.lean`."""
        return False

    @property
    def seat(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the root is in the frame of its carrier: place (3,) m, turn (4,)."""
        return np.zeros(3), rotation.identity()

    # The step.

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """Compiled laws by when they are called (GIVE, ACT, SETTLE, SHOW), each with its block.

        What has no law is done by the method of the same name, in Python. Asked again after `change` and `restore`.
        """
        return {}

    def strike(self, body: Body, force: np.ndarray) -> None:  # noqa: B027
        """Called after each step, if it `feels`: the force (3,) N on the body by pushes and contacts besides soles."""

    def look(self, body: Body, t: float) -> None:  # noqa: B027
        """See, before the step from time t on, what it needs of the world outside; all look before anybody moves."""

    # What a stage asks.

    def begin(self, body: Body, t: float, starting: bool) -> None:  # noqa: B027
        """It plays from time t on: at the actor's start in its own pose, later from the body's state on."""

    def succeed(self, before: Player) -> None:  # noqa: B027
        """Go on, where it can, with what another player of its driver did on more joints or fewer; then it begins."""

    def find_pins(self) -> tuple[int, ...] | None:
        """Joints whose bodies are fixed to the world now, where that changes; None: those of its driver's claim."""
        return None

    def list_pins(self) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Of pins that move: joint, place (3,) m and orientation (4,) where its body is to be after the step."""
        return []

    def kinds(self, body: Body) -> dict[int, Joint]:
        """How the engine should build its joints at the body's present state; balls where nothing is said."""
        return {}

    def prefers(self, body: Body, falling: bool) -> dict[int, Joint]:
        """How its joints had better be built, where the engine can and `kinds` says nothing.

        falling  whether nobody keeps the body on its feet
        """
        return {}

    def weigh(self, body: Body) -> None:  # noqa: B027
        """The body weighs something else now: it took up a load, or dropped one."""

    def answer(self, body: Body, t: float) -> bool:
        """A law wrote to the body's `called` in the last step: see to it; whether the body is to be built anew."""
        return False

    def events(self) -> list[str]:
        """What it has to tell since it was last asked."""
        return []

    @property
    def has_lost_balance(self) -> bool:
        """Whether the body has lost its balance under it: the actor then lets go of what its other drivers play."""
        return False

    def find_support(self, body: Body) -> Support | None:
        """The feet that it stands on; None: it does not know of any."""
        return None

    def find_bearing(self, body: Body, t: float) -> Bearing | None:
        """How the body holds itself, beside what is wanted; None: upright is what is wanted."""
        return None

    @property
    def touches_with_soles_only(self) -> bool:
        """Whether nothing but its soles can touch the ground while it plays: an engine is quicker so."""
        return False

    @property
    def stands(self) -> bool:
        """Whether it keeps the body on its feet: their contacts are then as soft as feet that stand want them."""
        return False

    @property
    def renews(self) -> bool:
        """Whether its compiled ACT may be asked again within a step that an engine cuts; `dt` is then the part's."""
        return False

    def find_part(self) -> Offer | None:
        """How the rest of the body takes part in the gesture that it plays: see `drivers/counterpoise/taking_part.py`.
        None: not at all.
        """
        return None

    def find_held(self) -> dict[int, np.ndarray]:
        """Rotations (4,) by joint of a pose that it holds on behalf of joints that nobody drives."""
        return {}

    # What a user may change while it runs.

    @property
    def is_changeable(self) -> bool:
        """Whether `change` does anything."""
        return type(self).change is not Player.change

    def check_change(self, **parameters: Any) -> None:
        """Raise InputError where `change` would."""
        if not self.is_changeable:
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
    """Gives the motion of its joints.

    hand_over  what is left of how the joints moved before; it is added to what `give` and `show` write
    """

    hand_over: Transition | None = None

    def begin(self, body: Body, t: float, starting: bool) -> None:
        """Begin in the motion's own pose, or at the body's pose and velocity, and go over to the motion's.

        Whoever writes his own sees to that himself.
        """
        if starting:
            self.show(body, t)
            body.state.q[self.joints] = body.shown.q[self.joints]
            if self._has_root:
                body.state.root[:] = body.shown.root
            return
        kept, dw, a = body.state.copy(), body.dw.copy(), body.a.copy()
        self.give(body, t)
        there, turning, pulling = body.state.copy(), body.dw[self.joints], body.a.copy()
        body.put(kept)
        body.dw[:], body.a[:] = dw, a
        self.hand_over, at = self.make_hand_over(body), self.joints
        self.hand_over.measure(body, there.q[at], there.w[at], turning, there.root, there.v, pulling, t)

    def make_hand_over(self, body: Body) -> Transition:
        """A hand-over of what `begin` takes over, still of nothing."""
        return Transition(body, self.joints)

    @property
    def _has_root(self) -> bool:
        """Whether the root is among its joints."""
        return bool(len(self.joints) and self.joints[0] == 0)

    @abstractmethod
    def give(self, body: Body, t: float) -> None:
        """Write q, w and dw of its joints at time t (and the root's v and a if it moves the root) into the body."""

    def settle(self, body: Body, t: float) -> None:
        """After the engine's step, at its end t: put what must be there before anybody looks."""

    def show(self, body: Body, t: float) -> None:
        """Write q of its joints at time t into `body.shown`, and the root's place if it moves the root."""
        kept, dw, a = body.state.copy(), body.dw.copy(), body.a.copy()
        self.give(body, t)
        body.shown.q[self.joints] = body.state.q[self.joints]
        if self._has_root:
            body.shown.root[:] = body.state.root
        body.put(kept)
        body.dw[:], body.a[:] = dw, a

    def give_smoothly(self, body: Body, t: float) -> None:
        """Write where its joints are at time t into the body: what it gives, and what is left of before."""
        self.give(body, t)
        if self.hand_over is not None:
            self.hand_over.add(body, t)


def save_hand_over(player: Player) -> dict[str, Any] | None:
    """What is left of a hand-over, as plain data; None where there was none."""
    left = player.hand_over if isinstance(player, MotionPlayer) else None
    return None if left is None else {name: array.copy() for name, array in left.numbers().items()}


def restore_hand_over(player: Player, saved: dict[str, Any] | None, body: Body) -> None:
    """Have what was left when it was saved."""
    if not isinstance(player, MotionPlayer):
        return
    if saved is None:
        player.hand_over = None
        return
    player.hand_over = player.hand_over or player.make_hand_over(body)
    for name, array in player.hand_over.numbers().items():
        array[...] = saved[name]


class AccelerationPlayer(Player):
    """Gives accelerations of its joints, for an engine whose `Capabilities` take them."""

    @abstractmethod
    def give(self, body: Body, t: float) -> None:
        """Write dw of its joints for the step from time t on into the body."""


class TorquePlayer(Player):
    """Gives torques at its joints.

    has_torques  whether `act` does anything
    """

    has_torques = True

    @abstractmethod
    def act(self, body: Body, t: float) -> None:
        """Write torque and damping of its joints into the body, whose world poses and velocities are up to date."""


class Driver(ABC):
    """What a user puts on a part of a body.

    level         MOTION, ACCELERATION or TORQUE
    root          whether it drives the `root`: "only", "never" or "also"
    after_others  whether its players begin and give after all others: see `Player.after_others`
    keeps         whether it goes on where the body has lost its balance; else its joints go limp then
    carries_physical  whether joints that nobody drives and that hang from its joints are physical: a motion's are not
    """

    level: str
    root = "never"
    after_others = False
    keeps: bool = False
    carries_physical = False

    @property
    def trunk(self) -> Driver | None:
        """What drives trunk and head where this drives the legs and nobody drives those, with `exact` coupling.

        With `paper` coupling springs hold them, whose aims lean as a `Counterpoise` would have it.
        """
        return None

    @property
    def carrier(self) -> str | None:
        """The prop that the root rides on under it."""
        return None

    @property
    def follows(self) -> Any:
        """The actor whose own state it goes by: never the one that it drives."""
        return None

    @property
    def is_live(self) -> bool:
        """Whether it is asked as it comes: what it gives next is not known, and may jump."""
        return False

    @property
    def leader(self) -> object | None:
        """Whose motion the root goes after, if it drives that; where that is an actor, this one is a ghost."""
        return None

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """Which of the joints it moves and which it holds; raises where they are not what it needs."""
        return Claim(tuple(joints))

    def check_given(self, skeleton: Skeleton, physical: Sequence[int]) -> None:  # noqa: B027  most do not mind
        """Raise InputError where this driver cannot be because some joints (indices) are physical."""

    def check_body(self, body: Body) -> None:  # noqa: B027  most go on from anything
        """Raise InputError where this driver cannot take over from what a body does at the moment."""

    @abstractmethod
    def play(self, body: Body, joints: np.ndarray, t: float) -> Any:
        """The player of this driver for some joints of a body, from time t on, starting at the body's state."""
