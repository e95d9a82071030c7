"""Following a motion as far as muscles allow (O3, O4).   [strength, section 5]

Step by step: the accelerations that bring the joints to the motion (eq 4); what they and the ground's pushes ask of
each joint (`dynamics/contact/contact_dynamics_kernels.py`, eq 6); and, where that is more than its muscles have at its
angle and speed (eq 5), the nearest accelerations that ask for no more, of all joints together, so that others help
(`dynamics/qp/priority_kernels.py`, eq 7 to 18). Pushes are unknowns like accelerations, within friction, so how
supports share the load is found with the rest. Before the joints' own tracking, in this order, come

    1. feet that stand stay where they are, and hands that touch something
    2. the centre of mass goes its way, along the axes that are chosen
    3. hands and other bodies go theirs, where the user says so

By default (`priorities="weighted"`) these goals are weighted least squares in one problem, with weights far apart. With
`"strict"` they are the paper's hierarchy (eq 12 to 18): each goal is solved in the null space of those before it, so no
later goal changes an earlier one, however far off it is.

On a root that somebody else moves only the third is left: that carries it, whatever that takes.

The centre of mass is wanted where the motion has it, loads and all, as far as soles can push it there and keep it: that
is planned ahead (`plan_center`), so what no sole could do is not chased, and whoever holds too much in front of him
leans back beforehand. Torques are never outside their range; what that costs is told by `StrengthPlayer.at` and
`ratio`.

A body that tips over the edge of what it stands on goes on trying until it lies or is beyond help; then it is let go:
muscles only brake, with a share of their strength.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import build_footing
from poise.body.roles import SIDES
from poise.body.strength.joint_strength import JointStrength
from poise.drivers.balance.support_polygon import find_outline
from poise.drivers.body import Body
from poise.drivers.checks import check_idle, check_playable
from poise.drivers.driver import TORQUE, BodyModel, Claim, Driver, Player, Status
from poise.drivers.kinematic.kinematic import Kinematic, KinematicPlayer
from poise.drivers.loose.loose import Loose
from poise.drivers.strength.hand_support import BACK, IDLE, ON, HandSupport
from poise.drivers.strength.problem import MOST_TOUCHES, Laden, Limb, Problem, Room, Work
from poise.dynamics.qp.limited import DAMPING
from poise.dynamics.qp.problem import QpProblem, QpSolution
from poise.dynamics.tree import build_tree
from poise.engines.memory import write_over
from poise.engines.scene import HINGES, Joint
from poise.errors import InputError, unknown_name
from poise.kinds import checked
from poise.motion.motion import Motion, as_motion
from poise.motion.point_path import PointPath
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.world.foot_boxes import find_corners, find_soles_of

CENTER = "center"  # the centre of mass among paths
POSITION, ORIENTATION, BOTH = WAYS = ("position", "orientation", "both")
_ROWS = {POSITION: (0, 3), ORIENTATION: (3, 6), BOTH: (0, 6)}
RATE = 30.0  # Hz, of the paper's steps: a share alpha of them is that of longer or shorter ones
_FLAT, _NEAR = 1e-3, 4e-3  # m: a corner of a sole so near to the ground is pushed as any, and one so far off not at all
_EDGE = 0.03  # m, across which points of a foot are of one edge
_INSIDE = 0.97  # of what it stands on: how far out pushes are taken to be, and the pressure goes for the centre of mass
_SAFE = 0.75  # of the same: how far out pressure is planned; the rest is for what was not foreseen
_GAIN = 3.0  # of the pressure over an error of the capture point; 1.5 to 6 stand alike
_LEANS = 0.8  # the same of who leans on a hand: pushed back no harder than it must be
_WINDOW, _EVERY = 241, 1.0 / 60.0  # samples of a plan, and s between them; it is made anew after half of it
_STAYS, _LEADS = 1e3, 1e2  # rows of goals beside those of joints: feet, and the centre of mass
WEIGHTED, STRICT = PRIORITIES = ("weighted", "strict")
_TIPS = 1.0  # the same of the centre of mass of who reaches for something
# rad: what is led, however far off, counts for no more than a joint that is off by so much. An arm that is too weak
# stays behind for ever, and whoever wants the more the farther it is off throws his trunk about until he falls.
_FARTHEST = 0.5 * math.pi
_TURNS = 0.1  # m, by which a foot's turns are compared with its places
_EVEN = 0.1  # how dear it is to share the weight unevenly, beside 1 rad/s2
_LIFT, _LIFTED = 0.02, 0.01  # m/s and m: a foot that the motion lifts so fast, or has so high, does not stand
_LEAST_FRICTION = 0.05
_SWINGS = 1.5  # of its speed, that a limb which loses its load may lose in a step; from 2 on it swings ever farther
_HARD = 20.0  # times the weight: more than a point is ever pushed by
_LIGHT = 0.01  # of the weight: what is touched with less is not leaned on
_AWAY = 0.03  # m: a hand that the motion takes so far off what it touches lets go
_FELT = 0.1  # s, in which what moves and pushes a body comes to count: a blow is over before anybody answers it
_SOON = 0.02  # s, the same of what a load weighs: contacts flicker
_TAKEN = 0.9  # of such a push: with all of it arms that hold a box squeezed it ever harder, by 2 N a second
_LANDS, _OVER = 30.0, 0.1  # rows of a foot that is put down again; m over its sole, up to which a floor is under it
_SLOWS = 30.0  # rows of a hand that is slowed before it touches, beside those of joints
_FOLLOWS, _FREE = 0.5, 0.1  # how much an arm that helps counts, on its way and there: the trunk is not thrown about
_REACH, _QUICK, _HURRY = 11.0, 8.0, 150.0  # 1/s, and rad/s and rad/s2 at most: how it goes there
_GIVES = 0.01  # how much ankles count of who tips over and reaches for something: the rest stays as it is
_BACK = 3.0  # rad/s, at which an arm goes back to its motion
_TONE, _BRAKE = 0.25, 0.1  # of the strength, and s: how a body that fell is slowed
# s, in which a damper of every joint slows what the step does beside what was foreseen, where others drive joints, too;
# and by how much heavier that makes what the joint carries, for what pushes it, at the most
_DRAG, _HEAVIER = 0.1, 0.05
_LOST = 0.5  # cosine of the lean, and share of the height, from which on nothing helps
_FEATHER = 1e-4  # kg: what carries no more is held
_MOST_TURN, _MOST_FOUND = 2e3, 1e4  # rad/s2: that is ever asked for, and that is believed


@checked
@dataclass(frozen=True, eq=False)
class Strength(Driver):
    """Follows a motion within what muscles can do.

    motion     what is followed; where it has the root it is a recording of the whole body
    muscles    None: those of the character (`JointStrength.from_character`)
    start      s of the stage's clock at which the motion's own time is 0
    alpha      of the way to the motion's pose in a step of 1/30 s, 0 to 1; the rest goes for its speed
    center     axes along which the centre of mass is led: "xz", "xyz", "" for none
    effectors  joint -> "position", "orientation" or "both": bodies that are led as well, where the motion has them
    insists    how much a metre of what is led counts beside a radian of a joint: with 3 a hand sinks with a weak arm,
               with 30 the whole body helps to hold it up. However far off, it counts no more than a right angle does
    cutoff     Hz of the low-pass under the rates of a recording; None: chosen from its noise
    hands      whether hands that hold nothing reach for things that never move when balance is short
    (`hand_support.py`)
    paths      joint -> where it is led instead, on the motion's clock, in the world; `center`: the centre of mass,
               along the axes that are chosen. What is not among the effectors is led by all that its path has
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
        if not 0.0 < self.insists <= _STAYS:
            raise InputError(f"insists is above 0 and at most {_STAYS:g}; given {self.insists:g}.")
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
        """Joint -> way, of all bodies that are led."""
        ways = {joint: BOTH if path.turns is not None else POSITION for joint, path in self.paths.items()}
        return {joint: way for joint, way in {**ways, **self.effectors}.items() if joint != CENTER}

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """All but the root, which floats. What the motion does not move holds its pose, as what has no mass."""
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
        moved = tuple(i for i in joints if i and carried[i] > _FEATHER)
        return Claim(moved, tuple(i for i in joints if i and i not in moved), frees_root=True)

    def build(self, body: Body, joints: np.ndarray, t: float) -> StrengthPlayer:
        """See `Driver.build`."""
        return StrengthPlayer(self, body, joints, t)


