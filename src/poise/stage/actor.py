"""A character on a stage, with its drivers, which can be changed while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.compiled.law import Block, Law
from poise.drivers.body import Body, load_tree
from poise.drivers.driver import Driver, Player
from poise.drivers.joint_limits.limit_torques import LimitTorques
from poise.dynamics.tree import build_tree
from poise.errors import InputError, unknown_name
from poise.motion.motion import Pose
from poise.stage.actor_builder import take_part
from poise.stage.arguments import check_drive, check_split, take_load, take_loads, take_pose
from poise.stage.assignment import Assignments
from poise.stage.attachment import let_fall, make_grip
from poise.stage.coupling.coupling import CouplingState, MomentumCorrection
from poise.stage.coupling.paper import spread
from poise.stage.monitor.effort import Effort
from poise.stage.monitor.health import find_fall
from poise.stage.partition import Partition
from poise.stage.standing import stand_at_ease
from poise.stage.take.take import Event
from poise.world.forces import Load, Push
from poise.world.grip import Grip

if TYPE_CHECKING:
    from poise.stage.stage import Stage
MOST_PUSHES = 100_000  # at once, of one actor


class Actor:
    """Made by `Stage.add`. What a user needs: `drive`, `change`, `load`, `grasp`, `drop`, `push`, `listen`.

    An actor is itself a motion, a live one: another actor, on this stage or on another, follows it (`Track(actor)`,
    `Kinematic(actor)`) and reads its pose as the step begins.

    ragdoll_on_fall  whether drivers stop once the balance is lost; a user may set it to False
    assignments      its drivers, and their players
    """

    is_live, delay, duration = True, 0.03, np.inf

    def __init__(self, stage: Stage, character: Character, name: str, pose: Pose | None, loads: Iterable[Load]):
        self.stage, self.character, self.name = stage, character, name
        self.loads = take_loads(loads)
        self.grips: list[Grip] = []  # props in its hands
        self.body = Body(character, self.loads)
        self.assignments = Assignments(self)
        self.listeners: list[Callable[[Any], None]] = []
        self.pushes: list[Push] = []
        self.fallen: float | None = None
        self.started = False
        self.ragdoll_on_fall = True
        self._left: Pose | None = None  # its pose when it left the stage
        start = stand_at_ease(character) if pose is None else take_pose(pose, character, name)
        self.is_posed = pose is not None
        self.body.state.root[:], self.body.state.q[:] = start.root, start.rotations
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
        driver, name, claim = check_drive(self, part, driver)
        entries, partition = self.assignments.with_driver(name, driver, claim)
        check_split(self, entries, partition)
        with self.stage.hold():
            if self.started:  # where all actors are now, while the players that know it are there
                self.show(self.stage.time)
            self.assignments.entries = entries
            if self.stage.is_built:
                self.report("switched", f"{name} by {type(driver).__name__}")
            self.stage.rebuild(self)

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
            return  # it is limp, and plays nothing any more
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
                self.report("grasped", f"{prop} with {joint}")

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
            self.report("dropped", f"what {joint} held")

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
        if self.is_guarded:
            push = spread(push, float(self.coupling.filter_factor[0]), self.stage.dt)
        with self.stage.hold():
            self.pushes.append(push)
            self.stage.loop.expect(push.start + push.seconds, self)
            self.stage.refresh(self)

    def drop_pushes(self, t: float) -> None:
        """Forget the pushes that have ended by time t."""
        self.pushes[:] = [push for push in self.pushes if t < push.start + push.seconds]

    def listen(self, listener: Callable[[Any], None]) -> None:
        """Call a function with every event of this actor from now on."""
        self.listeners.append(listener)

    def report(self, kind: str, message: str = "") -> None:
        """Report an event now."""
        self.report_event(Event(self.stage.time, self.name, kind, message))

    def report_event(self, event: Event, is_listed: bool = False) -> None:
        """Report an event to the stage, unless the stage lists it already, and to the actor's listeners."""
        if not is_listed:
            self.stage.event_log.add(event)
        for listener in self.listeners:
            listener(event)

    def player(self, part: str) -> Player:
        """Return the player of a part, as the part was named to `drive`, once the stage is built."""
        found = {a.part: a.player for a in self.assignments if a.player is not None}
        if part not in found:
            raise unknown_name("part", part, found, f"what '{self.name}' plays")
        return found[part]

    # What moves its joints.

    @property
    def players(self) -> list[Player]:
        """All players; those that hold joints without a driver come last."""
        return self.assignments.players

    @property
    def partition(self) -> Partition | None:
        """Which joints are physical and which kinematic; None before the stage is built."""
        return self.assignments.partition

    @property
    def has_lost_balance(self) -> bool:
        """Whether it has lost its balance, as a player reports."""
        return self.assignments.has_lost_balance

    @property
    def is_guarded(self) -> bool:
        """Whether the `paper` coupling is kept stable (`stage/coupling/paper.py`); with a user's filter it is not."""
        return self.stage.couple == "paper" and self.stage.coupling_filter is None

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
        """(J,) bool, joints whose motion is prescribed."""
        return self.coupling.given

    @property
    def connectors(self) -> list[int]:
        """Joints whose bodies carry prescribed parts."""
        return self.coupling.connectors

    def find_coupling(self, is_coupled: bool = False) -> tuple[Law, Block]:
        """Return the law that couples prescribed to physical joints, with its block, which has the pushes too.

        is_coupled  whether the engine's step couples by itself: what is left is the part of a gain other than 1
        """
        gain = self.stage.gain - (1.0 if is_coupled else 0.0)
        return self.coupling.find_law(self.stage.couple, gain, self.pushes), self.coupling.block

    def handle_request(self, t: float) -> bool:
        """Let players handle the request of a law; return whether the body is to be rebuilt."""
        self.body.block.request = 0
        had = not self.has_lost_balance
        answers = [player.handle_request(self.body, t) for player in self.players]  # all of them
        if had and self.has_lost_balance and self.ragdoll_on_fall and not self.given[0]:
            self._become_ragdoll()
        return any(answers)

    def _become_ragdoll(self) -> None:
        """Stop the drivers that are not active after a fall, at the present pose."""
        entries, released = self.assignments.find_released()
        if released:
            self.show(self.stage.time)
            self.assignments.entries = entries
            self._report_emitted()  # the cause before the effect
            self.report("let-go", ", ".join(released))
            self.stage.rebuild(self)

    def follow(self, t: float) -> None:
        """Report a fall, and the events that players emitted."""
        why = find_fall(self, t) if self.fallen is None else None
        if why is not None:
            self.fallen = t
            self.report("fell", why)
        self._report_emitted()

    def _report_emitted(self) -> None:
        """Report the events that players emitted."""
        news = self.body.news[:]
        self.body.news.clear()
        for kind, message in news:
            self.report(kind, message)

    def measure(self) -> tuple[np.ndarray, np.ndarray]:
        """Return torque (J, 3) N m at each joint in body axes, and effort (J,): see `Effort.measure`."""
        return self.effort.measure()

    def show(self, t: float) -> None:
        """Write the prescribed joints at time t into the body's state; a root that rides on a prop stays."""
        for player in self.assignments.list_motions():
            player.write(self.body, t)
            if player.transition is not None:
                player.transition.add(self.body, t)
        self.body.update()

    # A motion.

    @property
    def skeleton(self) -> Skeleton:
        """The character's joints."""
        return self.character.skeleton

    @property
    def has_left(self) -> bool:
        """Whether it was removed from its stage."""
        return self._left is not None

    def leave(self) -> None:
        """Hold the present pose from now on, for actors that follow this one."""
        self._left = self._find_pose()

    def pose(self, t: float = 0.0) -> Pose:
        """Return its present pose, whatever the time: another stage's clock may differ."""
        if self._left is not None:
            return Pose(self._left.root.copy(), self._left.rotations.copy())
        with self.stage.hold():
            self.stage.loop.check_finite(self)
            return self._find_pose()

    def _find_pose(self) -> Pose:
        # Prescribed joints are put where they are now, and back: the step goes on as if no pose had been read.
        with self.body.preserved():
            self.show(self.stage.time)
            return Pose(self.body.state.root.copy(), self.body.state.q.copy())
