"""Following a motion as far as muscles allow (O3, O4).   [strength, section 5]

Step by step: the accelerations that bring the joints to the motion (eq 4); what they ask of each joint, standing as the
body does (`dynamics/supported_kernels.py`, eq 6); and, where that is more than its muscles have at its angle and speed
(eq 5), the nearest accelerations that ask for no more, of all joints together, so that others help
(`dynamics/limited.py`, eq 7 to 18). Before the joints' own tracking, in this order, come

    1. feet that stand stay where they are
    2. the centre of mass goes its way, along the axes that are chosen, as far as the soles can push it
    3. hands and other bodies go theirs, where the user says so

The centre of mass is wanted where the motion has it, of the body *without* its loads and beside the foot that carries
most, so whoever takes up a load leans away from it. Torques are never outside their range; what that costs is told by
`StrengthPlayer.at` and `ratio`.

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
from poise.body.muscles import Muscles
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.driver import TORQUE, Claim, Driver, Support, TorquePlayer
from poise.drivers.kinematic import Kinematic, KinematicPlayer
from poise.drivers.loose import Loose
from poise.drivers.outline import find_outline
from poise.drivers.playable import check_playable
from poise.dynamics.tree import build_tree
from poise.engines.scene import Joint
from poise.errors import InputError, unknown_name
from poise.kinds import checked
from poise.motion.motion import Motion, as_motion
from poise.spatial import rotation
from poise.spatial.plain import write_over
from poise.world.footing import build_footing, find_corners

POSITION, ORIENTATION, BOTH = WAYS = ("position", "orientation", "both")
_ROWS = {POSITION: slice(0, 3), ORIENTATION: slice(3, 6), BOTH: slice(0, 6)}
RATE = 30.0  # Hz, of the paper's steps: a share alpha of them is that of longer or shorter ones
_NEAR = 4e-3  # m: a corner of a sole this near to the ground stands on it
_INSIDE = 0.9  # of what it stands on: how far out the pressure may go for the sake of the centre of mass
_LIFT, _LIFTED = 0.02, 0.01  # m/s and m: a foot that the motion lifts so fast, or has so high, does not stand
_LEAST_FRICTION = 0.05
_DAMPING = 0.01  # of the body's height: see `dynamics/limited.py`
_ALIKE = 1e-6  # accelerations that differ by so much are the same
_TONE, _BRAKE = 0.25, 0.1  # of the strength, and s: how a body that fell is slowed
_LOST = 0.5  # cosine of the lean from which on nothing helps
_FEATHER = 1e-4  # kg: what carries no more is held
_ROUNDS = 3  # of supports and limits
_MOST_TURN, _MOST_FOUND = 2e3, 1e4  # rad/s2: that is ever asked for, and that is believed


@checked
@dataclass(frozen=True, eq=False)
class Strength(Driver):
    """Follows a motion within what muscles can do.

    motion     what is followed; where it has the root it is a recording of the whole body
    muscles    None: those of the character (`Muscles.from_character`)
    start      s of the stage's clock at which the motion's own time is 0
    alpha      of the way to the motion's pose in a step of 1/30 s, 0 to 1; the rest goes for its speed
    center     axes along which the centre of mass is led: "xz", "xyz", "" for none
    effectors  joint -> "position", "orientation" or "both": bodies that are led as well
    cutoff     Hz of the low-pass under the rates of a recording; None: chosen from its noise
    """

    motion: Motion
    muscles: Muscles | None = None
    start: float = 0.0
    alpha: float = 0.2
    center: str = "xz"
    effectors: Mapping[str, str] = field(default_factory=dict)
    cutoff: float | None = None
    level = TORQUE
    keeps = True

    def __post_init__(self) -> None:
        check_playable(self.motion, "Strength")
        object.__setattr__(self, "motion", as_motion(self.motion))
        object.__setattr__(self, "effectors", dict(self.effectors))
        if self.motion.is_live:
            raise InputError("Strength follows a motion that is known beforehand; this one is live.")
        if not 0.0 < self.alpha <= 1.0:
            raise InputError(f"alpha is a share of the way, above 0 and up to 1; given {self.alpha:g}.")
        if not math.isfinite(self.start):
            raise InputError(f"a motion is followed from a finite time on; given {self.start:g} s.")
        for axis in self.center:
            if axis not in "xyz":
                raise unknown_name("axis of the centre of mass,", axis, "xyz")
        for way in self.effectors.values():
            if way not in WAYS:
                raise unknown_name("way to lead a body,", way, WAYS)

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """All but the root, which floats. What the motion does not move holds its pose, as what has no mass."""
        skeleton = character.skeleton
        for joint in self.effectors:
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

    def play(self, body: Body, joints: np.ndarray, t: float) -> StrengthPlayer:
        """See `Driver.play`."""
        return StrengthPlayer(self, body, joints, t)


class StrengthPlayer(TorquePlayer):
    """Follows on one actor.

    at      (n,) int8 of its degrees of freedom: -1, 1 where the last step's torque is at its low or high bound
    ratio   (n,) how much of its strength each used since somebody last read it, at most
    torque  (n,) N m, of the last step;  low, high: its bounds
    left    in how many ways the body could move off as one in the last step: 0 it stood, 6 it flew
    missed  m/s2, by how much the centre of mass misses its way, as of the last step
    """

    feels = True

    def __init__(self, driver: Strength, body: Body, joints: np.ndarray, t: float):
        self.driver, self.joints = driver, np.asarray(joints, np.int64)
        self._h, self._floor = body.dt, 0.0
        self.muscles = driver.muscles or Muscles.from_character(body.character)
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
        self.guide: KinematicPlayer = guide.play(self.ghost, np.array(moved), t)  # type: ignore[assignment]
        self.feet = np.array([body.skeleton.index(f"{side}Foot") for side in SIDES])
        self.corners = np.stack([find_corners(box) for box in build_footing(body.skeleton)])
        self.effectors = [(body.skeleton.index(joint), _ROWS[way]) for joint, way in driver.effectors.items()]
        self.planted, self.stands_on = np.zeros((2, 7)), np.zeros(2, bool)
        self.main = np.array([-1])
        self.at, self.ratio = np.zeros(n, np.int8), np.zeros(n)
        self.torque, self.low, self.high, self.x = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
        self.left, self.missed, self.residual = 0, 0.0, 0.0
        self.fallen, self._is_told = np.zeros(1), False
        self.zmp = np.full(3, np.nan)
        self._rate = min(RATE, 1.0 / self._h)
        self._work = _Work(body, n, len(self.effectors))
        self._is_foot = np.zeros(len(body.tree), bool)
        self._is_foot[self.feet] = True
        for i in range(len(body.tree)):
            self._is_foot[i] |= i > 0 and bool(self._is_foot[body.tree.parents[i]])
        self.middles = self.corners.mean(axis=1)
        self.axes = np.array(["xyz".index(axis) for axis in driver.center], np.int64)

    def begin(self, body: Body, t: float, starting: bool) -> None:
        """At a start it is where the motion is, as fast as that."""
        for ghost in (self.ghost, self._work.ahead):
            ghost.state.q[:], ghost.state.root[:] = body.state.q, body.state.root
        self._pose_ghost(t)
        low = np.matmul(self.corners, self.ghost.R[self.feet].swapaxes(1, 2)) + self.ghost.p[self.feet][:, None]
        self._floor = float(low[..., 1].min())
        if starting:
            body.state.q[self.joints] = self.ghost.state.q[self.joints]
            body.state.w[self.joints] = self.ghost.state.w[self.joints]
            if self.guide.moves_root:
                body.state.q[0], body.state.w[0] = self.ghost.state.q[0], self.ghost.state.w[0]
                body.state.root[:], body.state.v[:] = self.ghost.state.root, self.ghost.state.v
        body.update()

    # The step.

    def act(self, body: Body, t: float) -> None:
        """See `TorquePlayer.act`."""
        from poise.body.muscle_kernels import fill_range, fill_state
        from poise.drivers.strength_kernels import want

        k, m, state = self._work, self.a, body.state
        fill_state(m.joints, m.letters, m.frames, m.ranges, state.q, state.w, k.angles, k.rates, k.axes)
        fill_range(m.curves, m.tables, m.numbers, k.angles, k.rates, self.low, self.high)
        self._pose_ghost(t)
        ghost = self.ghost.state
        want(
            state.q, state.w, ghost.q, ghost.w, k.ahead.state.w, body.dw, self._h, self._rate, self.driver.alpha,
            _MOST_TURN, self.joints, m.joints, k.axes, body.R, k.dw, k.wanted, k.e,
        )  # fmt: skip
        if self.fallen[0]:
            self._brake(body)
            return
        self._find_contacts(body)
        self._limit(body)
        if self._is_lost(body):
            self.fallen[0] = 1.0
            body.block["called"] = 1

    def _pose_ghost(self, t: float) -> None:
        """Have the ghost be where the motion is, and another where it is at the end of the step."""
        for ghost, at in ((self._work.ahead, t + self._h), (self.ghost, t)):
            self.guide.give(ghost, at)
            ghost.update()

    def _find_contacts(self, body: Body) -> None:
        """Where the world may push: soles on the ground, and whatever touched in the last step."""
        from poise.drivers.strength_kernels import find_soles, is_lifted, set_frame

        k, ghost, count, floor = self._work, self.ghost, 0, body.floor.record[0]
        k.make_room(8 + len(body.touches))
        for side, foot in enumerate(self.feet.tolist()):
            corners = self.corners[side]
            lifted = self.guide.moves_root and is_lifted(
                ghost.R[foot], ghost.p[foot], ghost.om[foot], ghost.v[foot], corners, self._floor + _LIFTED, _LIFT
            )
            count, down = find_soles(
                floor, body.R, body.p, foot, corners, _NEAR, lifted, count, k.points, k.frames, k.segments
            )
            stands = down >= 3 and not lifted
            if stands and not self.stands_on[side]:
                self.planted[side, :3], self.planted[side, 3:] = body.p[foot], body.world_turn(foot)
            self.stands_on[side] = stands
        touches = body.touches
        for row in np.flatnonzero(~self._is_foot[touches.joints]) if len(touches) else ():
            force = touches.forces[row]
            size = float(np.sqrt(force @ force))
            # what touches itself is there twice, and nothing to stand on
            if size > 0.0 and np.sum(np.all(touches.points == touches.points[row], axis=1)) < 2:
                k.points[count], k.segments[count] = touches.points[row], touches.joints[row]
                x, y, z = (force / size).tolist()
                set_frame(x, y, z, k.frames[count])
                count += 1
        k.count = count
        k.friction[:count] = max(body.friction, _LEAST_FRICTION)
        if not np.any(k.segments[:count] == self.main[0]):
            self.main[0] = _most_common(k.segments[:count])

    def _limit(self, body: Body) -> None:
        """Accelerations and torques within their range."""
        from poise.dynamics import limited_kernels as limited
        from poise.dynamics.supported_kernels import model_supports

        k, tree, m, n = self._work, body.tree, self.a, self.n
        self.x[:] = k.wanted
        k.edge[:] = 0.0
        length, c = max(float(body.character.height), 0.1), k.count
        stood = bool(self.stands_on.any())
        for turn in range(_ROUNDS):
            k.push[:] = 0.0  # of all ways to share a load the evenest, whatever was before
            self.left = model_supports(
                tree.parents, tree.masses, tree.centers, tree.inertias, body.R, body.p, body.om, body.state.w, k.dw,
                body.gravity, k.none, m.joints, k.e, int(self.main[0]), k.points[:c], k.frames[:c], k.friction[:c],
                k.segments[:c], self.x, length, stood and turn == 0, k.M, k.P, k.W, k.a0, k.push[:c], k.d, k.Y, k.y0,
                k.w0, k.H, k.b, k.al, k.acc,
            )  # fmt: skip
            if self.left < 0:
                self._brake(body)
                return
            rows = self._set_goals(body)
            floats, integers = k.room(limited.count_floats(n, rows), limited.count_integers(n, rows))
            k.before[:] = self.x
            limited.limit(
                k.H, k.b, self.low, self.high, k.wanted, k.weights, k.A[:rows], k.y[:rows], k.level[:rows],
                _DAMPING * length, floats, integers, self.x, self.torque, self.at, k.residual[:rows],
            )  # fmt: skip
            if turn and np.abs(self.x - k.before).max(initial=0.0) <= _ALIKE * (1.0 + np.abs(self.x).max(initial=0.0)):
                break
        if not np.abs(self.x).max(initial=0.0) < _MOST_FOUND:
            self._brake(body)  # no such support carries it
            return
        self.residual = float(np.abs(k.residual[:rows][k.level[:rows] > 1]).max(initial=0.0))
        self._apply(body)

    def _set_goals(self, body: Body) -> int:
        """Write what comes before the joints' own tracking; how many rows that is."""
        from poise.drivers.strength_kernels import lead_center, lead_point, outline_of, press_inside

        if self.left:
            return 0  # who tips over only follows with his joints
        k, ghost, rate, alpha, rows = self._work, self.ghost, self._rate, self.driver.alpha, 0
        size, height = outline_of(k.points, k.count, _INSIDE, k.hull) if k.count else (0, 0.0)
        if size >= 3 and press_inside(
            k.w0, k.W, self.x, body.p[0], k.hull, size, height, body.tree.mass, k.edge, k.A, k.y
        ):  # fmt: skip
            k.level[:2], rows = 0, 2
        model = (
            body.tree.parents, body.p, body.om, body.v, self.a.joints, k.e, k.P, k.Y, k.y0, k.al, k.acc,
        )  # fmt: skip
        for side, foot in enumerate(self.feet.tolist()):
            if self.stands_on[side] and foot != self.main[0]:
                planted, turn = self.planted[side, :3], self.planted[side, 3:]
                at = body.p[foot] + body.R[foot] @ self.middles[side]
                place = planted + rotation.rotate(turn, self.middles[side])
                lead_point(
                    model[0], body.world_turn(foot), *model[1:], foot, at, place, turn, k.still, k.still, rate, alpha,
                    k.A[rows : rows + 6], k.y[rows : rows + 6],
                )  # fmt: skip
                k.level[rows : rows + 6], rows = 1, rows + 6
        shift = self._find_shift(body)
        if len(self.axes):
            end = rows + len(self.axes)
            lead_center(
                body.c, body.dc, ghost.c + shift, ghost.dc, (k.ahead.dc - ghost.dc) / self._h, rate, alpha,
                body.gravity, k.hull, size, height, body.tree.mass, self.axes, k.w0, k.W, k.A[rows:end], k.y[rows:end],
            )  # fmt: skip
            k.level[rows:end], rows = 2, end
        for joint, which in self.effectors:
            speed = np.concatenate([ghost.v[joint], ghost.om[joint]])
            going = (np.concatenate([k.ahead.v[joint], k.ahead.om[joint]]) - speed) / self._h
            A, y = np.zeros((6, self.n)), np.zeros(6)
            lead_point(
                model[0], body.world_turn(joint), *model[1:], joint, body.p[joint], ghost.p[joint] + shift,
                ghost.world_turn(joint), speed, going, rate, alpha, A, y,
            )  # fmt: skip
            end = rows + len(y[which])
            k.A[rows:end], k.y[rows:end], k.level[rows:end], rows = A[which], y[which], 3, end
        return rows

    def _find_shift(self, body: Body) -> np.ndarray:
        """(3,) m, from where the motion stands to where the body does."""
        main = int(self.main[0])
        if main < 0:
            return np.zeros(3)
        return np.asarray((body.p[main] - self.ghost.p[main]) * [1.0, 0.0, 1.0])

    def _apply(self, body: Body) -> None:
        """Torques of the accelerations that were found."""
        from poise.drivers.strength_kernels import within
        from poise.dynamics.supported_kernels import find_torque_vectors

        k, tree, m, c = self._work, body.tree, self.a, self._work.count
        np.add.at(k.dw, m.joints, self.x[:, None] * k.axes)
        root = k.a0 + k.P @ self.x + k.y0 + k.Y @ self.x
        find_torque_vectors(
            tree.parents, tree.masses, tree.centers, tree.inertias, body.R, body.p, body.om, body.state.w, k.dw,
            body.gravity, k.none, root, k.points[:c], k.frames[:c], k.segments[:c], k.push[:c], k.load, k.vectors,
        )  # fmt: skip
        within(k.vectors, m.joints, k.e, self.low, self.high, self.torque, self.ratio)
        body.torque[self.joints] += k.vectors[self.joints]
        lift = k.load[1]
        self.zmp[:] = np.nan
        if lift > 0.0 and c:
            # where the moment has no part along the ground   [strength, eq 3]
            height, f = float(k.points[:c, 1].mean()), k.load[:3]
            moment = k.load[3:] + np.cross(body.p[0], f)
            self.zmp[:] = (moment[2] + height * f[0]) / lift, height, (height * f[2] - moment[0]) / lift
        self._choose_main()

    def _choose_main(self) -> None:
        """Hang from what carries most; another one only where that carries clearly more."""
        k, c = self._work, self._work.count
        segments, push = k.segments[:c], k.push[:c, 0]
        loads = {s: float(push[segments == s].sum()) for s in set(segments.tolist())}
        if not loads:
            self.main[0] = -1
            return
        best = max(loads, key=lambda s: loads[s])
        if loads.get(int(self.main[0]), 0.0) < 0.5 * loads[best]:
            self.main[0] = best

    def _brake(self, body: Body) -> None:
        """Only slow joints down, by a share of the strength."""
        from poise.drivers.strength_kernels import within
        from poise.dynamics.supported_kernels import compose, fill_inertia

        k, tree, j = self._work, body.tree, len(body.tree)
        mass, center, inertia = np.empty(j), np.empty((j, 3)), np.empty((j, 3, 3))
        compose(tree.parents, tree.masses, tree.centers, tree.inertias, body.R, body.p, mass, center, inertia)
        fill_inertia(tree.parents, body.p, mass, center, inertia, self.a.joints, k.e, k.M, k.W, k.H)
        self.x[:] = -k.rates / max(_BRAKE, 2.0 * self._h)
        k.vectors[:] = 0.0
        np.add.at(k.vectors, self.a.joints, (k.H @ self.x)[:, None] * k.e)
        within(k.vectors, self.a.joints, k.e, _TONE * self.low, _TONE * self.high, self.torque, np.zeros(self.n))
        bound = np.where(self.torque > 0.0, self.high, -self.low)
        np.maximum(self.ratio, np.abs(self.torque) / np.maximum(bound, 1e-9), out=self.ratio)
        self.at[:], self.zmp[:] = 0, np.nan
        body.torque[self.joints] += k.vectors[self.joints]

    def _is_lost(self, body: Body) -> bool:
        """Whether it lies, or leans so far that nothing helps."""
        main = int(self.main[0])
        if self.left == 0 or main < 0:
            return False
        k = self._work
        up = body.c - k.points[: k.count].mean(axis=0) if k.count else np.array([0.0, 1.0, 0.0])
        lean = float(up[1] / max(np.linalg.norm(up), 1e-9))
        asked = self.ghost.c - self.ghost.p[self.feet].mean(axis=0)
        return lean < _LOST * float(asked[1] / max(np.linalg.norm(asked), 1e-9))

    # What a stage asks.

    def answer(self, body: Body, t: float) -> bool:
        """See `Player.answer`: who has just fallen is built anew."""
        is_new = bool(self.fallen[0]) and not self._is_told
        self._is_told = self._is_told or is_new
        return is_new

    def prefers(self, body: Body, falling: bool) -> dict[int, Joint]:
        """See `Player.prefers`: what falls turns about no axis that it has not."""
        if not self.fallen[0]:
            return {}
        return Loose(stiffness=0.0).play(body, self.joints, 0.0).prefers(body, True)

    @property
    def has_lost_balance(self) -> bool:
        """See `Player.has_lost_balance`."""
        return bool(self.fallen[0])

    def find_support(self, body: Body) -> Support | None:
        """See `Player.find_support`."""
        soles = body.p[self.feet][:, None] + np.matmul(self.corners, body.R[self.feet].swapaxes(1, 2))
        points = self._work.points[: self._work.count]
        if len(points) < 3:
            return None
        return Support(soles, find_outline(points).find_margin(float(body.c[0]), float(body.c[2])))

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {
            "planted": self.planted, "stands_on": self.stands_on, "main": self.main, "fallen": self.fallen,
            "ratio": self.ratio, "zmp": self.zmp,
        }  # fmt: skip

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        return {**super().save(), "guide": self.guide.save()}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        write_over(self.numbers(), {name: saved[name] for name in self.numbers()})
        self.guide.restore(saved["guide"])
        self._is_told = bool(self.fallen[0])


