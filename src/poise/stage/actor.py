"""A character on a stage, with its drivers, which can be changed while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.compiled.law import Block, Law
from poise.drivers.body import Body, load_tree
from poise.drivers.checks import check_claim, check_driver
from poise.drivers.driver import MOTION, BodyModel, Driver, MotionPlayer, Player
from poise.drivers.joint_limits.limit_torques import LimitTorques
from poise.drivers.loose.loose import LoosePlayer
from poise.drivers.loose.rest import RestPlayer
from poise.drivers.root.root import check_part
from poise.dynamics.tree import build_tree
from poise.errors import InputError, unknown_name
from poise.motion.motion import Pose
from poise.stage.actor_builder import take_part
from poise.stage.arguments import ROOT, check_driven, find_driven, take_driver, take_load, take_loads, take_pose
from poise.stage.assignment import Assignment, Partition, add_trunk, divide, give_way, go_limp, let_go
from poise.stage.attachment import check_boarding, check_free, let_fall, make_grip
from poise.stage.coupling.coupling import CouplingState
from poise.stage.coupling.flight import MomentumCorrection
from poise.stage.coupling.paper import check_live, check_standing, lags, spread
from poise.stage.monitor.effort import Effort
from poise.stage.monitor.health import find_fall
from poise.stage.standing import stand_at_ease
from poise.stage.take.take import Event
from poise.world.forces import Load, Push
from poise.world.grip import Grip

if TYPE_CHECKING:
    from poise.stage.stage import Stage
MOST_PUSHES = 100_000  # at once, of one actor


class Actor:
    """Made by `Stage.add`. What a user needs: `drive`, `change`, `load`, `grasp`, `drop`, `push`, `listen`.

    It is a motion itself, a live one: another actor, on this stage or on another, follows it (`Track(actor)`,
    `Kinematic(actor)`) and sees it as it is when the step begins.
    """

    is_live, delay, duration = True, 0.03, np.inf

    def __init__(self, stage: Stage, character: Character, name: str, pose: Pose | None, loads: Iterable[Load]):
        self.stage, self.character, self.name = stage, character, name
        self.loads = take_loads(loads)
        self.grips: list[Grip] = []  # props in its hands
        self.body = Body(character, self.loads)
        self.assignments: list[Assignment] = []
        self.listeners: list[Callable[[Any], None]] = []
        self.pushes: list[Push] = []
        self.fallen: float | None = None
        self.started = False
        self._left: Pose | None = None  # its pose when it left the stage
        self.lets_go = True  # whether what its drivers play stops once the balance is lost; a user may say no
        self.rest: LoosePlayer | None = None
        self.still: RestPlayer | None = None  # what comes to rest, given and driven by nobody
        start = stand_at_ease(character) if pose is None else take_pose(pose, character, name)
        self.is_posed = pose is not None
        self.body.state.root[:], self.body.state.q[:] = start.root, start.rotations
        self.partition: Partition | None = None
        self.start_height = 0.0
        self.coupling = CouplingState(self.body, stage.torque_only, stage.coupling_filter is not None)
        self.limits = LimitTorques(self.body)
        self.effort = Effort(self)
        self.flight = MomentumCorrection(self)

    # What a user does.

    def drive(self, part: str | Iterable[str], driver: Driver) -> None:
        """Put a driver on a part: `legs`, `arms`, `trunk`, ..., `body`, `root`, or a list of joints. At any time.

        Pose and velocity go on without a jump. Joints that no driver moves hold their pose.
        """
        driver = take_driver(driver, part)
        joints = find_driven(self.character.skeleton, part, driver)
        name = part if isinstance(part, str) else ", ".join(part)
        check_driver(driver)
        check_part(driver, name, part == ROOT)
        claim = driver.claim(self.character, joints, name)
        check_claim(claim, driver, joints, self.character.skeleton)
        check_driven(self.stage.engine, driver, claim)
        if driver.level != MOTION and claim.follows is not None:
            self._check_followed(driver, claim.follows)
        if self.stage.is_built and claim.rides_on is not None and claim.rides_on not in self.stage.props:
            raise unknown_name("prop", claim.rides_on, self.stage.props, "this stage")  # none will come any more
        if claim.rides_on is not None:
            check_free(self.stage, claim.rides_on)
        if self.started:
            with self.stage.hold():
                driver.check(self.body)
                if claim.rides_on is not None:
                    check_boarding(self.body, claim.rides_on, self.name)
        own = [a for a in self.assignments if not a.is_default]
        assignments = [*give_way(own, claim, self.character), Assignment(name, driver, claim)]
        assignments = add_trunk(assignments, self.assignments, self.character, self.stage.couple)
        # raises where the split cannot be
        partition, _ = divide(assignments, self.character.skeleton, self.body.tree, self.name, self.stage.couple)
        if self._is_guarded:
            live = [a for a in assignments if a.claim.follows is not None and a.driver.level == MOTION]
            check_live(self.body, [i for a in live for i in a.claim.moved], self.name)
        if self.started and self._is_guarded:
            given = ~np.isin(np.arange(len(self.body.tree)), partition.physical)
            stands = any(a.claim.needs_ground for a in assignments) and not self.has_lost_balance
            check_standing(self.body, given, stands, self.name)
        with self.stage.hold():
            if self.started:  # where everybody is now, as long as those who know it are there
                self.show(self.stage.time)
            self.assignments = assignments
            if self.stage.is_built:
                self.tell("switched", f"{name} by {type(driver).__name__}")
            self.stage.rebuild(self)

    def _check_followed(self, driver: Driver, other: Any) -> None:
        """Raise InputError unless a physical body follows another actor of its stage."""
        if other is self:
            raise InputError(f"'{self.name}' cannot follow itself; give {type(driver).__name__} another actor.")
        if self.stage.actors.get(other.name) is not other:
            raise InputError(
                f"{type(driver).__name__} follows an actor of its own stage; '{other.name}' is not on the stage of "
                f"'{self.name}'. Add it there: stage.add(character)."
            )

    def change(self, part: str | None = None, **parameters: Any) -> None:
        """Change parameters of a gesture while it runs: `change(bpm=140)`, `change("arms", size=1.5)`."""
        playing = {
            a.part: a.player
            for a in self.assignments
            if a.player is not None and type(a.player).change is not Player.change
        }
        players = [player for name, player in playing.items() if part in (None, name)]
        if not self.stage.is_built:
            raise InputError("parameters are changed while a stage runs; before that, give them to the gesture.")
        if not players and any(part in (None, a.part) for a in self.assignments if a.before is not None):
            return  # it was let go, and plays nothing any more
        if not players:
            raise unknown_name("part", str(part), playing, f"what '{self.name}' plays")
        for player in players:  # all or none
            player.check_change(**parameters)
        with self.stage.hold():
            for player in players:
                player.change(self.stage.time, **parameters)
            take_part(self, self.stage.time)
            self.stage.refresh(self)

    def load(self, load: Load) -> None:
        """Put something heavy on a joint."""
        load = take_load(load)
        self.character.skeleton.index(load.joint)
        self._set_loads([*self.loads, load])

    def grasp(
        self, joint: str, prop: str, place: Iterable[float] | None = None, turn: Iterable[float] | None = None
    ) -> None:
        """Take a prop of the stage into a hand: it is then a part of the hand's body, until it is dropped.

        place, turn  (3,) m, (4,): the prop's frame in the joint's. Without, it is in the middle of the fist with its
                     own up towards the thumb; while the stage runs it is taken up where it is
        """
        with self.stage.hold():
            if self.started:
                self.show(self.stage.time)
            grips = [*self.grips, make_grip(self, joint, prop, place, turn)]
            self._set_loads(self.loads, grips)
            if self.stage.is_built:
                self.tell("grasped", f"{prop} with {joint}")

    def drop(self, joint: str) -> None:
        """Let go of all that a joint holds: loads are gone, props fall."""
        at = self.character.skeleton.index
        index = at(joint)
        kept = [load for load in self.loads if at(load.joint) != index]
        grips = [grip for grip in self.grips if at(grip.joint) != index]
        if len(kept) == len(self.loads) and len(grips) == len(self.grips):
            raise InputError(f"'{joint}' of '{self.name}' holds nothing that it could drop.")
        with self.stage.hold():
            if self.started:
                self.show(self.stage.time)
            let_fall(self, [grip for grip in self.grips if grip not in grips] if self.started else ())
            self._set_loads(kept, grips)
            self.tell("dropped", f"what {joint} held")

    def push(self, joint: str, force: Iterable[float], seconds: float, start: float | None = None) -> None:
        """Push a body at its centre of mass with a force (N, world axes) for some seconds, from now or from `start`.

        A push that has ended is forgotten. Under the `paper` coupling a blow is spread over what that is late by.
        """
        push = Push(joint, force, seconds, self.stage.time if start is None else start)  # type: ignore[arg-type]
        self.character.skeleton.index(joint)
        if len(self.pushes) >= MOST_PUSHES:
            raise InputError(
                f"'{self.name}' has {len(self.pushes)} pushes before it already, as many as can be planned at once. "
                "Let some of them end first."
            )
        if self._is_guarded:
            push = spread(push, float(self.coupling.filter_factor[0]), self.stage.dt)
        with self.stage.hold():
            self.pushes.append(push)
            self.stage.expect(push.start + push.seconds, self)
            self.stage.refresh(self)

    def drop_pushes(self, t: float) -> None:
        """Forget the pushes that have ended by time t."""
        self.pushes[:] = [push for push in self.pushes if t < push.start + push.seconds]

    def listen(self, listener: Callable[[Any], None]) -> None:
        """Have a function called with every event of this actor."""
        self.listeners.append(listener)

    def tell(self, kind: str, message: str = "") -> None:
        """Something happened."""
        self.tell_event(Event(self.stage.time, self.name, kind, message))

    def tell_event(self, event: Event, is_listed: bool = False) -> None:
        """Report an event to the stage, unless the stage lists it already, and to the actor's listeners."""
        if not is_listed:
            self.stage.news.add(event)
        for listener in self.listeners:
            listener(event)

    def player(self, part: str) -> Player:
        """What plays on a part, as it was named to `drive`, once the stage is built."""
        found = {a.part: a.player for a in self.assignments if a.player is not None}
        if part not in found:
            raise unknown_name("part", part, found, f"what '{self.name}' plays")
        return found[part]

    # Who moves what.

    @property
    def carrier(self) -> str | None:
        """The prop that it rides on."""
        return next((a.claim.rides_on for a in self.assignments if a.claim.rides_on is not None), None)

    def _set_loads(self, loads: list[Load], grips: list[Grip] | None = None) -> None:
        grips = self.grips if grips is None else grips
        tree = load_tree(build_tree(self.character), self.character, [*loads, *grips])
        with self.stage.hold():
            self.loads, self.grips = loads, grips
            self.body.grips = grips
            self.body.set_tree(tree)
            for player in self.players:
                player.on_mass_changed(self.body)
            self.stage.rebuild(self)

    @property
    def given(self) -> np.ndarray:
        """(J,) bool, joints whose motion is given."""
        return self.coupling.given

    @property
    def connectors(self) -> list[int]:
        """Joints whose bodies carry what is given."""
        return self.coupling.connectors

    def find_coupling(self, is_coupled: bool = False) -> tuple[Law, Block]:
        """The law that couples what is given to what is physical, with its block; and pushes are in that.

        is_coupled  the engine's step does so by itself: what is left is the share of a gain other than 1
        """
        gain = self.stage.gain - (1.0 if is_coupled else 0.0)
        return self.coupling.find_law(self.stage.couple, gain, self.pushes), self.coupling.block

    @property
    def players(self) -> list[Player]:
        """All players, those last that hold what nobody drives."""
        found = [a.player for a in self.assignments if a.player is not None]
        return [*found, *(player for player in (self.rest, self.still) if player is not None)]

    def in_order(self) -> list[Player]:
        """All players, those last whose motion is computed from the others'."""
        last = {id(a.player) for a in self.assignments if a.claim.after_others}
        return sorted(self.players, key=lambda player: id(player) in last)

    def list_motions(self) -> list[MotionPlayer]:
        """Players that prescribe motion, in order, without one whose root rides on a prop: the prop moves that."""
        riding = {id(a.player) for a in self.assignments if a.claim.rides_on is not None}
        players = [player for player in self.in_order() if id(player) not in riding]
        return [player for player in players if isinstance(player, MotionPlayer)]

    def find_models(self) -> list[tuple[Player, BodyModel]]:
        """What each player needs the engine's body to be at its present state."""
        falling = not self.balances
        return [(player, player.model(self.body, falling)) for player in self.players]

    def find_standing(self) -> list[Player]:
        """Players that keep the body on its feet."""
        return [player for player in self.players if player.status(self.body, self.stage.time).balances]

    @property
    def balances(self) -> bool:
        """Whether a player keeps the body on its feet."""
        return bool(self.find_standing())

    def handle_request(self, t: float) -> bool:
        """Have players handle the request of a law; return whether the body is to be rebuilt."""
        self.body.block.request = 0
        had = not self.has_lost_balance
        answers = [player.handle_request(self.body, t) for player in self.players]  # all of them
        if had and self.has_lost_balance and self.lets_go and not self.given[0]:
            self._let_go()
        return any(answers)

    @property
    def _is_guarded(self) -> bool:
        """Whether the `paper` coupling is kept stable: see `stage/coupling/paper.py`. A filter that the user chose is
        not.
        """
        return self.stage.couple == "paper" and self.stage.coupling_filter is None

    @property
    def has_lost_balance(self) -> bool:
        """Whether a player says so."""
        return any(player.status(self.body, self.stage.time).lost_balance for player in self.players)

    @property
    def limp(self) -> list[int]:
        """Numbers of the assignments that were let go."""
        return [k for k, a in enumerate(self.assignments) if a.before is not None]

    def _let_go(self) -> None:
        """Stop what is played, from where it is: all that does not keep on goes limp."""
        is_late = self._is_guarded and lags(float(self.coupling.filter_factor[0]))
        assignments = let_go(self.assignments, self.character.skeleton, self.body.tree, self.name, is_late)
        gone = [a.part for a, old in zip(assignments, self.assignments, strict=True) if a is not old]
        if gone:
            self.show(self.stage.time)
            self.assignments = assignments
            self._tell_news()  # of the cause before the effect
            self.tell("let-go", ", ".join(gone))
            self.stage.rebuild(self)

    def set_limp(self, which: list[int]) -> bool:
        """Have those assignments limp and no others, as when a state was saved; whether anything has changed."""
        if which == self.limp:
            return False
        self.assignments = go_limp(self.assignments, which, self.body.tree)
        return True

    def follow(self, t: float) -> None:
        """Falls, and what drivers tell."""
        why = find_fall(self, t) if self.fallen is None else None
        if why is not None:
            self.fallen = t
            self.tell("fell", why)
        self._tell_news()

    def _tell_news(self) -> None:
        """Report the events that players emitted."""
        news = self.body.news[:]
        self.body.news.clear()
        for kind, message in news:
            self.tell(kind, message)

    def measure(self) -> tuple[np.ndarray, np.ndarray]:
        """Torque (J, 3) N m at each joint in body axes, and effort (J,): see `Effort.measure`."""
        return self.effort.measure()

    def show(self, t: float) -> None:
        """Put what is given where it is at time t, in the body's state; a root that is carried stays where it is."""
        for player in self.list_motions():
            player.write(self.body, t)
            if player.transition is not None:
                player.transition.add(self.body, t)
        self.body.update()

    # A motion.

    @property
    def skeleton(self) -> Skeleton:
        """The joints that move."""
        return self.character.skeleton

    @property
    def has_left(self) -> bool:
        """Whether it was removed from its stage."""
        return self._left is not None

    def leave(self) -> None:
        """Hold the present pose from now on: actors that follow this one would follow joints that nothing moves."""
        self._left = self._find_pose()

    def pose(self, t: float = 0.0) -> Pose:
        """Where it is now, whatever the time: somebody else's clock may say another one."""
        if self._left is not None:
            return Pose(self._left.root.copy(), self._left.rotations.copy())
        with self.stage.hold():
            self.stage.check_finite(self)
            return self._find_pose()

    def _find_pose(self) -> Pose:
        # Prescribed joints are put where they are now, and back: the step goes on as if no pose had been read.
        with self.body.preserved():
            self.show(self.stage.time)
            return Pose(self.body.state.root.copy(), self.body.state.q.copy())
