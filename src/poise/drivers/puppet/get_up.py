"""A puppet gets up from the floor, lifted by its strings.   [marionette, 9: physics for some of the time]

One string holds the hips. It moves them on a path that begins at their position and velocity and ends where they
would stand: upright over the spot where they lay, with the heading that they have there. Everything else is simulated
in a separate scene: springs hang the trunk, the head and the arms from the hips, with contacts with the ground and the
body itself, and pull the legs under the hips.

    hips      y = y1 + (y0 - y1) (1 - E((t - a) / b)) + v0 T D(t / T)                                       [rise, 1]
    springs   k = s(t) m g l, towards a target (`drivers/loose/loose.py`); s grows from _LIMP to the joint's  [rise, 2]
    legs      targets: each ankle under its hip on the ground, or ahead of it while that is too near        [rise, 3]

E eases from 0 to 1, D decays from slope 1; a and b are different fractions of the whole time for position and
orientation. A puppet on its back sits up before it rises, one on its front is lifted before it straightens.

Limbs are not affected by the hips' acceleration: at most 3 m/s2 for a lying puppet, compared with gravity's 9.81.

`GetUpBlend` then hands the puppet to its strings without a jump. Frames are numbered as the player's are. Number 0 is
the body as it was taken over; the one before it is extrapolated backwards with its velocity. When the puppet is up,
strings take it over as it is, and the difference to their pose decays (`drivers/transition/transition.py`).
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from poise.body.geometry.soles import find_soles
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.joint_limits.limit_torques import LimitTorques
from poise.drivers.loose.loose import Loose, LoosePlayer
from poise.drivers.stateful import Stateful
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

# A puppet is lifted if its hips are lower (of their standing height) or lean more (rad) than that, or sink faster
# (m/s): with _SINKS if nothing holds it up, since it was released a moment ago.
LOW, LEANS, DROPS, _SINKS = 0.75, math.radians(40.0), 0.8, 0.01
# Firmness of joints, as in `drivers/loose/loose.py`: with 1, a joint's load is held a radian too low.
_LIMP = 0.1  # of all joints at the beginning
_FIRM = {"UpperLeg": 5.0, "LowerLeg": 5.0, "Foot": 8.0, "Toes": 8.0}  # at the end
_TRUNK, _ARMS, _DAMPING = 12.0, 0.4, 0.8
_LEAST_DAMPED, _FEET = 0.3, 5.0  # smallest firmness that damping follows; factor of damping of the light feet
# Duration of the hips' path: s, s for the whole height, s per rad; the limits are for a puppet that lies.
_LEAST, _BY_HEIGHT, _BY_TURN, _SHORTEST, _LONGEST = 0.5, 0.8, 0.35, 1.0, 1.9
# s, that the hips are held at the end; rad/s of legs at rest; s more at most, until they rest
_STILL, _RESTS, _PATIENCE = 0.1, 0.3, 0.5
_CATCH = 0.3  # s, in which the initial velocity decays
_BENT = 0.999  # of the standing height, so that knees are not quite straight
_FOLDED = 0.4  # of a leg's length, that an ankle is from the hip at least
_BOW = 0.35  # rad, by which the pelvis is tilted ahead on the way
# m, that the pelvis is over the ground; s before and after, in which it is raised for that; s of smoothing
_ROOM, _BEFORE, _BLUR = 0.004, 0.3, 0.03
_FRICTION = 0.1  # of the ground: a puppet that hangs from strings does not stick to it
_SUBSTEPS = 2  # steps of physics per frame
_STATE = ("root", "q", "v", "w")  # arrays of a `BodyState`
_UP, _AHEAD = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])


class GetUp:
    """One body that gets up, in a separate scene.

    body    its state;  time: s since it began;  span: s that it takes
    """

    def __init__(self, like: Body, frame: float):
        character, self.frame = like.character, frame
        self.body = body = Body(character)
        body.dt, body.gravity, body.floor = frame / _SUBSTEPS, like.gravity, copy.copy(like.floor)
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
        """Set the pose at the end, rotations (J, 4); the root's is ignored."""
        skeleton, self.stand = self.body.skeleton, rotations.copy()
        self.stand[0] = rotation.identity()
        there, self._standing = skeleton.pose(np.zeros(3), self.stand)
        lowest = min(
            float((there[joint] + rotation.rotate(self._standing[joint], point))[1])
            for sole in self._soles
            for joint, point in ((sole.foot, sole.heel), (sole.foot if sole.toes is None else sole.toes, sole.ball))
        )
        self.height = (float(there[self.hips, 1]) - lowest) * _BENT
        self._sides = [there[c] - there[self.hips] for _, _, c in self._legs]

    def _find_ends(self) -> list[int]:
        """Return hands with their fingers, and toes: so light that contacts would throw them about."""
        skeleton = self.body.skeleton
        hands = [i for side in SIDES if (i := skeleton.find_role(f"{side}Hand")) is not None]
        found = {i for hand in hands for i in skeleton.descendants(hand)}
        for side in SIDES:
            foot = skeleton.index(f"{side}Foot")
            found |= {i for i in skeleton.descendants(foot) if i != foot}
        return sorted(found)

    def is_needed(self, body: Body) -> bool:
        """Return whether a body is too far from standing for its legs to raise it, or is falling to the floor."""
        hips = self.hips
        floor = body.floor.find(float(body.p[hips, 0]), float(body.p[hips, 2]), float(body.p[hips, 1]))[0]
        upright = float(body.R[hips, 1, 1])
        low = body.p[hips, 1] - floor < LOW * self.height
        held = body.root_is_given or body.stands
        sinks = body.v[hips, 1] < -(DROPS if held else _SINKS)
        return bool(low or upright < math.cos(LEANS) or sinks)

    # It begins.

    def begin(self, state: BodyState, t: float, stand: np.ndarray) -> None:
        """Begin in a state at time t (s), towards a pose, rotations (J, 4)."""
        self.set_stand(stand)
        self.body.put(state)
        self.time, self.clock = 0.0, t
        self._built = state.copy()
        self._plan()
        self._build(t)

    def _plan(self) -> None:
        """Plan the path of the hips."""
        body, hips = self.body, self.hips
        body.update()
        self._from, self._speed, self._spin = body.p[hips].copy(), body.v[hips].copy(), body.om[hips].copy()
        turn = body.world_turn(hips)
        self.heading = 2.0 * math.atan2(float(turn[2]), float(turn[0]))  # the nearest that is upright
        level = rotation.exp(self.heading * _UP)
        self._upright = level
        # q = upright exp(e)
        self._turn = rotation.log(rotation.multiply(rotation.conjugate(level), turn))
        end = self._from + 0.5 * _CATCH * self._speed * (1.0, 0.0, 1.0)
        spots = end + np.array([rotation.rotate(level, side) for side in self._sides])
        spots = np.concatenate([spots, spots + 0.1 * rotation.rotate(level, _AHEAD)])
        ground = float(body.floor.find_heights(spots[:, 0], spots[:, 2], float(end[1]) + 0.3).max())
        end[1] = ground + self.height
        self._to, self._ground = end, ground
        up, angle = abs(end[1] - self._from[1]) / self.height, float(np.linalg.norm(self._turn))
        self._way = min(max(_LEAST + _BY_HEIGHT * up + _BY_TURN * angle, _SHORTEST), _LONGEST)
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
        """Raise the path of the hips smoothly where the pelvis would be in the ground."""
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
        """Return the height (m) of the lowest point of the pelvis over the ground."""
        R, floor = rotation.to_matrix(turn), self.body.floor
        lowest = min((float((points @ R.T)[:, 1].min()) - r for points, r in self._pelvis), default=0.0)
        return float(place[1]) + lowest - floor.find(float(place[0]), float(place[2]), float(place[1]) + 0.1)[0]

    def _build(self, t: float) -> None:
        """Build the springs and the simulation."""
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
        ground = None if body.floor.ground is None else replace(body.floor.ground, friction=_FRICTION)
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
        """Whether it stands and its legs are at rest, or its time is over."""
        if self.time < self.span - 1e-9:
            return False
        legs = [i for leg in self._legs for i in leg]
        fastest = float(np.abs(self.body.state.w[legs]).max())
        return fastest < _RESTS or self.time >= self.span + _PATIENCE

    def step(self) -> None:
        """Advance by a frame."""
        self._aim()
        # at ends and middles of its steps, and half a step before and after
        way = [self._find_root(self.time + k * 0.5 * self.body.dt) for k in range(-1, 2 * _SUBSTEPS + 2)]
        for part in range(_SUBSTEPS):
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
        body.nudged[:] = 0
        self.simulation.write(0, body.block)
        self.simulation.step()
        self.simulation.read(0, body.block)
        self.time += body.dt
        self._place(way[2:5])

    def _ease(self, t: float, window: tuple[float, float]) -> float:
        u = min(max((t / self._way - window[0]) / (window[1] - window[0]), 0.0), 1.0)
        return u**3 * (10.0 - 15.0 * u + 6.0 * u * u)

    def find_hips(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Return position (3,) m and orientation (4,) of the hips, t seconds after it began."""
        from poise.motion.playback.part_kernels import die_away

        lifted, turned = self._ease(t, self._lifts), self._ease(t, self._turns)
        run = _CATCH * die_away(t / _CATCH)[1]
        # y = y1 + (y0 - y1) (1 - E) + v0 T D   [rise, 1]
        place = self._to + (self._from - self._to) * (1.0 - lifted) + run * self._speed
        bow = _BOW * 16.0 * (turned * (1.0 - turned)) ** 2 * float(np.linalg.norm(self._turn)) / (0.5 * math.pi)
        q = rotation.multiply(self._upright, rotation.exp(np.array([bow, 0.0, 0.0])))
        q = rotation.multiply(
            rotation.exp(run * self._spin), rotation.multiply(q, rotation.exp((1.0 - turned) * self._turn))
        )
        if self._lift is not None:
            place[1] += np.interp(t, self._times, self._lift)
        return place, q

    def _place(self, way: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Write the hips' pose at the middle of three times, half a step apart, with its rates."""
        h, body, state = 0.5 * self.body.dt, self.body, self.body.state
        (before, first), (place, turn), (after, last) = way
        state.root[:], state.v[:] = place, (after - before) / (2.0 * h)
        body.a[:] = (after - 2.0 * place + before) / h**2
        back, on = (rotation.log(rotation.multiply(rotation.conjugate(turn), each)) for each in (first, last))
        at = [*self._chain, *self._ends]
        state.q[at], state.w[at], body.dw[at] = turn, (on - back) / (2.0 * h), (on + back) / h**2

    def _find_root(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the root's position (3,) and rotations of all prescribed joints: from root to hips, and light ends."""
        from poise.motion.playback.part_kernels import die_away

        place, turn = self.find_hips(t)
        eased, run = self._ease(t, (0.0, 0.7)), _CATCH * die_away(t / _CATCH)[1]
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
        """Set stiffness, damping and targets of the springs."""
        share, eased = self._ease(self.time, (0.0, 0.7)), self._ease(self.time, (0.0, 0.5))
        firm = _LIMP + (self._firm - _LIMP) * share
        self.springs.stiffness[:] = firm * self._soft  # k = s(t) m g l   [rise, 2]
        self.springs.damping[:] = self._give * np.sqrt(np.maximum(firm, _LEAST_DAMPED))
        self.springs.aim[:] = _between(self._begun, self._aims, eased)
        for side in range(2):
            self._aim_leg(side, eased)

    def _aim_leg(self, side: int, share: float) -> None:
        """Set a leg's target: the ankle on the ground under the hip."""
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
        """Return its state as plain data."""
        state, built = self.body.state, self._built
        return {
            "built": {name: getattr(built, name).copy() for name in _STATE},
            "state": {name: getattr(state, name).copy() for name in _STATE},
            "stand": self.stand.copy(), "times": [self.time, self.clock], "simulation": self.simulation.save(),
            "limits": self.limits.save(),
        }  # fmt: skip

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore what `save` returned."""
        built = BodyState(*(np.array(saved["built"][name]) for name in _STATE))
        self.begin(built, saved["times"][1], np.array(saved["stand"]))
        self.time = saved["times"][0]
        write_over({name: getattr(self.body.state, name) for name in _STATE}, saved["state"])
        self.simulation.restore(saved["simulation"])
        self.limits.restore(saved["limits"])
        self.body.update()


def _between(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    """Return the rotation (4,) at a fraction of the way from one to another."""
    return np.asarray(
        rotation.multiply(a, rotation.exp(share * rotation.log(rotation.multiply(rotation.conjugate(a), b))))
    )


def _list_points(shape: Any) -> tuple[np.ndarray, float]:
    """Return the points whose hull is a shape, and its thickness (m)."""
    if hasattr(shape, "corners"):
        return np.asarray(shape.corners), 0.0
    if hasattr(shape, "end"):
        return np.stack([shape.start, shape.end]), float(shape.radius)
    return np.asarray(shape.center)[None], float(shape.radius)


class GetUpBlend(Stateful):
    """From the floor into the strings.

    motion  of getting up
    is_up   whether that is over, and strings have taken over
    """

    STATE = ("motion", "is_up")

    def __init__(self, motion: GetUp):
        self.motion, self.is_up = motion, False
        self._first: _FirstFrame | None = None  # until the blend can be measured
        self._blend: Transition | None = None

    @classmethod
    def find(cls, body: Body, like: Body, frame: float) -> GetUpBlend | None:
        """Return how a body gets up, on a floor like another body's; None if its legs are under it."""
        motion = GetUp(like, frame)
        return cls(motion) if motion.is_needed(body) else None

    @property
    def body(self) -> Body:
        """The body that gets up."""
        return self.motion.body

    @property
    def is_over(self) -> bool:
        """Whether nothing of getting up is left in the pose."""
        return self._blend is not None and float(self.body.block["at"]) > float(np.sum(self._blend.span))

    def begin(self, state: BodyState, t: float, stand: np.ndarray) -> None:
        """Begin in a state at time t (s), towards a pose, rotations (J, 4)."""
        self.motion.begin(state, t, stand)

    def step(self, number: int) -> BodyState:
        """Return the state in a frame."""
        if number > 0:
            self.motion.step()
            self.is_up = self.motion.is_over
        if number >= 0:
            return self.body.state
        now, back = self.body.state, -self.motion.frame
        return BodyState(now.root + back * now.v, rotation.multiply(now.q, rotation.exp(back * now.w)), now.v, now.w)

    def meet(self, strings: BodyState, joints: np.ndarray, t: float, span: float) -> None:
        """Begin the transition to the strings, which have the body in a state at time t, over at least `span` s."""
        self._blend = Transition(self.body.arena, joints, t, moves_root=True)
        self._first = _FirstFrame(strings.copy(), t, span)

    def follow(self, strings: BodyState, t: float) -> BodyState:
        """Return the state in a frame in which strings have the body in another state."""
        assert self._blend is not None
        if self._first is not None:
            self._measure(self._first, strings, t)
        self.body.put(strings)
        self._blend.add(self.body, t)
        return self.body.state

    def _measure(self, first: _FirstFrame, strings: BodyState, t: float) -> None:
        """Measure what is left of getting up, with the strings' velocity from their first frame to this one."""
        assert self._blend is not None
        at, dt, before = self._blend.joints, t - first.time, first.state
        none = np.zeros((len(at), 3))
        w = rotation.log(rotation.multiply(rotation.conjugate(before.q[at]), strings.q[at])) / dt
        v = (strings.root - before.root) / dt
        self._blend.measure(self.body, before.q[at], w, none, before.root, v, np.zeros(3), first.time, first.span)
        self._first = None

    def save(self) -> dict[str, Any]:
        """Return its state as plain data."""
        return {
            **super().save(),
            "blend": None if self._blend is None else self._blend.save(),
            "first": None if self._first is None else self._first.save(),
        }

    @classmethod
    def load(cls, saved: dict[str, Any], like: Body, frame: float) -> GetUpBlend:
        """Return the object that was saved."""
        found = cls(GetUp(like, frame))
        found.restore(saved)
        if saved["blend"] is not None:
            found._blend = Transition.load(saved["blend"], found.body.arena)
        if saved["first"] is not None:
            found._first = _FirstFrame.load(saved["first"])
        return found


class _FirstFrame(NamedTuple):
    """The strings' state in their first frame, its time (s), and how long (s) the transition takes at least."""

    state: BodyState
    time: float
    span: float

    def save(self) -> dict[str, Any]:
        arrays = {name: getattr(self.state, name).copy() for name in _STATE}
        return {**arrays, "time": self.time, "span": self.span}

    @classmethod
    def load(cls, saved: dict[str, Any]) -> _FirstFrame:
        state = BodyState(*(np.array(saved[name]) for name in _STATE))
        return cls(state, float(saved["time"]), float(saved["span"]))
