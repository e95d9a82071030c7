"""A walk of one actor: frames of poses, the foot that the body hangs from, and a clock of its own. See `walk.py`."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.geometry.soles import build_footing
from poise.drivers.balance.support_polygon import find_outline
from poise.drivers.body import Body
from poise.drivers.driver import BodyModel, MotionPlayer, Player, Status
from poise.drivers.root.anchor import BODY, Anchor
from poise.drivers.transition.transition import GENTLE, Transition, find_offset
from poise.drivers.walk.body import FELT, fade, find_heading_of, find_loads, find_places, list_loads, moving
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
_AHEAD, _BEHIND = 3, 6  # frames that are there beside those that a step needs
_SWITCH = 0.2  # s, in which a foot that takes over the body comes to its plan
_TAKE_OVER = 0.45  # s
_LIFTING = 80  # frames, over which a load comes to weigh
_HASTE, _BRAKE = 2.5, 8.0  # 1/s, how fast its clock comes to speed again, and slows down
_ASTRAY, _LOST = (
    0.002,
    0.02,
)  # m: a free root that is so far off its plan takes that along; new footholds are looked for
_HARDEST = 10.0  # m/s2, of a root, that is taken over


class WalkPlayer(MotionPlayer):
    """A walk of one actor.

    walker      the plan, on a clock of its own;  poser: its poses
    clock       (4,) t, the walk's own time then, how fast that goes (1: as the stage's), how that changes (1/s)
    frames      (N, J, 4) rotations, of frames number `first` on;  places, turns (N, 2, ...): of both feet
    support     the foot that the body hangs from: 0 left, 1 right
    off         (2, 3, 3) how the foot was off its plan when it took over: m, and rad in its axes; their rates
    since       (2,) s, when it did, and how long that takes to die away
    """

    def __init__(self, driver: Walk, body: Body, joints: np.ndarray, t: float):
        self.driver, self.joints = driver, joints
        self.needs_before_step = driver.waits_for is not None
        self.moves_root = bool(len(joints) and joints[0] == 0)
        skeleton = body.skeleton
        own = set(joints.tolist())
        self._others = np.array([i for i in range(1, len(skeleton)) if i not in own], np.int64)
        self._turned = joints[joints > 0]
        self.anchor = Anchor(body.tree.parents, body.tree.offsets, BODY)
        self.feet = build_feet(body.character)
        self.clock = np.array([t, 0.0, 1.0, 0.0])
        self.lag = 0.0  # m, how far whom it waits for is off
        self._is_alone = False  # whether that actor left the stage
        self._over: Transition | None = None
        self.support, self.off, self.since = 0, np.zeros((2, 3, 3)), np.array([-np.inf, 1.0])
        self._begin, self._decided = t, 0
        count = _BEHIND + _AHEAD + 4 + math.ceil(2.0 * body.dt / FRAME)
        j = len(skeleton)
        self.first, self.frames = -1, np.zeros((count, j, 4))
        self.places, self.turns, self.made = np.zeros((count, 2, 3)), np.zeros((count, 2, 4)), 0
        # Loads that weigh now, that will, and that did before, and frames until then.
        self.loads, self._lifting = np.zeros((3, j, 4)), 0
        self.reason = ""  # why it cannot walk on
        self._body = body
        self.poser: WalkPoser | None = None

    @property
    def walker(self) -> Walker:
        """The plan."""
        assert self.poser is not None
        return self.poser.walker

    @property
    def is_done(self) -> bool:
        """Whether it stands after its last step."""
        return self.walker.done and (self.first + self.made - 1 - _AHEAD) * FRAME >= self.walker.end

    # It begins.

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """See `Player.begin`: a walk of other joints goes on as planned."""
        if isinstance(previous, WalkPlayer) and previous.poser is not None:
            for name in ("poser", "clock", "support", "off", "since", "_begin", "_decided", "first", "frames", "places",
                         "turns", "made", "loads", "reason", "lag", "_lifting", "_is_alone"):  # fmt: skip
                setattr(self, name, getattr(previous, name))
            self._go_on(body, t)
            return
        floor = copy.copy(body.floor)  # its own: plans look at other times
        if self.driver.blind:
            floor = Floor(floor.ground)
        if floor.ground is None and not len(floor._tops):
            raise InputError("Walk goes on the ground, and this stage has none. Give it one: Stage(ground=...).")
        body.update()
        self.loads[:] = find_loads(body)
        character, manner = body.character, self.driver.manner or Gait()
        assert isinstance(manner, Gait)
        terrain, loads = Terrain(floor), list_loads(character, self.loads[1])
        at, heading = body.state.root[[0, 2]], find_heading_of(body)
        leg = min(foot.leg for foot in self.feet)
        if starting:
            course: Any = find_stances(self.feet, terrain, (float(at[0]), float(at[1])), heading, manner, leg)
            state = None
        else:
            course, _ = take_stances(character, terrain, body.R, body.p, body.v, manner)
            at = np.mean([row[-1].place[[0, 2]] for row in course.stances], axis=0)
            state = np.stack([body.c, body.dc, np.zeros(3)])
        facing, path = read_facing(self.driver.facing), self.driver.path
        if path is None and self.driver.steps:  # straight on, round what is in the way
            far, along = (2 + self.driver.steps) * manner.step * leg, heading - facing
            path = [(float(at[0] + far * np.sin(along)), float(at[1] + far * np.cos(along)))]
        way = self._find_way(floor, at, heading, path, facing, leg)
        walker = Walker(
            character, terrain, way, find_hang(character, loads), course, manner, self.driver.steps, state=state,
            wait=self.driver.wait,
        )  # fmt: skip
        names = [body.skeleton.names[i] for i in self._others]
        self.poser = WalkPoser(walker, names, loads)
        if not starting:
            self.poser.follower.begin(body.state.root.copy(), rotation.normalize(body.state.q))
        self._tell_others(body)
        self.poser.begin(0.0)
        self.clock[:] = t, 0.0, 1.0, 0.0
        self._begin, self._decided = t, 0
        self.support = walker.course.support_at(0.0)
        self.first, self.made = -1, 0
        self._make(body, t)
        if starting:
            self._start(body, t)
        else:
            self._join(body, t)

    def _find_way(self, floor: Floor, at: np.ndarray, heading: float, path: Any, facing: float, leg: float) -> WalkPath:
        """Straight on, or through the points of a path."""
        if path is None:
            return WalkPath.ahead(float(at[0]), float(at[1]), heading, facing)
        return WalkPath(plan_route(floor, (float(at[0]), float(at[1])), path, StepLimits.of_leg(leg)).points, facing)

    def _start(self, body: Body, t: float) -> None:
        """Put the body where the plan has it: on its feet, whoever moves the root later."""
        self._write(body, t)
        self._hang(body, t)
        for array in (body.state.v, body.a):
            array[:] = 0.0
        body.state.w[self.joints] = body.dw[self.joints] = 0.0
        if not self.moves_root:
            body.state.w[0] = body.dw[0] = 0.0

    def _join(self, body: Body, t: float) -> None:
        """Go over from the body's pose and velocity to the plan's."""
        kept, dw, a = body.state.copy(), body.dw.copy(), body.a.copy()
        self._over = None
        self._write(body, t)
        there, turning, at = body.state.copy(), body.dw.copy(), self._turned
        body.put(kept)
        self._over = Transition(body.arena, at, t)
        # A contact's shaking is not taken over.
        body.turning[:] = np.clip(body.turning, -GENTLE, GENTLE)
        self._over.measure(body, there.q[at], there.w[at], turning[at], kept.root, kept.v, np.zeros(3), t, _TAKE_OVER)
        lands = [step.land for step in self.walker.course.steps if step.off < 0.0]
        if lands:
            self._over.span[1] = min(self._over.span[1], lands[0])
        body.dw[at] = body.turning[at]
        body.dw[0], body.a[:] = body.turning[0], np.clip(body.pulling, -_HARDEST, _HARDEST)
        self._take(body, t, self.support, float(self._over.span[1]))
        body.put(kept)
        body.dw[:], body.a[:] = dw, a

    def _go_on(self, body: Body, t: float) -> None:
        """The same walk with other joints told: those that are its own now come from where they are."""
        assert self.poser is not None
        names, last = [body.skeleton.names[i] for i in self._others], self.poser.follower
        self.poser = WalkPoser(self.walker, names, list_loads(body.character, self.loads[0]))
        self.poser.follower.begin(last._room.p[0].copy(), self.frames[self.made - 1].copy())
        kept, dw, a = body.state.copy(), body.dw.copy(), body.a.copy()
        self._over = None
        self._write(body, t)
        there, turning, at = body.state.copy(), body.dw.copy(), self._turned
        body.put(kept)
        body.dw[:], body.a[:] = dw, a
        self._over = Transition(body.arena, at, t)
        self._over.measure(body, there.q[at], there.w[at], turning[at], kept.root, kept.v, np.zeros(3), t, _TAKE_OVER)

    # Frames.

    def _tau(self, t: float) -> tuple[float, float, float]:
        """The walk's own time, how fast it goes, and how that changes."""
        begin, tau, rate, slope = self.clock
        x = t - begin
        return float(tau + x * (rate + 0.5 * slope * x)), float(rate + slope * x), float(slope)

    def _make(self, body: Body, t: float) -> None:
        """Make frames as far as the next two steps go."""
        poser = self.poser
        assert poser is not None
        last = math.floor(self._tau(t + 1.6 * body.dt)[0] / FRAME + 1e-6) + _AHEAD
        while self.first + self.made <= last:
            number = self.first + self.made
            now = number * FRAME
            self._reach(body, t, now)
            self._tell_others(body)
            self._weigh()
            found, feet = poser.frames(np.array([now])), self.walker.feet_at(np.array([now]))
            if self.made == len(self.frames):
                for array in (self.frames, self.places, self.turns):
                    array[:-1] = array[1:].copy()
                self.first, self.made = self.first + 1, self.made - 1
            k = self.made
            self.frames[k] = found.rotations[0]
            for side, foot in enumerate(feet):
                self.places[k, side], self.turns[k, side] = foot.place[0], foot.turn[0]
            self.made += 1

    def _reach(self, body: Body, t: float, tau: float) -> None:
        """Plan on; where there is no way on, stand."""
        walker = self.walker
        if tau <= walker._known:
            return
        try:
            if not self.moves_root:
                self._meet(body, t)
            walker.reach(tau)
        except InputError as error:
            self.reason, walker.done = str(error), True
            body.emit("cannot-walk-on", "cannot walk on")
            walker.reach(tau)
        forget(walker, tau)

    def _meet(self, body: Body, t: float) -> None:
        """Go on from where the body really is, which somebody else moves: the steps to come lead back to the way."""
        point, turn, _ = self.anchor.find(moving(body), self.feet[self.support].joint, np.zeros(3))
        planned, turned, _ = self._find_foot(self.support, t)
        ahead, meant = (rotation.rotate(each, self.feet[self.support].ahead) for each in (turn, turned))
        yaw = turn_between(float(np.arctan2(meant[0], meant[2])), float(np.arctan2(ahead[0], ahead[2])))
        # Joints are told in the middle of the step, and the root has gone its way then.
        place = point[0] + 0.5 * body.dt * body.state.v
        about = rotation.exp(np.array([0.0, yaw, 0.0]))
        shift = (place - rotation.rotate(about, planned[0]))[[0, 2]]
        astray = max(float(np.linalg.norm((place - planned[0])[[0, 2]])), self.feet[0].leg * abs(yaw))
        if astray < _ASTRAY:
            return
        walker = self.walker
        carry(walker, yaw, shift)
        self.places[: self.made] = rotation.rotate(about, self.places[: self.made]) + [shift[0], 0.0, shift[1]]
        self.turns[: self.made] = rotation.multiply(about, self.turns[: self.made])
        if astray > _LOST:  # else those steps that are planned are where they are by so little
            redirect(walker, walker._known)

    def _tell_others(self, body: Body) -> None:
        """Tell the poses how joints of other drivers are turned."""
        assert self.poser is not None
        at = self._others
        self.poser.follower.given_turns[: len(at)] = rotation.normalize(body.state.q[at])

    def _weigh(self) -> None:
        """Have a load that was taken up or dropped weigh a little more, or less."""
        if not self._lifting:
            return
        assert self.poser is not None
        now, then, before = self.loads
        self._lifting -= 1
        u = 1.0 - self._lifting / _LIFTING
        now[:] = before + u**3 * (10.0 - 15.0 * u + 6.0 * u * u) * (then - before)
        if not self._lifting:
            now[:] = then
        loads = list_loads(self.poser.character, now)
        self.poser.load(loads)
        self.walker.hang = find_hang(self.poser.character, loads)

    # The step.

    def write(self, body: Body, t: float) -> None:
        """See `MotionPlayer.write`. It decides once per step, in its middle: poses at other times change nothing."""
        self._place(body, t)
        middles = (t - self._begin) / body.dt + 0.5 + 1e-6
        if middles >= self._decided + 1:
            self._decided = math.floor(middles)
            self._decide(body, t)

    def _decide(self, body: Body, t: float) -> None:
        tau, rate, _ = self._tau(t)
        support = self.walker.course.support_at(tau)
        is_ready = support == self.support or self._is_awaited(support)
        if self.needs_before_step:
            self.clock[:] = t, tau, rate, self._find_slope(rate, body.dt, is_ready)
        if support != self.support and is_ready:
            self._take(body, t, support, _SWITCH)
            if self.moves_root:
                self._hang(body, t)
        self._make(body, t)

    def _place(self, body: Body, t: float) -> None:
        self._write(body, t)
        if self.moves_root:
            self._hang(body, t)

    def _write(self, body: Body, t: float) -> None:
        """Rotations of its joints, and their rates."""
        from poise.drivers.kinematic.frame_kernels import write_turns

        tau, rate, slope = self._tau(t)
        k, u = self._find(tau)
        state = body.state
        write_turns(self.frames, k, u, FRAME, rate, slope, self._turned, state.q, state.w, body.dw)
        if self._over is not None:
            self._over.add(body, t)

    def _find(self, tau: float) -> tuple[int, float]:
        """The frame before a time of its own, as a row, and how far it is from there to the next, 0 to 1."""
        k = min(max(math.floor(tau / FRAME), self.first + 1), self.first + self.made - 3)
        return k - self.first, min(max(tau / FRAME - k, 0.0), 1.0)

    def _find_foot(self, side: int, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(3, 3) place, velocity, acceleration, (4,) orientation and (2, 3) its rates, of a foot as planned."""
        from poise.drivers.kinematic.frame_kernels import place_at, turn_at

        tau, rate, slope = self._tau(t)
        k, u = self._find(tau)
        point, turn, spin = np.zeros((3, 3)), np.zeros(4), np.zeros((2, 3))
        rows = slice(k - 1, k + 3)
        place_at(self.places[rows, side], u, FRAME, rate, slope, point)
        turn_at(self.turns[rows, side], u, FRAME, rate, slope, turn, *spin)
        return point, turn, spin

    def _hang(self, body: Body, t: float) -> None:
        """The root, from the foot that it hangs from."""
        from poise.motion.playback.part_kernels import take_over

        point, turn, spin = self._find_foot(self.support, t)
        begin, span = self.since
        if t < begin + span:
            place, rates = fade(self.off[0], t - begin, span), np.stack([spin[0], spin[1]])
            point += place
            part = np.array([0.0, np.nan, 0.0, begin, span])
            take_over(part, self.off[1][:, None], t, turn[None], rates[:1], rates[1:])
            spin = rates
        foot = self.feet[self.support].joint
        self.anchor.hang(moving(body), foot, np.zeros(3), point, turn, spin)

    def _take(self, body: Body, t: float, support: int, span: float) -> None:
        """Hang the body from another foot, which comes to its plan from where it is."""
        foot = self.feet[support].joint
        point, turn, spin = self.anchor.find(moving(body), foot, np.zeros(3))
        self.support = support
        planned, turned, spun = self._find_foot(support, t)
        self.off[0] = point - planned
        np.clip(self.off[0, 2], -60.0, 60.0, out=self.off[0, 2])
        self.off[1] = find_offset(turned[None], spun[:1], spun[1:], turn[None], spin[:1], spin[1:])[:, 0]
        self.since[:] = t, span

    def on_mass_changed(self, body: Body) -> None:
        """See `Player.on_mass_changed`."""
        self.loads[1], self.loads[2], self._lifting = find_loads(body), self.loads[0], _LIFTING

    # Whom it waits for.

    def before_step(self, body: Body, t: float) -> None:
        """See `Player.before_step`: the distance to the actor that it waits for."""
        other = self.driver.waits_for
        if self._has_left(body, other):
            return
        pose, skeleton = other.pose(t), body.skeleton
        there = find_places(other.character, pose.root, pose.rotations)
        here = find_places(body.character, body.state.root, body.state.q)
        names = [role for role in FELT if skeleton.find_role(role) is not None]
        self.lag = max(
            float(np.linalg.norm(here[skeleton.index(role)] - there[other.character.skeleton.index(role)]))
            for role in names
        )

    def _has_left(self, body: Body, other: Any) -> bool:
        """Whether the actor that it waits for left the stage: the walk goes on without it."""
        if not getattr(other, "has_left", False):
            return False
        if not self._is_alone:
            self._is_alone, self.lag = True, 0.0
            body.emit("waits-no-longer", f"waits no longer: '{other.name}' left the stage")
        return True

    def _is_awaited(self, support: int) -> bool:
        """Whether whom it waits for stands where it is going to."""
        if self._is_alone:
            return True
        players = getattr(self.driver.waits_for, "players", ())
        return all(player.can_stand(support) for player in players if hasattr(player, "can_stand"))

    def _find_slope(self, rate: float, dt: float, is_ready: bool) -> float:
        """1/s, how the clock's rate changes: it stands where the other is too far off, or not there yet."""
        driver = self.driver
        wanted = float(np.clip((driver.far - self.lag) / (driver.far - driver.near), 0.0, 1.0)) if is_ready else 0.0
        slope = float(np.clip((wanted - rate) / 0.04, -_BRAKE, _HASTE))
        return max(slope, -rate / dt)  # it does not go back

    # What a user may change.

    def check_change(self, **parameters: Any) -> None:
        """Raise InputError where `change` would."""
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
        """Walk elsewhere, facing another way, at another pace, so many steps more; or stop. Steps begun are made."""
        self.check_change(path=path, facing=facing, pace=pace, steps=steps, stop=stop)
        tau = (self.first + self.made - 1) * FRAME
        if stop:
            come_to_a_stand(self.walker, tau)
            return
        way, manner = self._find_change(path=path, facing=facing, pace=pace)
        count = steps if steps is not None else None if path is not None else -1
        redirect(self.walker, tau, way, manner, count)
        self.reason = ""

    def _find_change(
        self, path: Any = None, facing: Any = None, pace: Any = None, **_: Any
    ) -> tuple[WalkPath | None, Gait | None]:
        walker = self.walker
        manner = None if pace is None else replace(walker.manner, pace=float(pace))
        if path is None and facing is None:
            return None, manner
        turned = walker.way.facing if facing is None else read_facing(facing)
        if path is None:
            return replace(walker.way, facing=turned), manner
        at = np.mean([row[-1].place[[0, 2]] for row in walker.course.stances], axis=0)
        floor = walker.terrain.floor
        return self._find_way(floor, at, 0.0, read_path(path), turned, walker.leg), manner

    def model(self, body: Body, falling: bool) -> BodyModel:
        """See `Player.model`."""
        return BodyModel(bends_toes=True)

    def status(self, body: Body, t: float) -> Status:
        """See `Player.status`: of what carries."""
        at = np.array([foot.joint for foot in self.feet])
        corners = np.stack([find_corners(box) for box in build_footing(body.skeleton)])
        tau = self._tau(float(body.block["t"]))[0]
        carries = np.concatenate(self.walker.course.carriers_at(tau))
        margin = find_outline(carries[None]).find_margin(body.c[0], body.c[2])
        return Status(soles=find_soles_of(body.R, body.p, at, corners), margin=float(margin))

    # Its state.

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {name: getattr(self, name) for name in ("clock", "frames", "places", "turns", "off", "since", "loads")}

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        assert self.poser is not None
        over = None if self._over is None else {name: array.copy() for name, array in self._over.numbers().items()}
        joints = [] if self._over is None else self._over.joints.tolist()
        counts = [self.first, self.made, self.support, self._decided, self._lifting]
        return {
            **super().save(), "walk": save_walk(self.poser), "over": over, "over_joints": joints, "counts": counts,
            "begin": self._begin, "lag": self.lag, "reason": self.reason,
        }  # fmt: skip

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        super().restore(saved)
        assert self.poser is not None
        restore_walk(self.poser, saved["walk"])
        self.poser.load(list_loads(self.poser.character, self.loads[0]))
        self.first, self.made, self.support, self._decided, self._lifting = map(int, saved["counts"])
        self._begin, self.lag, self.reason = saved["begin"], saved["lag"], saved["reason"]
        self._over = None
        if saved["over"] is not None:
            self._over = Transition(None, np.array(saved["over_joints"], np.int64))
            for name, array in self._over.numbers().items():
                array[...] = saved["over"][name]