class StrengthPlayer(Player):
    """Follows on one actor.

    at      (n,) int8 of its degrees of freedom: -1, 1 where the last step's torque is at its low or high bound
    ratio   (n,) how much of its strength each used since somebody last read it, at most
    torque  (n,) N m, of the last step;  low, high: its bounds
    moving  m/s2, by how much feet that should stay move off in the last step
    missed  m/s2, by how much the centre of mass misses its way, as of the last step
    zmp     (3,) m, where the ground's push has no moment along it
    drag    (K,) N m s/rad, of each joint's damper on what was not foreseen: see `_resist`
    laden   (J, 4, 4) sum of m [r 1]^T [r 1] over what free props weigh on each body, kg and m in its axes: see `_feel`
    felt    (J, 6) N m about each joint and N, of things and people that push besides, world axes; load and pressed:
            what of it is of free props that are pushed along, and the rest
    """

    needs_contacts = True

    def __init__(self, driver: Strength, body: Body, joints: np.ndarray, t: float):
        self.driver, self.joints = driver, np.asarray(joints, np.int64)
        self._h, self.began = body.dt, np.zeros(2)  # m, of the motion at its beginning: soles, and hips
        self.muscles = driver.muscles or JointStrength.from_character(body.character)
        arrays, own = self.muscles.arrays, np.isin(self.muscles.joints, self.joints)
        self.rows = np.flatnonzero(own)
        self.a = type(arrays)(
            arrays.curves[own], arrays.tables[own], arrays.numbers, arrays.joints[own], arrays.letters[own],
            arrays.frames[own], arrays.ranges[own],
        )  # fmt: skip
        self.n = n = len(self.rows)
        self.labels = tuple(f"{self.muscles.labels[i]} {self.muscles.axes[i]}" for i in self.rows)
        self.ghost = Body(body.character)
        every = np.arange(len(body.tree)) if driver.motion.moves_root else self.joints
        guide = Kinematic(driver.motion, driver.start, driver.cutoff)
        moved = guide.claim(body.character, every.tolist(), "body").moved
        self.guide: KinematicPlayer = guide.build(self.ghost, np.array(moved), t)  # type: ignore[assignment]
        self.feet = np.array([body.skeleton.index(f"{side}Foot") for side in SIDES])
        self.corners = np.stack([find_corners(box) for box in build_footing(body.skeleton)])
        self.middles = self.corners.mean(axis=1)
        self.effectors = [
            (body.skeleton.index(joint), _ROWS[way], driver.paths.get(joint)) for joint, way in driver.led.items()
        ]
        led = {joint for joint, _, _ in self.effectors}
        self.hands = HandSupport(set(self.joints.tolist()) - led if driver.hands else ())
        self.axes = np.array(["xyz".index(axis) for axis in driver.center], np.int64)
        self.planted, self.stands_on = np.zeros((2, 7)), np.zeros(2, bool)
        self.plan, self.planned, self.shift = np.zeros((_WINDOW, 3, 3)), np.full(1, np.nan), np.zeros(3)
        self.at, self.ratio = np.zeros(n, np.int8), np.zeros(n)
        self.torque, self.low, self.high = np.zeros(n), np.zeros(n), np.zeros(n)
        self.moving, self.missed = 0.0, 0.0
        self.fallen, self._is_told = np.zeros(1), False
        self.zmp, self.drag, self.felt = np.full(3, np.nan), np.zeros(len(self.joints)), np.zeros((len(body.tree), 6))
        self._way = np.array([0.0, 0.0, 1.0])
        self._last: tuple[QpProblem, QpSolution] | None = None
        self._fixed: tuple[Any, set[str]] = None, set()  # a floor, and the names of what never moves on it
        self._rate, self._share = min(RATE, 1.0 / self._h), 1.0 - math.exp(-self._h / _FELT)
        self._soon = 1.0 - math.exp(-self._h / _SOON)
        self.load, self.pressed = np.zeros_like(self.felt), np.zeros_like(self.felt)
        self.laden, self._with = np.zeros((len(body.tree), 4, 4)), Laden.of(body, np.zeros((len(body.tree), 4, 4)))
        self._free: dict[str, RigidInertia] = {}
        self._seen: dict[str, np.ndarray] = {}
        self._work = Work(body, n, len(self.effectors))
        self._is_foot = np.zeros(len(body.tree), bool)
        self._is_foot[self.feet] = True
        for i in range(len(body.tree)):
            self._is_foot[i] |= i > 0 and bool(self._is_foot[body.tree.parents[i]])

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """At a start it is where the motion is, as fast as that."""
        for ghost in (self.ghost, self._work.ahead):
            ghost.state.q[:], ghost.state.root[:] = body.state.q, body.state.root
        self._pose_ghost(t)
        low = find_soles_of(self.ghost.R, self.ghost.p, self.feet, self.corners)
        self.began[:] = low[..., 1].min(), self.ghost.p[0, 1]
        if starting:
            body.state.q[self.joints] = self.ghost.state.q[self.joints]
            body.state.w[self.joints] = self.ghost.state.w[self.joints]
            if self.guide.moves_root:
                body.state.q[0], body.state.w[0] = self.ghost.state.q[0], self.ghost.state.w[0]
                body.state.root[:], body.state.v[:] = self.ghost.state.root, self.ghost.state.v
        body.update()
        mass, _, inertia = body.outboard()
        others = np.setdiff1d(np.arange(1, len(mass)), self.joints)
        is_known = not np.any(mass[others] > _FEATHER)  # all that moves is in the model
        self.drag[:] = 0.0 if is_known else inertia[self.joints] * min(1.0 / _DRAG, _HEAVIER / self._h)
        self.planned[0] = np.nan

    # The step.

    def write(self, body: Body, t: float) -> None:
        """See `Player.write`."""
        from poise.body.strength.kernels import fill_range, fill_state
        from poise.drivers.strength.kernels import want

        k, m, state = self._work, self.a, body.state
        fill_state(m.joints, m.letters, m.frames, m.ranges, state.q, state.w, k.angles, k.rates, k.axes)
        fill_range(m.curves, m.tables, m.numbers, k.angles, k.rates, self.low, self.high)
        self._pose_ghost(t)
        ghost, firm = self.ghost.state, self._feel(body)
        limbs = self._with.find_limbs(body, m.joints, k.axes)
        want(
            state.q, state.w, ghost.q, ghost.w, k.ahead.state.w, body.dw, self._h, self._find_rates(limbs),
            self.driver.alpha, _MOST_TURN, self.joints, m.joints, k.axes, body.R, k.dw, k.wanted, k.e,
        )  # fmt: skip
        self._lift_loads(body, limbs)
        if self.fallen[0]:
            self._brake(body)
            body.damping[self.joints] += self.drag
            return
        # ranges of joints make room for what the motion asks for
        body.aim[self.joints], body.firm[self.joints] = ghost.q[self.joints], _MOST_FOUND
        k.weights[:] = 1.0
        self._find_contacts(body, firm)
        self._limit(body, t)
        self._resist(body)
        if self._is_lost(body):
            self.fallen[0] = 1.0
            body.request()

    def _pose_ghost(self, t: float) -> None:
        """Have the ghost be where the motion is, and another where it is at the end of the step."""
        ahead, end = t + self._h, self.driver.start + self.guide.track.end
        if t < end <= ahead + 1e-9:  # it stops after its last frame, and not in the step that ends there
            ahead = end - 1e-6 * self._h
        for ghost, at in ((self._work.ahead, ahead), (self.ghost, t)):
            self.guide.write(ghost, at)
            ghost.update()

    def _is_lifted(self, ghost: Body, side: int) -> bool:
        from poise.drivers.strength.kernels import is_lifted

        i = self.feet[side]
        return self.guide.moves_root and is_lifted(
            ghost.R[i], ghost.p[i], ghost.om[i], ghost.v[i], self.corners[side], self.began[0] + _LIFTED, _LIFT
        )

    def _find_contacts(self, body: Body, firm: np.ndarray) -> None:
        """Where the world may push: soles on the ground, and whatever firm (n,) touched in the last step."""
        from poise.drivers.strength.kernels import find_soles, set_frame

        k, count, floor = self._work, 0, body.floor.record[0]
        k.sides[:], k.edges[:] = -1, [(0, 0), (0, 0)]
        carries = not body.root_is_given  # else nobody stands on anything
        self.stands_on &= carries
        for side, foot in enumerate(self.feet.tolist() if carries else ()):
            lifted, first = self._is_lifted(self.ghost, side), count
            count, down = find_soles(
                floor, body.R, body.p, foot, self.corners[side], _INSIDE, _FLAT, _NEAR, lifted, count, k.points,
                k.frames, k.segments, k.most,
            )  # fmt: skip
            stands = down >= 3 and not lifted
            if not stands and count - first > 1:
                count = self._keep_far(body, first, count)
            if stands and not self.stands_on[side]:
                self.planted[side, :3], self.planted[side, 3:] = body.p[foot], body.world_turn(foot)
            self.stands_on[side] = stands
            k.edges[side] = first, first if stands or lifted else min(count, first + 2)
        k.soles = count
        helps = ~self._is_foot
        if carries and self.hands.see(body):
            count = self._help(body, count)
            for _, arm in self.hands.busy():
                helps[list(arm.below)] = False
        k.pads = count
        touches = body.touches
        others = np.flatnonzero(helps[touches.joints] & firm)
        if len(others):
            sizes = np.linalg.norm(touches.forces[others], axis=1)
            for row, size in sorted(zip(others.tolist(), sizes.tolist(), strict=True), key=lambda each: -each[1]):
                if size <= _LIGHT * body.tree.mass * 9.81 or count == k.pads + MOST_TOUCHES:
                    continue
                k.points[count], k.segments[count] = touches.points[row], touches.joints[row]
                x, y, z = (touches.forces[row] / size).tolist()
                set_frame(x, y, z, k.frames[count])
                k.most[count] = np.inf
                count += 1
        k.count = count
        if self.hands.busy() and count == k.soles:
            k.weights[self._is_foot[self.a.joints]] = _GIVES
        k.friction[:count] = max(body.friction, _LEAST_FRICTION)

    def _keep_far(self, body: Body, first: int, count: int) -> int:
        """Of a foot on its edge, points first to count, keep those over which the body tips; how many there are then.

        Who is pushed over backwards, on the inner edges of his feet, would push himself off by his toes.
        """
        k = self._work
        short, _, way = self._find_short(body)
        if short <= 0.0:
            return count
        along = k.points[first:count] @ way
        kept = first + np.flatnonzero(along > along.max() - _EDGE)
        end = first + len(kept)
        for each in (k.points, k.frames, k.segments, k.most):
            each[first:end] = each[kept]
        return end

    def _feel(self, body: Body) -> np.ndarray:
        """Which touches (n,) are of what never moves, and may be leaned on; what moves is `felt` as it pushes.

        What rests on a body is taken for a part of it, `laden`: its arms know what it takes to lift it, and not only
        what it weighs. That comes to count at once, as what else a free prop asks for: see `_weigh`. The rest of every
        push comes to count in `_FELT`.
        """
        touches, part = body.touches, self._share
        if self._fixed[0] is not body.floor:
            props = body.floor.props
            self._fixed = body.floor, {"ground", *(prop.name for prop in props if prop.inertia is None)}
            self._free = {prop.name: prop.inertia for prop in props if prop.inertia is not None}
            self._seen = {name: seen for name, seen in self._seen.items() if name in self._free}
        firm = np.array([other in self._fixed[1] for other in touches.others], bool)
        of_prop = np.array([other in self._free for other in touches.others], bool)
        pushed = ~firm & (of_prop | ~_find_twice(touches.points)) if not firm.all() else np.zeros(len(firm), bool)
        joints, points, forces = touches.joints[pushed], touches.points[pushed], touches.forces[pushed]
        others = [other for other, is_pushed in zip(touches.others, pushed.tolist(), strict=True) if is_pushed]
        masses, places, weights, rest = self._weigh(body, others, points, forces)
        self.laden *= 1.0 - self._soon
        for i, mass, place in zip(joints.tolist(), masses.tolist(), places, strict=True):
            turn = body.R[i].T
            under = _sink(turn @ (place - body.p[i]), body.tree.centers[i], turn @ body.gravity)
            own = np.append(under, 1.0)
            self.laden[i] += self._soon * mass * np.outer(own, own)
        self.load *= 1.0 - self._soon
        _add_forces(self.load, joints, points - body.p[joints], self._soon * weights)
        self.pressed *= 1.0 - part
        _add_forces(self.pressed, joints, points - body.p[joints], _TAKEN * part * rest)
        np.add(self.load, self.pressed, out=self.felt)
        self._with = Laden.of(body, self.laden)
        return firm

    def _weigh(
        self, body: Body, others: list[str], points: np.ndarray, forces: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of each push of what moves (forces): how much of a free prop rests there (n,) kg, and where (n, 3) m.

        And (n, 3) N, what the push would be besides if the prop did not accelerate, and the rest of each, by which a
        prop is squeezed, and which is nothing in all.

            F = sum f + m (v - v_last) / h        of all its pushes together, along their sum           [weigh, eq 1]

        That is what a load weighs less what others carry of it, whether the arms sink under it or not, and nothing of
        a blow. What of it is downwards is of the mass that rests on the body; what is across, as of a crate that is
        pushed along, is a force. The pushes share it so that it acts below the prop's centre of mass, as near to their
        own shares as that allows: a load that tips from hand to forearm is not felt at the wrong one.
        """
        masses, places = np.zeros(len(forces)), points.copy()
        weights, rest = np.zeros_like(forces), forces.copy()
        g = float(np.linalg.norm(body.gravity))
        for name, inertia in self._free.items():
            state = body.read_prop(name)
            center, speed = state.position, state.velocity
            if inertia.center.any():
                lever = rotation.rotate(state.turn, inertia.center)
                center, speed = center + lever, speed + np.cross(state.spin, lever)
            last, now = self._seen.get(name), np.concatenate([speed, state.spin])
            self._seen[name] = now
            rows = [i for i, other in enumerate(others) if other == name]
            if last is None or not rows or not np.abs(forces[rows]).sum() > 1e-9:
                continue
            turn = rotation.to_matrix(state.turn)
            gone = (now - last) / self._h
            gone[:3] *= inertia.mass
            gone[3:] = turn @ inertia.inertia @ turn.T @ gone[3:]
            at = forces[rows] + _stop(points[rows] - center, forces[rows], gone)
            total = at.sum(axis=0)
            masses[rows] = np.maximum(at @ body.gravity, 0.0) / max(g * g, 1e-9)
            masses[rows] *= min(1.0, inertia.mass / max(float(masses[rows].sum()), 1e-9))
            across = total - float(masses[rows].sum()) * body.gravity
            share = np.maximum(at @ across, 0.0) + 1e-9
            share /= share.sum()
            weights[rows] = np.outer(share, across)
            rest[rows] = 0.0  # foreseen, a squeeze would grow by itself
        return masses, places, weights, rest

    def _find_rate(self, limb: Limb) -> float:
        """1/s, at which a laden limb goes to the motion: slower where it would swing if it lost its load.

        A torque holds for a step. What takes a share s = rate h of its speed off a limb with its load takes x times as
        much off the limb alone, H and H' their inertias:

            s x <= _SWINGS,    H' v = x H v                                                               [rates, eq 1]
        """
        return min(self._rate, _SWINGS / (self._h * limb.heavier))

    def _find_rates(self, limbs: list[Limb]) -> np.ndarray:
        """(J,) 1/s, at which joints go to the motion: see `_find_rate`."""
        rates = np.full(len(self.ghost.tree), self._rate)
        for limb in limbs:
            rates[self.a.joints[limb.rows]] = self._find_rate(limb)
        return rates

    def _lift_loads(self, body: Body, limbs: list[Limb]) -> None:
        """Have loads go up and down with the motion at the rate of limbs without one.

        A load slides across its support, which eq 1 is for; its weight keeps it from being lost upwards. At the slow
        rate s of eq 1 alone, 15 kg that had come to 0.6 m/s before they were felt sank by 19 cm at 30 steps a second.
        The load's speed upwards is j^T w, and the limb's accelerations that change it with the least energy are added:

            x += (rate - s) H'^-1 j / (j^T H'^-1 j)  j^T (w* - w + alpha s (q* - q))                      [rates, eq 2]

        so the pose comes back as slowly as by eq 1: at the full rate a load was pushed off its support.
        """
        axes, now, aim = self._work.axes, body.state, self.ghost.state
        for limb in limbs:
            slow, i = self._find_rate(limb), self.a.joints[limb.rows]
            off = rotation.log(rotation.multiply(rotation.conjugate(now.q[i]), aim.q[i]))
            speed = aim.w[i] - now.w[i] + self.driver.alpha * slow * off
            lifted = float(limb.lift @ np.einsum("na,na->n", axes[limb.rows], speed))
            self._work.wanted[limb.rows] += (self._rate - slow) * lifted * limb.way

    def _limit(self, body: Body, t: float) -> None:
        """Accelerations, pushes and torques within their ranges."""
        from poise.drivers.strength.kernels import settle, spread_pushes
        from poise.dynamics.contact.contact_dynamics_kernels import model_pushes
        from poise.dynamics.qp.priority_kernels import solve_prioritized, solve_weighted

        k, tree, m, n, c, own = self._work, body.tree, self.a, self.n, self._work.count, self._with
        size, weight = n + 4 * c, tree.mass * 9.81
        r = k.get(size)
        r.low[:n], r.high[:n] = self.low, self.high
        spread_pushes(
            n, k.points[:c], k.frames[:c], k.friction[:c], k.most[:c], k.segments[:c], r.at, r.ways, r.of, r.H, r.b,
            r.low, r.high,
        )  # fmt: skip
        if body.root_is_given:
            r.a0[:3], r.a0[3:] = body.a, body.R[0] @ body.dw[0]
        is_solved = model_pushes(
            tree.parents, own.masses, own.centers, own.inertias, body.R, body.p, body.om, body.state.w, k.dw,
            body.gravity, m.joints, k.e, r.at, r.ways, r.of, weight, self.felt, body.root_is_given, r.A, r.a0, r.H,
            r.b, k.al, k.acc,
        )  # fmt: skip
        if not is_solved:
            self._brake(body)
            return
        r.wanted[:n], r.wanted[n:], r.weights[:n], r.weights[n:] = k.wanted, 0.25 / max(c, 1), k.weights, _EVEN
        r.wanted[n + 4 * k.soles : n + 4 * k.pads] = 0.0  # a hand pushes only as it must
        rows = self._set_goals(body, t, r)
        solve, damping = solve_weighted, 1.0
        if self.driver.priorities == STRICT:
            solve, damping = solve_prioritized, DAMPING
            self._rank(r, rows)
        problem, work, solution = k.qp(size, rows)
        problem.damping = damping
        self._last = problem, solution
        solve(problem, work, solution)
        u = solution.x
        if not np.abs(u).max(initial=0.0) < _MOST_FOUND:
            self._brake(body)  # no such support carries it
            return
        self.at[:] = solution.at_bound[:n]
        settle(
            tree.parents, own.masses, own.centers, own.inertias, body.R, body.p, body.om, body.state.w, body.gravity,
            m.joints, k.axes, k.e, r.at, r.ways, r.of, weight, self.felt, r.A, r.a0, u, k.sides, c, solution.residual,
            k.scales, k.kinds, self.low, self.high, k.dw, k.vectors, self.torque, self.ratio, self.zmp,
            self.hands.push, k.off,
        )  # fmt: skip
        self.moving, self.missed = float(k.off[0]), float(k.off[1])
        body.torque[self.joints] += k.vectors[self.joints]

    def _rank(self, r: Room, rows: int) -> None:
        """Order the goals' rows by priority and take back their weights: the damping is in the unit of the rows."""
        k = self._work
        order, full = np.argsort(k.kinds[:rows], kind="stable"), np.array([_STAYS, _LEADS, 1.0])
        for each in (r.rows, r.y, k.scales, k.kinds):
            each[:rows] = each[order]
        k.level[:rows] = k.kinds[:rows]
        weights = np.where(k.level[:rows] == 2, k.scales[:rows], full[k.level[:rows]])
        r.rows[:rows] /= weights[:, None]
        r.y[:rows] /= weights
        k.scales[:rows] /= weights

    def _resist(self, body: Body) -> None:
        """A damper on what the step does beside what was foreseen, which is nothing where the model is right:

            t = d (w + h dw) - d w(t + h)        dw: rad/s2, as it was solved for                    [resist, eq 1]

        Whoever drives other joints is not in the model, and light segments, which muscles could turn at any speed,
        would be thrown about by what it does not know.
        """
        if not self.drag.any():
            return
        i = self.joints
        ahead = np.einsum("jab,jb->ja", body.R[i], body.state.w[i] + self._h * self._work.dw[i])
        body.torque[i] += self.drag[:, None] * ahead
        body.damping[i] += self.drag

    def _set_goals(self, body: Body, t: float, r: Room) -> int:
        """Write what comes before the joints' own tracking; how many rows that is."""
        from poise.drivers.strength.kernels import find_shift, lead_center, lead_point, outline_of, take_goal

        k, ghost, rate, alpha, count, c = self._work, self.ghost, self._rate, self.driver.alpha, 0, self._work.count
        model = (
            body.tree.parents, body.R, body.p, body.om, body.v, self.a.joints, k.e, r.A, r.a0, k.al, k.acc,
        )  # fmt: skip
        rows, y = np.empty((6, r.rows.shape[1])), np.empty(6)

        def take(which: tuple[int, int], kind: int, scale: float, turns: float = 1.0) -> None:
            nonlocal count
            count = take_goal(rows, y, *which, kind, scale, turns, count, k.kinds, k.scales, r.rows, r.y)

        for side, foot in enumerate(self.feet.tolist()):
            if self.stands_on[side]:
                planted, aim = self.planted[side, :3], self.planted[side, 3:]
                at = body.p[foot] + body.R[foot] @ self.middles[side]
                place = planted + rotation.rotate(aim, self.middles[side])
                lead_point(*model, foot, at, place, aim, k.still, k.still, rate, alpha, rows, y)
                take(_ROWS[BOTH], 0, _STAYS, _TURNS)
                continue
            # not while it tips over: a leg in the air is then the better weight
            if self.stands_on[1 - side] and not self._is_lifted(ghost, side) and self._find_short(body)[0] < 0.0:
                at, place, aim = self._find_landing(body, side)
                lead_point(*model, foot, at, place, aim, k.still, k.still, rate, alpha, rows, y)
                take(_ROWS[BOTH], 2, _LANDS, _TURNS)
                continue
            # who reaches for something while a heel is up turns about his toes, or about another edge
            for i in range(*k.edges[side]) if self.hands.busy() else ():
                at = k.points[i]
                lead_point(*model, foot, at, at, k.level_turn, k.still, k.still, rate, alpha, rows, y)
                take(_ROWS[POSITION], 0, _STAYS)
        for side, arm in self.hands.busy():
            closing = None if np.any(k.sides[: k.pads] == side) else self.hands.find_closing(body, side, self._h)
            if closing is not None:
                at, now, most = closing
                normal = self.hands.normal[side]
                lead_point(*model, arm.joints[2], at, at, k.level_turn, k.still, k.still, rate, alpha, rows, y)
                now_all = rate * (most - now) - rate * -now  # what `lead_point` has of the speed is taken back
                rows[0], y[0] = normal @ rows[:3], normal @ y[:3] + now_all
                take((0, 1), 2, _SLOWS)
        for i in range(k.soles, k.pads):
            joint, place = int(k.segments[i]), k.points[i]
            at = place + k.gaps[i] * k.frames[i, 0]
            lead_point(*model, joint, at, place, k.level_turn, k.still, k.still, rate, alpha, rows, y)
            take(_ROWS[POSITION], 0, _STAYS if self.hands.calm[k.sides[i]] == 0.0 else 1.0)
        for i in range(k.pads, c):
            joint, at = int(k.segments[i]), k.points[i]
            local = body.R[joint].T @ (at - body.p[joint])
            there = ghost.p[joint] + ghost.R[joint] @ local + self.shift
            if (there - at) @ k.frames[i, 0] < _AWAY:
                lead_point(*model, joint, at, at, k.level_turn, k.still, k.still, rate, alpha, rows, y)
                take(_ROWS[POSITION], 0, _STAYS)
        find_shift(body.p, ghost.p, self.feet, self.stands_on, self.shift)
        size, height = outline_of(k.points, c, 1.0, k.hull) if c else (0, 0.0)
        if 0 < k.soles < c:
            height = float(k.points[: k.soles, 1].mean())  # hands are above what it stands on
        if len(self.axes) and size >= 3 and not body.root_is_given:
            self._plan(body, t)
            at = min(max((t - float(self.planned[0])) / _EVERY, 0.0), _WINDOW - 1.001)
            i, share = int(at), at - int(at)
            place, speed, going = (1.0 - share) * self.plan[i] + share * self.plan[i + 1]
            n, gain = self.n, _GAIN if not self.hands.busy() else _LEANS
            own = self._with
            place = own.move(place + self.shift, ghost, self.shift)
            lead_center(
                own.c, own.dc, place, speed, going, gain, rate, alpha, body.gravity, k.hull, size, height,
                body.tree.mass * 9.81, own.mass, self.axes, r.ways, n, rows[: len(self.axes)], y,
            )  # fmt: skip
            # who reaches for something tips as he is, and does not bend for what soles alone could still do
            first = count
            take((0, len(self.axes)), 1, _LEADS)
            if self.hands.busy() and c == k.soles:
                self._let_tip(r.rows[first:count], r.y[first:count], k.scales[first:count])
        for joint, which, path in self.effectors:
            if path is None:
                place, turn = ghost.p[joint] + self.shift, ghost.world_turn(joint)
                speed = np.concatenate([ghost.v[joint], ghost.om[joint]])
                later = np.concatenate([k.ahead.v[joint], k.ahead.om[joint]])
            else:
                place, turn, *rates = path.at(t - self.driver.start)
                ahead = path.at(t + self._h - self.driver.start)
                speed, later = np.concatenate(rates), np.concatenate([ahead.velocity, ahead.spin])
            going = (later - speed) / self._h
            at, off = body.p[joint], place - body.p[joint]
            place = at + off * min(1.0, _FARTHEST / max(self.driver.insists * float(np.linalg.norm(off)), 1e-9))
            lead_point(*model, joint, at, place, turn, speed, going, rate, alpha, rows, y)
            take(which, 2, self.driver.insists)
        return count

    def _find_landing(self, body: Body, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of a foot that came off the ground though the motion has it down: where its sole's middle is (3,) m, where it
        is to be, and how it is to be turned (4,).
        """
        foot, middle, ghost = int(self.feet[side]), self.middles[side], self.ghost
        at = body.p[foot] + body.R[foot] @ middle
        place = ghost.p[foot] + ghost.R[foot] @ middle + self.shift
        place[1] = body.floor.find(float(place[0]), float(place[2]), float(at[1]) + _OVER)[0]
        return at, place, ghost.world_turn(foot)

    def _help(self, body: Body, count: int) -> int:
        """Have hands see to it where balance is short; where they are on something, the world may push."""
        from poise.drivers.strength.kernels import set_frame

        k, hands = self._work, self.hands
        short, edge, way = self._find_short(body)
        hands.look(body, self._h, short, edge, way)
        self._way = way
        for side, arm in enumerate(hands.arms):
            if arm is None or hands.state[side] == IDLE:
                continue
            if hands.state[side] == BACK:
                hands.state[side] = IDLE if self._ease_arm(body, arm.joints, _BACK) else BACK
                continue
            body.aim[list(arm.joints)] = hands.find_room(body, side)
            for i, off in zip(arm.joints, hands.find_turns(body, side), strict=True):
                off *= min(0.7 * _REACH, _QUICK / max(float(np.linalg.norm(off)), 1e-9))
                going = 1.5 * _REACH * (off - body.state.w[i])
                self._want(i, going * min(1.0, _HURRY / max(float(np.linalg.norm(going)), 1e-9)))
            k.weights[np.isin(self.a.joints, arm.joints)] = _FREE if hands.state[side] == ON else _FOLLOWS
            for at, gap, share in hands.find_pads(body, side):
                k.points[count], k.segments[count], k.most[count] = at, arm.joints[2], _HARD * share
                k.gaps[count] = gap
                x, y, z = hands.normal[side].tolist()
                set_frame(x, y, z, k.frames[count])
                k.sides[count] = side
                count += 1
        return count

    def _let_tip(self, rows: np.ndarray, y: np.ndarray, scales: np.ndarray) -> None:
        """Have goals of the centre of mass count for little the way that it tips; across that it is kept as ever."""
        level = [i for i, axis in enumerate(self.axes.tolist()) if axis != 1]
        turn = self._way[self.axes[level]][None]
        if len(level) == 2:
            turn = np.array([[turn[0, 0], turn[0, 1]], [-turn[0, 1], turn[0, 0]]])
        along = np.array([_TIPS / _LEADS, 1.0])[: len(level)]
        if len(level) == 1:
            turn, along = np.ones((1, 1)), along ** abs(turn[0])
        rows[level], y[level] = along[:, None] * (turn @ rows[level]), along * (turn @ y[level])
        scales[level] *= along

    def _find_short(self, body: Body) -> tuple[float, np.ndarray, np.ndarray]:
        """By how much balance is short (m), beside what the motion itself lacks: see `HandSupport.look`."""
        from poise.drivers.balance.support_kernels import clamp_to_hull, hull_margin
        from poise.drivers.strength.kernels import outline_of

        found, g = [], float(np.linalg.norm(body.gravity))
        feet = [side for side in range(2) if not self._is_lifted(self.ghost, side)] or [0, 1]
        for each in (body, self.ghost):
            soles = find_soles_of(each.R, each.p, self.feet[feet], self.corners[feet]).reshape(-1, 3)
            hull = np.zeros((len(soles) + 1, 2))
            size, height = outline_of(soles, len(soles), 1.0, hull)
            ahead = each.dc / np.sqrt(g / max(each.c[1] - height, 0.05)) if g > 0.0 else 0.0 * each.dc
            x, z = float(each.c[0] + ahead[0]), float(each.c[2] + ahead[2])
            edge = clamp_to_hull(hull, size, x, z)
            found.append((-hull_margin(hull, size, x, z), edge, x, z, height))
        short, (ex, ez), x, z, height = found[0]
        if self.guide.moves_root:
            short -= max(found[1][0], 0.0)
        way = np.array([x - ex, 0.0, z - ez])
        far = float(np.linalg.norm(way))
        return short, np.array([ex, height, ez]), way / far if far > 1e-9 else np.array([0.0, 0.0, 1.0])

    def _ease_arm(self, body: Body, joints: tuple[int, ...], most: float) -> bool:
        """Have an arm go to its motion no faster than `most` rad/s; whether it would not go faster anyway."""
        k, rate, slow = self._work, self._rate, True
        for i in joints:
            rows = np.flatnonzero(self.a.joints == i)
            speed = body.state.w[i] + (k.dw[i] + k.wanted[rows] @ k.axes[rows]) / rate
            size = float(np.linalg.norm(speed))
            if size > most:
                self._want(i, rate * (speed * most / size - body.state.w[i]))
                slow = False
        return slow

    def _want(self, joint: int, dw: np.ndarray) -> None:
        """Have a joint turn as dw (3,) rad/s2 says, in body axes, and not as its motion does."""
        k, rows = self._work, np.flatnonzero(self.a.joints == joint)
        k.wanted[rows] = k.axes[rows] @ dw
        k.dw[joint] = dw - k.wanted[rows] @ k.axes[rows]

    @property
    def problem(self) -> Problem | None:
        """What the last step solved, a copy; None before the first."""
        if self._last is None:
            return None
        p, solution = self._last
        arrays = (p.H, p.b, p.low, p.high, p.target, p.weights, p.A, p.y, p.level, solution.x)
        return Problem(*(array.copy() for array in arrays))

    def _plan(self, body: Body, t: float) -> None:
        """Plan the centre of mass ahead, where that is not done: see `plan_center`."""
        from poise.drivers.strength.kernels import plan_center, see_soles

        late = t - float(self.planned[0])
        if 0.0 <= late <= 0.5 * _WINDOW * _EVERY:
            return
        k, scout = self._work, self._work.scout
        scout.state.q[:], scout.state.root[:] = self.ghost.state.q, self.ghost.state.root
        start = body.c - self.shift
        if late > 0.0:
            start = self.plan[min(round(late / _EVERY), _WINDOW - 1), 0].copy()
        if scout.tree is not body.tree:
            scout.set_tree(body.tree)
        c, dc = np.empty((_WINDOW, 3)), np.empty((_WINDOW, 3))
        soles, lifted = np.empty((_WINDOW, 2, 4, 3)), np.zeros((_WINDOW, 2), bool)
        for i in range(_WINDOW):
            self.guide.write(scout, t + i * _EVERY)
            scout.update()
            c[i], dc[i] = scout.c, scout.dc
            see_soles(
                scout.R, scout.p, scout.om, scout.v, self.feet, self.corners, self.began[0] + _LIFTED, _LIFT,
                self.guide.moves_root, soles[i], lifted[i],
            )  # fmt: skip
            if CENTER in self.driver.paths:
                point = self.driver.paths[CENTER].at(t + i * _EVERY - self.driver.start)
                c[i, self.axes], dc[i, self.axes] = (point.place - self.shift)[self.axes], point.velocity[self.axes]
        plan_center(c, dc, soles, lifted, _EVERY, float(np.linalg.norm(body.gravity)), _SAFE, start, self.plan)
        self.planned[0] = t
        self.guide.write(k.ahead, t + self._h)
        self.guide.write(self.ghost, t)

    def _brake(self, body: Body) -> None:
        """Only slow joints down, by a share of the strength: by dampers, so that no step pushes one back."""
        from poise.dynamics.contact.contact_dynamics_kernels import compose, fill_inertia

        k, tree, j, n = self._work, body.tree, len(body.tree), self.n
        mass, center, inertia = np.empty(j), np.empty((j, 3)), np.empty((j, 3, 3))
        M, W, H = np.empty((6, 6)), np.empty((6, n)), np.empty((n, n))
        compose(tree.parents, tree.masses, tree.centers, tree.inertias, body.R, body.p, mass, center, inertia)
        fill_inertia(tree.parents, body.p, mass, center, inertia, self.a.joints, k.e, M, W, H)
        bound = np.where(k.rates < 0.0, self.high, -self.low)
        most = np.minimum(np.diag(H) / _BRAKE, _TONE * bound / np.maximum(np.abs(k.rates), 1e-9))
        damping = np.full(j, np.inf)
        np.minimum.at(damping, self.a.joints, most)
        self.torque[:] = -damping[self.a.joints] * k.rates
        np.maximum(self.ratio, np.abs(self.torque) / np.maximum(bound, 1e-9), out=self.ratio)
        self.at[:], self.zmp[:] = 0, np.nan
        moved = self.joints[np.isfinite(damping[self.joints])]
        body.damping[moved] += damping[moved]

    def _is_lost(self, body: Body) -> bool:
        """Whether it lies, or leans so far or is so low that nothing helps."""
        from poise.drivers.strength.kernels import is_lost

        k = self._work
        return bool(k.count) and not body.root_is_given and is_lost(
            body.c, body.p, self.ghost.c, self.ghost.p, self.feet, k.points, k.count, _LOST
        )  # fmt: skip

    # What a stage asks.

    def handle_request(self, body: Body, t: float) -> bool:
        """See `Player.handle_request`: who has just fallen is built anew."""
        is_new = bool(self.fallen[0]) and not self._is_told
        self._is_told = self._is_told or is_new
        return is_new

    def model(self, body: Body, falling: bool) -> BodyModel:
        """See `Player.model`: what falls turns about no axis that it has not.

        What all of the body hangs from, under a root that has no mass, is stiff: it would spin.
        """
        if not self.fallen[0]:
            mass = body.outboard()[0]
            return BodyModel({i: Joint(HINGES) for i in self.joints.tolist() if mass[0] - mass[i] <= _FEATHER})
        return Loose(stiffness=0.0).build(body, self.joints, 0.0).model(body, True)

    def status(self, body: Body, t: float) -> Status:
        """See `Player.status`: the posture that it aims at is that of the motion."""
        upright = float((body.R[0] @ self.ghost.R[0][1])[1])  # what is up in the motion, as the body has it
        sunk = min(float(self.ghost.p[0, 1] - self.began[1]), 0.0)
        points, soles, margin = self._work.points[: self._work.count], None, math.nan
        if len(points) >= 3:
            soles = find_soles_of(body.R, body.p, self.feet, self.corners)
            margin = find_outline(points).find_margin(float(body.c[0]), float(body.c[2]))
        return Status(False, bool(self.fallen[0]), soles, margin, upright, sunk)

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {
            "planted": self.planted, "began": self.began, "stands_on": self.stands_on, "fallen": self.fallen,
            "hands": self.hands.state, "hand_points": self.hands.point, "hand_normals": self.hands.normal,
            "hand_calm": self.hands.calm, "hand_push": self.hands.push,
            "plan": self.plan, "planned": self.planned, "shift": self.shift, "ratio": self.ratio, "zmp": self.zmp,
            # of the ghost, joints that the motion leaves alone
            "ghost_q": self.ghost.state.q, "ghost_root": self.ghost.state.root,
            "drag": self.drag, "load": self.load, "pressed": self.pressed, "laden": self.laden,
        }  # fmt: skip

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        points = self._work.points[: self._work.count].copy()
        seen = {name: speed.copy() for name, speed in self._seen.items()}
        return {**super().save(), "guide": self.guide.save(), "points": points, "seen": seen}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        write_over(self.numbers(), {name: saved[name] for name in self.numbers()})
        k, points = self._work, np.asarray(saved["points"], float).reshape(-1, 3)
        k.count = min(len(points), len(k.points))
        k.points[: k.count] = points[: k.count]
        ahead, ghost = k.ahead.state, self.ghost.state
        ahead.q[:], ahead.root[:] = ghost.q, ghost.root
        self.guide.restore(saved["guide"])
        self._seen = {name: np.array(speed, float) for name, speed in saved["seen"].items()}
        np.add(self.load, self.pressed, out=self.felt)
        self._is_told = bool(self.fallen[0])


def _add_forces(wrenches: np.ndarray, joints: np.ndarray, levers: np.ndarray, forces: np.ndarray) -> None:
    """Add forces (n, 3) N, so far (n, 3) m from their joints (n,), to wrenches (J, 6)."""
    np.add.at(wrenches[:, :3], joints, np.cross(levers, forces))
    np.add.at(wrenches[:, 3:], joints, forces)


def _stop(levers: np.ndarray, forces: np.ndarray, gone: np.ndarray) -> np.ndarray:
    """(n, 3) N, to be added to forces (n, 3) that act so far (n, 3) m from a centre: without what is gone.

    That is (6,): N, and N m about the centre. It is the least change beside each force's size.
    """
    A = np.zeros((6, len(levers), 3))
    A[:3] = np.eye(3)[:, None]
    x, y, z = levers.T
    A[3, :, 1], A[3, :, 2], A[4, :, 0], A[4, :, 2], A[5, :, 0], A[5, :, 1] = -z, y, z, -x, -y, x
    size = np.linalg.norm(forces, axis=1)
    W = size / size.sum()
    M = np.einsum("ink,n,jnk->ij", A, W, A)
    M[np.diag_indices(6)] += 1e-4
    return np.asarray(W[:, None] * np.einsum("ink,i->nk", A, np.linalg.solve(M, gone)))


def _sink(point: np.ndarray, along: np.ndarray, down: np.ndarray) -> np.ndarray:
    """The place above or below a point (3,) m that is nearest to the line from the origin along a vector (3,).

    A load on a forearm does not turn with it about its length.
    """
    d = along / max(float(np.linalg.norm(along)), 1e-9)
    across, off = down - (down @ d) * d, point - (point @ d) * d
    size = float(across @ across)
    return point - (off @ across) / size * down if size > 0.01 * float(down @ down) else point


def _find_twice(points: np.ndarray) -> np.ndarray:
    """Which points (n, 3) are there more than once: what touches itself is, from both sides."""
    same = np.all(points[:, None] == points[None], axis=-1)
    return np.asarray(same.sum(axis=1) > 1)