class _Work:
    """Arrays that a step writes to; the letters are those of `dynamics/supported_kernels.py`."""

    def __init__(self, body: Body, n: int, effectors: int):
        joints, most = len(body.tree), 2 + 12 + 3 + 6 * effectors
        self.ahead = Body(body.character)
        self.angles, self.rates, self.axes, self.e = np.zeros(n), np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3))
        self.wanted, self.before, self.weights = np.zeros(n), np.zeros(n), np.ones(n)
        self.dw, self.vectors, self.load = np.zeros((joints, 3)), np.zeros((joints, 3)), np.zeros(6)
        self.M, self.P, self.W, self.a0 = np.zeros((6, 6)), np.zeros((6, n)), np.zeros((6, n)), np.zeros(6)
        self.d, self.Y, self.y0, self.w0 = np.zeros(6), np.zeros((6, n)), np.zeros(6), np.zeros(6)
        self.H, self.b, self.al, self.acc = np.zeros((n, n)), np.zeros(n), np.zeros((joints, 3)), np.zeros((joints, 3))
        self.A, self.y, self.level = np.zeros((most, n)), np.zeros(most), np.zeros(most, np.int64)
        self.residual, self.edge, self.still, self.none = (
            np.zeros(most),
            np.zeros(3),
            np.zeros(6),
            np.zeros((joints, 6)),
        )
        self._floats, self._integers = np.zeros(0), np.zeros(0, np.int64)
        self.count = 0
        self.points = np.zeros((0, 3))
        self.make_room(16)

    def make_room(self, count: int) -> None:
        """For so many points that the world may push."""
        if len(self.points) < count:
            self.points, self.frames, self.push = np.zeros((count, 3)), np.zeros((count, 3, 3)), np.zeros((count, 3))
            self.friction, self.segments = np.zeros(count), np.zeros(count, np.int64)
            self.hull = np.zeros((count + 1, 2))

    def room(self, floats: int, integers: int) -> tuple[np.ndarray, np.ndarray]:
        """Flat arrays of these lengths."""
        if len(self._floats) != floats:
            self._floats, self._integers = np.zeros(floats), np.zeros(integers, np.int64)
        return self._floats, self._integers


def _most_common(segments: np.ndarray) -> int:
    return -1 if not len(segments) else int(np.bincount(segments).argmax())
