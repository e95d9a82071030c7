"""A walk of one actor: frames of poses, the foot that the body hangs from, and the walk's own clock. See `walk.py`."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.geometry.soles import build_footing
from poise.drivers.balance.support_polygon import find_outline
from poise.drivers.body import Body
from poise.drivers.driver import BodyModel, MotionPlayer, Player, Status
from poise.drivers.kinematic.frame_buffer import FrameBuffer
from poise.drivers.stateful import Stateful, StepClock
from poise.drivers.transition.transition import GENTLE, Transition
from poise.drivers.walk.body import CarriedLoads, find_heading_of
from poise.drivers.walk.clock import WalkClock
from poise.drivers.walk.support_foot import FootMotion, SupportFoot, find_planned
from poise.errors import InputError
from poise.spatial import rotation
from poise.walking.feet.foot import build_feet
from poise.walking.footholds.terrain import Terrain
from poise.walking.gait import Gait
from poise.walking.path.planner import StepLimits, WalkPath, plan_route, read_path, turn_between
from poise.walking.poses import WalkPoser
from poise.walking.start import find_hang, find_stances, read_facing, take_stances
from poise.walking.state import restore_walk, save_walk
from poise.walking.walker import Walker, carry, forget, redirect
from poise.walking.walker import stop as come_to_a_stand
from poise.world.foot_boxes import find_corners, find_soles_of
from poise.world.ground.floor import Floor

if TYPE_CHECKING:
    from poise.drivers.walk.walk import Walk
FRAME = 0.01  # s, from pose to pose
_AHEAD = 3  # frames that are made ahead
_CHANGE_FEET = 0.2  # s, in which a foot that takes over the body comes to its plan
_TAKE_OVER = 0.45  # s, in which joints come to the plan
# m: a free root that is so far off its plan takes the plan along; for more than _LOST, footholds are planned again.
_ASTRAY, _LOST = 0.002, 0.02
_HARDEST = 10.0  # m/s2, of a root, that is taken over


class WalkPlayer(Stateful, MotionPlayer):
    """A walk of one actor.

    walker      the plan, in the walk's own time;  poser: its poses
    clock       the walk's own time
    foot        that the body hangs from
    frames      rotations; positions and orientations of both feet
    loads       that the body carries
    reason      why it cannot walk on
    """

    STATE = ("clock", "steps", "foot", "frames", "loads", "reason")

    def __init__(self, driver: Walk, body: Body, joints: np.ndarray, t: float):
        self.driver, self.joints = driver, joints
        self.needs_before_step = driver.waits_for is not None
        self.moves_root = bool(len(joints) and joints[0] == 0)
        skeleton = body.skeleton
        own = set(joints.tolist())
        self._others = np.array([i for i in range(1, len(skeleton)) if i not in own], np.int64)
        self._turned = joints[joints > 0]
        self.feet = build_feet(body.character)
        self.clock, self.steps = WalkClock(t, driver.waits_for, driver.near, driver.far), StepClock(t)
        self.foot = SupportFoot((self.feet[0].joint, self.feet[1].joint))
        self.frames = FrameBuffer(FRAME, _AHEAD, body.dt, len(skeleton), (2, 3), (2, 4))
        self.loads = CarriedLoads(len(skeleton))
        self.reason = ""
        self.poser: WalkPoser | None = None
        self._blend: Transition | None = None

    @property
    def walker(self) -> Walker:
        """The plan."""
        assert self.poser is not None
        return self.poser.walker

    @property
    def support(self) -> int:
        """The foot that the body hangs from: 0 left, 1 right."""
        return self.foot.side

    @property
    def is_done(self) -> bool:
        """Whether it stands after its last step."""
        return self.walker.done and (self.frames.next - 1 - _AHEAD) * FRAME >= self.walker.end

    # The beginning.

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """See `Player.begin`: a walk that gets other joints continues as planned."""
        if isinstance(previous, WalkPlayer) and previous.driver is self.driver and previous.poser is not None:
            for name in ("poser", *self.STATE):
                setattr(self, name, getattr(previous, name))
            self._go_on(body, t)
            return
        body.update()
        self.loads.begin(body)
        walker = self._plan(body, starting)
        names = [body.skeleton.names[i] for i in self._others]
        self.poser = WalkPoser(walker, names, self.loads.list(body.character))
        if not starting:
            self.poser.follower.begin(body.state.root.copy(), rotation.normalize(body.state.q))
        self._give_other_joints(body)
        self.poser.begin(0.0)
        self.clock.restart(t)
        self.steps.restart(t)
        self.foot.side = walker.course.support_at(0.0)
        self.frames.clear()
        self._make(body, t)
        if starting:
            self._start(body, t)
        else:
            self._join(body, t)

    def _plan(self, body: Body, starting: bool) -> Walker:
        """Return the plan of a walk that begins from rest, or from a body's pose and velocity."""
        driver, character = self.driver, body.character
        floor = copy.copy(body.floor)  # plans look at other times
        if driver.blind:
            floor = Floor(floor.ground)
        if floor.ground is None and not len(floor._tops):
            raise InputError("Walk goes on the ground, and this stage has none. Give it one: Stage(ground=...).")
        gait = driver.manner or Gait()
        assert isinstance(gait, Gait)
        terrain, loads = Terrain(floor), self.loads.list(character)
        at, heading = body.state.root[[0, 2]], find_heading_of(body)
        leg = min(foot.leg for foot in self.feet)
        if starting:
            course: Any = find_stances(self.feet, terrain, (float(at[0]), float(at[1])), heading, gait, leg)
            state = None
        else:
            course, _ = take_stances(character, terrain, body.R, body.p, body.v, gait)
            at = np.mean([row[-1].place[[0, 2]] for row in course.stances], axis=0)
            state = np.stack([body.c, body.dc, np.zeros(3)])
        facing, path = read_facing(driver.facing), driver.path
        if path is None and driver.steps:  # straight on, round what is in the way
            far, along = (2 + driver.steps) * gait.step * leg, heading - facing
            path = [(float(at[0] + far * np.sin(along)), float(at[1] + far * np.cos(along)))]
        if path is None:
            way = WalkPath.ahead(float(at[0]), float(at[1]), heading, facing)
        else:
            way = _find_way(floor, at, path, facing, leg)
        return Walker(
            character, terrain, way, find_hang(character, loads), course, gait, driver.steps, state=state,
            wait=driver.wait,
        )  # fmt: skip

    def _start(self, body: Body, t: float) -> None:
        """Put the body where the plan has it, on its feet, even if another driver moves the root later."""
        self._write(body, t)
        self._hang(body, t)
        for array in (body.state.v, body.a):
            array[:] = 0.0
        body.state.w[self.joints] = body.dw[self.joints] = 0.0
        if not self.moves_root:
            body.state.w[0] = body.dw[0] = 0.0

    def _join(self, body: Body, t: float) -> None:
        """Begin the transition from the body's pose and velocity to the plan's."""
        with body.preserved():
            # Vibrations by contacts are not taken over.
            blend = self._blend_from(body, t, is_gentle=True)
            lands = [step.land for step in self.walker.course.steps if step.off < 0.0]
            if lands:
                blend.span[1] = min(blend.span[1], lands[0])
            at = self._turned
            body.dw[at] = body.turning[at]
            body.dw[0], body.a[:] = body.turning[0], np.clip(body.pulling, -_HARDEST, _HARDEST)
            self._take(body, t, self.foot.side, float(blend.span[1]))

    def _go_on(self, body: Body, t: float) -> None:
        """Continue a walk with other joints: those that it gets begin where they are."""
        assert self.poser is not None
        names, last = [body.skeleton.names[i] for i in self._others], self.poser.follower
        self.poser = WalkPoser(self.walker, names, self.loads.list(body.character))
        self.poser.follower.begin(last.root.copy(), self.frames.rotations[self.frames.made - 1].copy())
        with body.preserved():
            self._blend_from(body, t)

    def _blend_from(self, body: Body, t: float, is_gentle: bool = False) -> Transition:
        """Begin the joints' transition to the plan; the body's state is as before afterwards, its accelerations not."""
        kept, at = body.state.copy(), self._turned
        self._blend = None
        self._write(body, t)
        there, turning = body.state.copy(), body.dw.copy()
        body.put(kept)
        if is_gentle:
            body.turning[:] = np.clip(body.turning, -GENTLE, GENTLE)
        self._blend = Transition(body.arena, at, t)
        self._blend.measure(
            body, there.q[at], there.w[at], turning[at], kept.root, kept.v, np.zeros(3), t, _TAKE_OVER
        )  # fmt: skip
        return self._blend

    # Frames.

    def _make(self, body: Body, t: float) -> None:
        """Make the frames that the next two steps need."""
        poser, frames = self.poser, self.frames
        assert poser is not None
        last = frames.find_last(self.clock.read(t + 1.6 * body.dt)[0])
        while frames.next <= last:
            now = frames.next * FRAME
            self._reach(body, t, now)
            self._give_other_joints(body)
            if self.loads.advance():
                loads = self.loads.list(poser.character)
                poser.load(loads)
                self.walker.hang = find_hang(poser.character, loads)
            found, feet = poser.frames(np.array([now])), self.walker.feet_at(np.array([now]))
            positions, turns = ([getattr(foot, name)[0] for foot in feet] for name in ("place", "turn"))
            frames.add(found.rotations[0], np.array(positions), np.array(turns))

    def _reach(self, body: Body, t: float, tau: float) -> None:
        """Plan as far as a time of the walk; if no step is possible, stand."""
        walker = self.walker
        if tau <= walker._known:
            return
        try:
            if not self.moves_root:
                self._follow_root(body, t)
            walker.reach(tau)
        except InputError as error:
            self.reason, walker.done = str(error), True
            body.emit("cannot-walk-on", "cannot walk on")
            walker.reach(tau)
        forget(walker, tau)

    def _follow_root(self, body: Body, t: float) -> None:
        """Move the plan to where the body is, whose root another driver moves: later steps lead back to the path."""
        foot, frames, walker = self.feet[self.foot.side], self.frames, self.walker
        point, turn, _ = self.foot.find(body)
        planned, planned_turn, _ = self._find_planned(self.support, t)
        ahead, meant = (rotation.rotate(each, foot.ahead) for each in (turn, planned_turn))
        yaw = turn_between(float(np.arctan2(meant[0], meant[2])), float(np.arctan2(ahead[0], ahead[2])))
        # Joints are written for the middle of the step, to which the root moves on.
        place = point[0] + 0.5 * body.dt * body.state.v
        about = rotation.exp(np.array([0.0, yaw, 0.0]))
        shift = (place - rotation.rotate(about, planned[0]))[[0, 2]]
        astray = max(float(np.linalg.norm((place - planned[0])[[0, 2]])), self.feet[0].leg * abs(yaw))
        if astray < _ASTRAY:
            return
        carry(walker, yaw, shift)
        positions, turns = (array[: frames.made] for array in frames.others)
        positions[:] = rotation.rotate(about, positions) + [shift[0], 0.0, shift[1]]
        turns[:] = rotation.multiply(about, turns)
        if astray > _LOST:
            redirect(walker, walker._known)

    def _give_other_joints(self, body: Body) -> None:
        """Pass the rotations of other drivers' joints to the poses."""
        assert self.poser is not None
        at = self._others
        self.poser.follower.given_turns[: len(at)] = rotation.normalize(body.state.q[at])

    # The step.

    def write(self, body: Body, t: float) -> None:
        """See `MotionPlayer.write`. It decides once per step, in its middle: other times change nothing."""
        self._write(body, t)
        if self.moves_root:
            self._hang(body, t)
        if self.steps.is_due(t, body.dt):
            self._decide(body, t)

    def _decide(self, body: Body, t: float) -> None:
        """Change feet, slow down for an actor that follows, and make frames."""
        support = self.walker.course.support_at(self.clock.read(t)[0])
        is_ready = support == self.foot.side or self.clock.is_free(support)
        self.clock.update(t, body.dt, is_ready)
        if support != self.foot.side and is_ready:
            self._take(body, t, support, _CHANGE_FEET)
            if self.moves_root:
                self._hang(body, t)
        self._make(body, t)

    def _write(self, body: Body, t: float) -> None:
        """Write rotations of its joints, and their rates."""
        from poise.drivers.kinematic.frame_kernels import write_turns

        tau, rate, slope = self.clock.read(t)
        k, u = self.frames.find(tau)
        state = body.state
        write_turns(self.frames.rotations, k, u, FRAME, rate, slope, self._turned, state.q, state.w, body.dw)
        if self._blend is not None:
            self._blend.add(body, t)

    def _find_planned(self, side: int, t: float) -> FootMotion:
        return find_planned(self.frames, side, self.clock.read(t))

    def _hang(self, body: Body, t: float) -> None:
        """Write the root, from the foot that it hangs from."""
        self.foot.hang(body, t, self._find_planned(self.foot.side, t))

    def _take(self, body: Body, t: float, side: int, span: float) -> None:
        """Hang the body from another foot."""
        self.foot.take(body, t, side, self._find_planned(side, t), span)

    def on_mass_changed(self, body: Body) -> None:
        """See `Player.on_mass_changed`."""
        self.loads.change(body)

    def before_step(self, body: Body, t: float) -> None:
        """See `Player.before_step`: the distance to the actor that it waits for."""
        self.clock.measure_lag(body, t)

    # What a user may change.

    def check_change(self, **parameters: Any) -> None:
        """See `Player.check_change`."""
        super().check_change(**parameters)
        if parameters.get("path") is not None:
            self._find_change(**parameters)
        if parameters.get("facing") is not None:
            read_facing(parameters["facing"])
        if parameters.get("pace") is not None:
            replace(self.walker.manner, pace=parameters["pace"])
        steps = parameters.get("steps")
        if steps is not None and not 0 <= int(steps) <= 1_000_000:
            raise InputError(f"a walk has 0 to a million steps; given {steps}.")

    def change(  # type: ignore[override]
        self,
        t: float,
        path: Any = None,
        facing: str | float | None = None,
        pace: float | None = None,
        steps: int | None = None,
        stop: bool = False,
    ) -> None:
        """Change path, facing, pace or the number of further steps; or stop. Steps that have begun are finished."""
        self.check_change(path=path, facing=facing, pace=pace, steps=steps, stop=stop)
        tau = (self.frames.next - 1) * FRAME
        if stop:
            come_to_a_stand(self.walker, tau)
            return
        way, gait = self._find_change(path=path, facing=facing, pace=pace)
        count = steps if steps is not None else None if path is not None else -1
        redirect(self.walker, tau, way, gait, count)
        self.reason = ""

    def _find_change(
        self, path: Any = None, facing: Any = None, pace: Any = None, **_: Any
    ) -> tuple[WalkPath | None, Gait | None]:
        """Return the changed path and gait; None for what stays."""
        walker = self.walker
        gait = None if pace is None else replace(walker.manner, pace=float(pace))
        if path is None and facing is None:
            return None, gait
        turned = walker.way.facing if facing is None else read_facing(facing)
        if path is None:
            return replace(walker.way, facing=turned), gait
        at = np.mean([row[-1].place[[0, 2]] for row in walker.course.stances], axis=0)
        return _find_way(walker.terrain.floor, at, read_path(path), turned, walker.leg), gait

    def model(self, body: Body, falling: bool) -> BodyModel:
        """See `Player.model`."""
        return BodyModel(bends_toes=True)

    def status(self, body: Body, t: float) -> Status:
        """See `Player.status`: the soles, and the margin inside the support polygon."""
        at = np.array([foot.joint for foot in self.feet])
        corners = np.stack([find_corners(box) for box in build_footing(body.skeleton)])
        tau = self.clock.read(float(body.block["t"]))[0]
        carries = np.concatenate(self.walker.course.carriers_at(tau))
        margin = find_outline(carries[None]).find_margin(body.c[0], body.c[2])
        return Status(soles=find_soles_of(body.R, body.p, at, corners), margin=float(margin))

    # Its state.

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        assert self.poser is not None
        blend = None if self._blend is None else self._blend.save()
        return {**super().save(), "walk": save_walk(self.poser), "blend": blend}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        super().restore(saved)
        assert self.poser is not None
        restore_walk(self.poser, saved["walk"])
        self.poser.load(self.loads.list(self.poser.character))
        self._blend = None if saved["blend"] is None else Transition.load(saved["blend"], None)


def _find_way(floor: Floor, at: np.ndarray, path: Any, facing: float, leg: float) -> WalkPath:
    """Return the route from x and z (m) through the points of a path."""
    return WalkPath(plan_route(floor, (float(at[0]), float(at[1])), path, StepLimits.of_leg(leg)).points, facing)
