"""A puppet that is drawn up from the floor by its strings.   [marionette, 9: physics for some of the time]

One string holds the hips. It has them on a way that begins where they are and as fast as they are, and ends where they
would stand: upright over the spot where they lay, heading as they lie. Everything else is in physics, in a scene of the
puppet's own: the trunk, the head and the arms hang from the hips by springs, the ground and the body itself are in the
way, and legs are pulled under the hips.

    hips      y = y1 + (y0 - y1) (1 - E((t - a) / b)) + v0 T D(t / T)                                       [rise, 1]
    springs   k = s(t) m g l, towards an aim (`drivers/loose/loose.py`); s grows from LIMP to how firm each joint is
    [rise, 2]
    legs      aim so that each ankle is under its hip, on the ground, or ahead of it while that is too near [rise, 3]

E eases from 0 to 1, D dies away from slope 1; a and b are another part of the whole time for the place than for the
turn. Who lies on his back sits up before he rises, who lies on his front is lifted before he straightens.

Limbs do not feel how the hips speed up: no more than 3 m/s2 of who lies, beside gravity's 9.81.

A puppet that is taken back from the floor: drawn up (`get_up.py`), and then in its strings without a jump.

Frames are numbered as the player's are. Number 0 is the body as it was taken back; the one before it goes on from there
with the velocity that it had, backwards. When it is up, strings take hold of it as it is, and what they have it do
otherwise dies away (`drivers/transition/transition.py`).
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np

from poise.body.geometry.soles import find_soles
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.joint_limits.limit_torques import LimitTorques
from poise.drivers.loose.loose import Loose, LoosePlayer
from poise.drivers.transition.transition import Transition
from poise.engines.engine import BodyState
from poise.engines.memory import write_over
from poise.engines.penalty import build_simulation
from poise.engines.registry import get_engine
from poise.engines.scene import BALL, GIVEN, Joint, Scene, SceneBody
from poise.ik.two_bone import correct_two_bone
from poise.motion.samples.tracks import stand_pose
from poise.spatial import rotation
from poise.world.overlap import build_lines, find_deep, find_neighbours, find_shapes

# Of the hips' height as it stands; rad; m/s: beyond, it is drawn up. m/s of who was let go a moment ago.
LOW, LEANS, DROPS, _SINKS = 0.75, math.radians(40.0), 0.8, 0.01
_LIMP = 0.1  # how firm all joints are as it begins
# How firm they are in the end, in the words of `drivers/loose/loose.py`: what they carry is held a radian too low by 1.
_FIRM = {"UpperLeg": 5.0, "LowerLeg": 5.0, "Foot": 8.0, "Toes": 8.0}
_TRUNK, _ARMS, _DAMPING = 12.0, 0.4, 0.8
_SLUGGISH, _FEET = 0.3, 5.0  # how firm a joint is damped as at least; how often as much the light feet are
_LEAST, _BY_HEIGHT, _BY_TURN, _LONGEST = 0.5, 0.8, 0.35, 1.9  # s; s for all of the height; s a rad; s
# s, that the hips are held in the end; rad/s of legs that rest; s more for that at most
_STILL, _RESTS, _PATIENCE = 0.1, 0.3, 0.5
_CATCHES = 0.3  # s, in which the speed that it had dies away
_GIVES = 0.999  # of the height as it stands, so that knees are not quite straight
_FOLDED = 0.4  # of a leg's length, that an ankle is from the hip at least
_BOWS = 0.35  # rad, that the pelvis is tilted ahead on the way
# m, that the pelvis is over the ground; s, before and after which it is raised for that; s, that this is smoothed over
_ROOM, _BEFORE, _BLUR = 0.004, 0.3, 0.03
_SLIDES = 0.1  # friction: who hangs from strings does not stick to the ground
_PARTS = 2  # steps of physics a frame
_UP, _AHEAD = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])


class GetUp:
    """One body on its way up, in a scene of its own.

    body    where it is;  time: s since it began;  span: s that it takes
    """

    def __init__(self, like: Body, frame: float):
        character, self.frame = like.character, frame
        self.body = body = Body(character)
        body.dt, body.gravity, body.floor = frame / _PARTS, like.gravity, copy.copy(like.floor)
        body.friction = like.friction
        self.time, self.span, self.clock = 0.0, 0.0, 0.0
        self._lift: np.ndarray | None = None
        skeleton = character.skeleton
        self.hips = skeleton.index("hips")
        self._chain, self._ends = skeleton.chain(self.hips), self._find_ends()
        self._legs = [[skeleton.index(side + stem) for stem in ("UpperLeg", "LowerLeg", "Foot")] for side in SIDES]
        rest = skeleton.rest_positions()
        self._bones = [(rest[b] - rest[a], rest[c] - rest[b]) for a, b, c in self._legs]
        self._soles = find_soles(skeleton)
        limits = [character.limits.get(skeleton.names[b]) for _, b, _ in self._legs]
        self._axes = [
            np.eye(3)[0] if each is None else rotation.rotate(rotation.conjugate(each.parent_zero), np.eye(3)[0])
            for each in limits
        ]
        self.set_stand(stand_pose(skeleton).rotations)

    def set_stand(self, rotations: np.ndarray) -> None:
        """Have it be on the way to a pose, rotations (J, 4); the root's is left out."""
        skeleton, self.stand = self.body.skeleton, rotations.copy()
        self.stand[0] = rotation.identity()
        there, self._standing = skeleton.pose(np.zeros(3), self.stand)
        lowest = min(
            float((there[joint] + rotation.rotate(self._standing[joint], point))[1])
            for sole in self._soles
            for joint, point in ((sole.foot, sole.heel), (sole.foot if sole.toes is None else sole.toes, sole.ball))
        )
        self.height = (float(there[self.hips, 1]) - lowest) * _GIVES
        self._sides = [there[c] - there[self.hips] for _, _, c in self._legs]

    def _find_ends(self) -> list[int]:
        """Hands with their fingers, and toes: so light that whatever touches them would throw them about."""
        skeleton = self.body.skeleton
        hands = [i for side in SIDES if (i := skeleton.find_role(f"{side}Hand")) is not None]
        found = {i for hand in hands for i in skeleton.descendants(hand)}
        for side in SIDES:
            foot = skeleton.index(f"{side}Foot")
            found |= {i for i in skeleton.descendants(foot) if i != foot}
        return sorted(found)

    def is_needed(self, body: Body) -> bool:
        """Whether a body, up to date, is too far from where it would stand for its legs to carry it there.

        Or on the way to the floor: it sinks, and nobody keeps it up.
        """
        hips = self.hips
        floor = body.floor.find(float(body.p[hips, 0]), float(body.p[hips, 2]), float(body.p[hips, 1]))[0]
        upright = float(body.R[hips, 1, 1])
        low = body.p[hips, 1] - floor < LOW * self.height
        held = body.root_is_given or body.stands
        sinks = body.v[hips, 1] < -(DROPS if held else _SINKS)
        return bool(low or upright < math.cos(LEANS) or sinks)

    # It begins.

    def begin(self, state: BodyState, t: float, stand: np.ndarray) -> None:
        """Be in a state at time t (s), and on the way up from there to a pose, rotations (J, 4)."""
        self.set_stand(stand)
        self.body.put(state)
        self.time, self.clock = 0.0, t
        self._built = state.copy()
        self._plan()
        self._build(t)

    def _plan(self) -> None:
        """Where the hips go."""
        body, hips = self.body, self.hips
        body.update()
        self._from, self._speed, self._spin = body.p[hips].copy(), body.v[hips].copy(), body.om[hips].copy()
        turn = body.world_turn(hips)
        self.heading = 2.0 * math.atan2(float(turn[2]), float(turn[0]))  # the nearest that is upright
        level = rotation.exp(self.heading * _UP)
        self._upright = level
        # q = upright exp(e)
        self._turn = rotation.log(rotation.multiply(rotation.conjugate(level), turn))
        end = self._from + 0.5 * _CATCHES * self._speed * (1.0, 0.0, 1.0)
        spots = end + np.array([rotation.rotate(level, side) for side in self._sides])
        spots = np.concatenate([spots, spots + 0.1 * rotation.rotate(level, _AHEAD)])
        ground = float(body.floor.find_heights(spots[:, 0], spots[:, 2], float(end[1]) + 0.3).max())
        end[1] = ground + self.height
        self._to, self._ground = end, ground
        up, angle = abs(end[1] - self._from[1]) / self.height, float(np.linalg.norm(self._turn))
        self._way = min(max(_LEAST + _BY_HEIGHT * up + _BY_TURN * angle, 1.0), _LONGEST)
        self.span = self._way + _STILL
        # 1: on his back, 0: on his front
        back = 0.5 + 0.5 * float(np.clip(body.R[hips, 1, 2] / 0.7, -1.0, 1.0))
        self._lifts = (0.08 * back, 0.75 + 0.25 * back)
        self._turns = (0.15 * (1.0 - back), 1.0 - 0.3 * back)
        shapes = find_shapes(body.character, True, True)
        self._pelvis = [_list_points(shape) for joint, shape in shapes if joint == hips]
        self._start, self._start_w = body.state.q.copy(), body.state.w.copy()
        self._keep_clear()

    def _keep_clear(self) -> None:
        """Raise the way of the hips where the pelvis would be in the ground on it: smoothly, and from before."""
        self._lift = None
        self._times = np.arange(0.0, self._way + 0.5 * self.frame, 0.5 * self.frame)
        over = np.array([self._find_room(*self.find_hips(t)) for t in self._times])
        short = np.maximum(min(over[0], _ROOM) - over, 0.0)
        apart = self._times[:, None] - self._times[None, :]
        lift = np.max(short[None, :] * np.maximum(1.0 - (apart / _BEFORE) ** 2, 0.0) ** 2, axis=1)
        smooth = np.exp(-0.5 * (apart / _BLUR) ** 2)
        u = np.clip(self._times / _BEFORE, 0.0, 1.0)
        self._lift = u**3 * (10.0 - 15.0 * u + 6.0 * u * u) * (smooth @ lift) / smooth.sum(axis=1)

    def _find_room(self, place: np.ndarray, turn: np.ndarray) -> float:
        """m, of the lowest point of the pelvis over the ground."""
        R, floor = rotation.to_matrix(turn), self.body.floor
        lowest = min((float((points @ R.T)[:, 1].min()) - r for points, r in self._pelvis), default=0.0)
        return float(place[1]) + lowest - floor.find(float(place[0]), float(place[2]), float(place[1]) + 0.1)[0]

    def _build(self, t: float) -> None:
        """What an engine moves."""
        body, character = self.body, self.body.character
        count = len(character.skeleton)
        given = {*self._chain, *self._ends}
        loose = [i for i in range(count) if i not in given]
        self.springs: LoosePlayer = Loose(1.0, _DAMPING).build(body, np.array(loose, np.int64), t)
        self.springs.offset[:], self.springs.lead[:] = 0.0, 0.0
        self.springs.block.set(**self.springs.numbers())
        kinds = self.springs.model(body, falling=True).joints
        joints = tuple(Joint(GIVEN) if i in given else kinds.get(i, Joint(BALL)) for i in range(count))
        shapes, state = find_shapes(character, True, True), body.state
        touching = {joint for joint, _ in shapes}
        body.update()
        lines = build_lines(shapes).placed(body.R, body.p)
        pairs = {pair for pair in find_deep(lines, lines) if pair[0] < pair[1]}
        pairs |= {pair for pair in find_neighbours(character) if set(pair) <= touching}
        ground = None if body.floor.ground is None else replace(body.floor.ground, friction=_SLIDES)
        scene = Scene(
            (SceneBody(
                "puppet", body.tree, joints, state.root.copy(), state.q.copy(), state.v.copy(), state.w.copy(),
                shapes, is_hard=True,
            ),),
            tuple(prop for prop in body.floor.props if prop.inertia is None), ground, body.dt, body.gravity,
            t, meets=np.ones((1, 1), bool), apart=tuple(((0, a), (0, b)) for a, b in sorted(pairs)),
        )  # fmt: skip
        self.engine = get_engine("mujoco")
        self.limits = LimitTorques(body)
        self.limits.begin(joints, not self.engine.abilities.axial)
        self.simulation = build_simulation(self.engine, scene)
        self._soft = self.springs.stiffness.copy()
        feet = [self._legs[side][2] for side in range(2)]
        self._give = self.springs.damping * np.where(np.isin(loose, feet), _FEET, 1.0)
        self._firm = np.array([self._find_firmness(i) for i in loose])
        self._aims = self.stand[loose].copy()
        self._begun = state.q[loose].copy()
        self._loose = {joint: k for k, joint in enumerate(loose)}

    def _find_firmness(self, joint: int) -> float:
        skeleton = self.body.skeleton
        label = skeleton.labels[joint]
        for stem, firm in _FIRM.items():
            if label.endswith(stem):
                return firm
        arms = [skeleton.find_role(f"{side}{stem}") for side in SIDES for stem in ("Shoulder", "UpperArm")]
        return _ARMS if any(i in skeleton.chain(joint) for i in arms if i is not None) else _TRUNK

    # It goes on.

    @property
    def is_over(self) -> bool:
        """Whether it is where it would stand, at rest, or has had time enough for that."""
        if self.time < self.span - 1e-9:
            return False
        legs = [i for leg in self._legs for i in leg]
        fastest = float(np.abs(self.body.state.w[legs]).max())
        return fastest < _RESTS or self.time >= self.span + _PATIENCE

    def step(self) -> None:
        """Go on by a frame."""
        self._aim()
        # ends and middles of the steps in it, and what is beside them
        way = [self._find_root(self.time + k * 0.5 * self.body.dt) for k in range(-1, 2 * _PARTS + 2)]
        for part in range(_PARTS):
            self._step(way[2 * part : 2 * part + 5])
        self.body.update()

    def _step(self, way: list[tuple[np.ndarray, np.ndarray]]) -> None:
        body = self.body
        self._place(way[1:4])
        body.update()
        body.torque[:], body.damping[:], body.wrench[:] = 0.0, 0.0, 0.0
        body.block["t"] = self.clock + self.time
        self.springs.write(body, self.clock + self.time)
        self.limits.law(body.block, self.limits.block)
        self.simulation.place(0, body.state)
        self.simulation.apply(0, body.torque, body.damping, body.wrench, body.axial)
        self.simulation.speed(0, body.state, body.dw, body.a)
        self.simulation.step()
        self.simulation.read(0, body.state)
        self.time += body.dt
        self._place(way[2:5])

    def _ease(self, t: float, window: tuple[float, float]) -> float:
        u = min(max((t / self._way - window[0]) / (window[1] - window[0]), 0.0), 1.0)
        return u**3 * (10.0 - 15.0 * u + 6.0 * u * u)

    def find_hips(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Place (3,) m and orientation (4,) of the hips, t seconds after it began."""
        from poise.motion.playback.part_kernels import die_away

        lifted, turned = self._ease(t, self._lifts), self._ease(t, self._turns)
        run = _CATCHES * die_away(t / _CATCHES)[1]
        # y = y1 + (y0 - y1) (1 - E) + v0 T D   [rise, 1]
        place = self._to + (self._from - self._to) * (1.0 - lifted) + run * self._speed
        bow = _BOWS * 16.0 * (turned * (1.0 - turned)) ** 2 * float(np.linalg.norm(self._turn)) / (0.5 * math.pi)
        q = rotation.multiply(self._upright, rotation.exp(np.array([bow, 0.0, 0.0])))
        q = rotation.multiply(
            rotation.exp(run * self._spin), rotation.multiply(q, rotation.exp((1.0 - turned) * self._turn))
        )
        if self._lift is not None:
            place[1] += np.interp(t, self._times, self._lift)
        return place, q

    def _place(self, way: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Put the hips where they are in the middle of three times, half a step apart, with their rates."""
        h, body, state = 0.5 * self.body.dt, self.body, self.body.state
        (before, first), (place, turn), (after, last) = way
        state.root[:], state.v[:] = place, (after - before) / (2.0 * h)
        body.a[:] = (after - 2.0 * place + before) / h**2
        back, on = (rotation.log(rotation.multiply(rotation.conjugate(turn), each)) for each in (first, last))
        at = [*self._chain, *self._ends]
        state.q[at], state.w[at], body.dw[at] = turn, (on - back) / (2.0 * h), (on + back) / h**2

    def _find_root(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Place (3,) of the root, and rotations of all that is given: from there to the hips, and of light ends."""
        from poise.motion.playback.part_kernels import die_away

        place, turn = self.find_hips(t)
        eased, run = self._ease(t, (0.0, 0.7)), _CATCHES * die_away(t / _CATCHES)[1]
        at = [*self._chain[1:], *self._ends]
        went = rotation.multiply(self._start[at], rotation.exp(run * self._start_w[at]))
        rest = _between(went, self.stand[at], eased)
        own = list(rest[: len(self._chain) - 1])
        world, arm = turn, np.zeros(3)
        for joint, q in zip(reversed(self._chain[1:]), reversed(own), strict=True):
            world = rotation.multiply(world, rotation.conjugate(q))
            arm = arm + rotation.rotate(world, self.body.skeleton.offsets[joint])
        return place - arm, np.concatenate([world[None], rest])

    def _aim(self) -> None:
        """How firm the springs are now, and where they aim."""
        share, eased = self._ease(self.time, (0.0, 0.7)), self._ease(self.time, (0.0, 0.5))
        firm = _LIMP + (self._firm - _LIMP) * share
        self.springs.stiffness[:] = firm * self._soft  # k = s(t) m g l   [rise, 2]
        self.springs.damping[:] = self._give * np.sqrt(np.maximum(firm, _SLUGGISH))
        self.springs.aim[:] = _between(self._begun, self._aims, eased)
        for side in range(2):
            self._aim_leg(side, eased)

    def _aim_leg(self, side: int, share: float) -> None:
        """Have a leg aim at the ground under the hip."""
        body, legs = self.body, self._legs[side]
        upper, lower, foot = legs
        hip, size = body.p[upper], sum(float(np.linalg.norm(bone)) for bone in self._bones[side])
        level = self._upright
        aside = rotation.rotate(level, self._sides[side] * (1.0, 0.0, 1.0))
        spot = body.p[self.hips] + aside
        floor = body.floor.find(float(spot[0]), float(spot[2]), float(body.p[self.hips, 1]))[0]
        spot[1] = floor - float(self._soles[side].heel[1])
        way = spot - hip
        near = _FOLDED * size
        if np.linalg.norm(way) < near:
            room = near**2 - float(way[1]) ** 2
            way = way + math.sqrt(max(room, 0.0)) * rotation.rotate(level, _AHEAD)  # [rise, 3]
        worlds = [rotation.multiply(level, self._standing[i]) for i in legs]
        hinge = rotation.rotate(worlds[0], self._axes[side])
        found = correct_two_bone(worlds[0][None], worlds[1][None], *self._bones[side], way[None], hinge[None])
        wanted = {upper: found.upper[0], lower: found.lower[0], foot: worlds[2]}
        above = body.world_turn(int(body.skeleton.parents[upper]))
        for joint in legs:
            q = rotation.multiply(rotation.conjugate(above), wanted[joint])
            limits = body.character.limits.get(body.skeleton.names[joint])
            q = q if limits is None else limits.clamp(q)
            self.springs.aim[self._loose[joint]] = _between(self._begun[self._loose[joint]], q, share)
            above = wanted[joint]

    # Its state.

    def save(self) -> dict[str, Any]:
        """All of it, as plain data."""
        state, built = self.body.state, self._built
        names = ("root", "q", "v", "w")
        return {
            "built": {name: getattr(built, name).copy() for name in names},
            "state": {name: getattr(state, name).copy() for name in names},
            "stand": self.stand.copy(), "times": [self.time, self.clock], "simulation": self.simulation.save(),
            "limits": self.limits.save(),
        }  # fmt: skip

    def restore(self, saved: dict[str, Any]) -> None:
        """Be again what was saved."""
        names = ("root", "q", "v", "w")
        self.begin(
            BodyState(*(np.array(saved["built"][name]) for name in names)), saved["times"][1], np.array(saved["stand"])
        )
        self.time = saved["times"][0]
        write_over({name: getattr(self.body.state, name) for name in names}, saved["state"])
        self.simulation.restore(saved["simulation"])
        self.limits.restore(saved["limits"])
        self.body.update()


def _between(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    """(4,) a share of the way from one rotation to another."""
    return np.asarray(
        rotation.multiply(a, rotation.exp(share * rotation.log(rotation.multiply(rotation.conjugate(a), b))))
    )


def _list_points(shape: Any) -> tuple[np.ndarray, float]:
    """A shape as the hull of points, and how thick that is."""
    if hasattr(shape, "corners"):
        return np.asarray(shape.corners), 0.0
    if hasattr(shape, "end"):
        return np.stack([shape.start, shape.end]), float(shape.radius)
    return np.asarray(shape.center)[None], float(shape.radius)


_STATE = ("root", "q", "v", "w")


class GetUpBlend:
    """From the floor into the strings.

    rise   the way up;  is_up: whether it is at its end, and strings have it
    """

    def __init__(self, rise: GetUp):
        self.rise, self.is_up = rise, False
        self._met: tuple[BodyState, float, float] | None = None  # as strings have it when it is up; when; s they take
        self._over: Transition | None = None

    @classmethod
    def find(cls, body: Body, like: Body, frame: float) -> GetUpBlend | None:
        """How a body, up to date, is drawn up, on a floor like another's; None: its legs are under it."""
        rise = GetUp(like, frame)
        return cls(rise) if rise.is_needed(body) else None

    @property
    def body(self) -> Body:
        """Where it is."""
        return self.rise.body

    @property
    def is_over(self) -> bool:
        """Whether nothing is left of how it was drawn up."""
        return self._over is not None and float(self.body.block["at"]) > float(np.sum(self._over.span))

    def begin(self, state: BodyState, t: float, stand: np.ndarray) -> None:
        """Be in a state at time t (s), on the way to a pose, rotations (J, 4)."""
        self.rise.begin(state, t, stand)

    def step(self, number: int) -> BodyState:
        """The state in a frame."""
        if number > 0:
            self.rise.step()
            self.is_up = self.rise.is_over
        if number >= 0:
            return self.body.state
        now, back = self.body.state, -self.rise.frame
        return BodyState(now.root + back * now.v, rotation.multiply(now.q, rotation.exp(back * now.w)), now.v, now.w)

    def meet(self, strings: BodyState, joints: np.ndarray, t: float, span: float) -> None:
        """Strings have it in a state in the frame of time t; they take so many seconds or some more."""
        self._over = Transition(self.body.arena, joints, t, moves_root=True)
        self._met = strings.copy(), t, span

    def follow(self, strings: BodyState, t: float) -> BodyState:
        """The state in a frame in which strings have it in another."""
        assert self._over is not None
        if self._met is not None:
            self._measure(strings, t)
        self.body.put(strings)
        self._over.add(self.body, t)
        return self.body.state

    def _measure(self, strings: BodyState, t: float) -> None:
        """Find what is left of how it was drawn up, with how fast strings move it from one frame to the next."""
        assert self._over is not None and self._met is not None
        (first, begun, span), at = self._met, self._over.joints
        dt, none = t - begun, np.zeros((len(at), 3))
        w = rotation.log(rotation.multiply(rotation.conjugate(first.q[at]), strings.q[at])) / dt
        v = (strings.root - first.root) / dt
        self._over.measure(self.body, first.q[at], w, none, first.root, v, np.zeros(3), begun, span)
        self._met = None

    # Its state.

    def save(self) -> dict[str, Any]:
        """All of it, as plain data."""
        over = None if self._over is None else {name: array.copy() for name, array in self._over.numbers().items()}
        met = None
        if self._met is not None:
            met = {"times": list(self._met[1:]), **{name: getattr(self._met[0], name).copy() for name in _STATE}}
        return {"rise": self.rise.save(), "is_up": self.is_up, "over": over, "met": met}

    @classmethod
    def load(cls, saved: dict[str, Any], like: Body, frame: float, joints: np.ndarray) -> GetUpBlend:
        """What was saved."""
        found = cls(GetUp(like, frame))
        found.rise.restore(saved["rise"])
        found.is_up = bool(saved["is_up"])
        if saved["over"] is not None:
            found._over = Transition(found.body.arena, joints, moves_root=True)
            for name, array in found._over.numbers().items():
                array[...] = saved["over"][name]
        if saved["met"] is not None:
            state = BodyState(*(np.array(saved["met"][name]) for name in _STATE))
            found._met = (state, *map(float, saved["met"]["times"]))  # type: ignore[assignment]
        return found
