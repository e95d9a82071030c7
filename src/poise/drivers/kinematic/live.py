"""Joints that follow a motion whose future is not known.

Before every step the motion is asked for its pose, which is where the joints should be. They go there by a filter of
third order with one pole, three times over:

    s''' = w^3 (s* - s) - 3 w^2 s' - 3 w s''        w = 3 / delay

of quaternions' four numbers (of the nearer of the two that mean s*), and q = s / |s|. Place, velocity *and*
acceleration go on without a jump however far and however often s* jumps: a feed may come at any rate, with jitter and
with gaps. A steady motion is shown `delay` seconds late. A jump by d reaches a speed of 0.27 w d and an acceleration of
0.23 w^2 d at most, does not overshoot, and is over after two to three delays. While s* stays,

    s = s* + (a + b x + c x^2) e^(-w x)             x: s since it was last asked

which is exact at any time and any step. From physics it takes over by beginning with the pose, the velocity and the
acceleration that the joints have; and s* begins there, too, and goes to where the motion is as any hand-over does
(`drivers/transition/transition.py`): who is to be where another is, two metres off, does not fly there within the
delay.

Everybody asks before anybody moves: an actor that follows another of its stage sees where that one is as the step
begins, whoever of them was there first.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.drivers.driver import WRITE, MotionPlayer, Player
from poise.drivers.transition.transition import TAKE_OVER, find_root_span, find_span
from poise.motion.live import check_delay, check_pose
from poise.motion.motion import Motion
from poise.spatial import rotation

_HARDEST, _HARDEST_ROOT = 300.0, 100.0  # rad/s2, m/s2: an acceleration above it is a blow, and is not taken over


class LivePlayer(MotionPlayer):
    """A live motion on the joints of one actor.

    start         s of the stage's clock at which the motion's own time is 0
    aim, fade     (K, 4), (3, K, 4): s* and a, b, c above;  place (3,), slide (3, 3): those of the root, m
    clock         (3,): when it was last asked (s on the stage's clock), w (1/s), and whether anything was seen so far
    off, away     (K, 3) rad, (3,) m: from the motion to where it took over;  span (2,) s: when, and how long that lasts
    """

    needs_before_step = True

    def __init__(self, motion: Motion, start: float, body: Body, joints: np.ndarray, t: float):
        from poise.drivers.kinematic import kernels

        self.joints, self.motion, self.start, self._kernels = joints, motion, start, kernels
        self.moves_root = bool(len(joints) and joints[0] == 0) and motion.moves_root
        self._count = len(body.skeleton)
        room, k = body.arena, len(joints)
        self.clock = room.copy(np.array([t, 3.0 / check_delay(motion.delay), 0.0]))
        self.aim, self.fade = room.zeros(k, 4), room.zeros(3, k, 4)
        self.place, self.slide = room.zeros(3), room.zeros(3, 3)
        self.off, self.away, self.span = np.zeros((k, 3)), np.zeros(3), np.array([t, 0.0])
        self.q, self.w, self.dw = room.zeros(k, 4), room.zeros(k, 3), room.zeros(k, 3)
        self.block = Block(
            kernels.FOLLOWER, room, joints=joints, count=k, moves_root=self.moves_root, q=self.q, w=self.w,
            dw=self.dw, clock=self.clock, aim=self.aim, fade=self.fade, place=self.place, slide=self.slide,
        )  # fmt: skip
        self.place[:], self.aim[:] = self._ask(t)

    @property
    def delay(self) -> float:
        """s by which a steady motion is shown late."""
        return 3.0 / float(self.clock[1])

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """See `Player.laws`."""
        return {WRITE: (self._kernels.write_live, self.block)}

    def _ask(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Where the root (3,) and the joints (K, 4) should be at time t: where the motion has them, or on the way."""
        from poise.motion.playback.part_kernels import die_away

        root, turns = check_pose(self.motion.pose(t - self.start), self._count)  # type: ignore[attr-defined]
        turns, (began, span) = turns[self.joints], self.span
        if t >= began + span:
            return root, turns
        left = die_away((t - began) / span)[0]
        return root + left * self.away, rotation.multiply(turns, rotation.exp(left * self.off))

    def _take_over(self, body: Body, t: float) -> None:
        """Have where the joints should be go from the body's pose at time t to the motion's, no faster than others."""
        self.span[:] = t, 0.0
        root, turns = self._ask(t)
        self.off[:] = rotation.log(rotation.multiply(rotation.conjugate(turns), body.state.q[self.joints]))
        self.away[:] = body.state.root - root if self.moves_root else 0.0
        self.span[1] = max(find_span(self.off, 0.0, 2.0 * TAKE_OVER), find_root_span(self.away, 0.0))

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """Begin in the motion's pose, or at the body's pose, velocity and acceleration, and go to the motion's."""
        if starting:
            body.state.q[self.joints] = self.aim
            if self.moves_root:
                body.state.root[:] = self.place
            return
        self._take_over(body, t)
        q, w = body.state.q[self.joints], body.state.w[self.joints]
        dw = np.clip(body.turning[self.joints], -_HARDEST, _HARDEST)
        # q' = q w / 2,  q'' = q dw / 2 - |w|^2 q / 4
        bend = 0.5 * _times(q, dw) - 0.25 * np.sum(w * w, axis=-1, keepdims=True) * q
        turns = np.stack([q, 0.5 * _times(q, w), bend])
        pull = np.clip(body.pulling, -_HARDEST_ROOT, _HARDEST_ROOT)
        self._set_off(t, turns, np.stack([body.state.root, body.state.v, pull]), *self._ask(t))

    def before_step(self, body: Body, t: float) -> None:
        """See `Player.before_step`: go to where the motion is at time t, from where the joints are then."""
        root, turns = self._ask(t)
        turns *= np.where(np.sum(turns * self.aim, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        if not self.clock[2]:  # as the motion is; when this began, whom it follows may not have been in his place yet
            self.clock[0], self.clock[2], self.place[:], self.aim[:] = t, 1.0, root, turns
            return
        if np.array_equal(turns, self.aim) and np.array_equal(root, self.place):
            return  # it goes on as it is
        x = t - float(self.clock[0])
        self._set_off(t, _flow(self.aim, self.fade, self.clock[1], x), _flow(self.place, self.slide, self.clock[1], x),
                      root, turns)  # fmt: skip

    def _set_off(self, t: float, turns: np.ndarray, ways: np.ndarray, root: np.ndarray, aim: np.ndarray) -> None:
        """Go from turns (3, K, 4) and ways (3, 3) at time t, with their rates, to a root and to rotations."""
        aim = aim * np.where(np.sum(aim * turns[0], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        for to, numbers, begin in ((aim, (self.aim, self.fade), turns), (root, (self.place, self.slide), ways)):
            w, (goal, way) = float(self.clock[1]), numbers
            goal[:] = to
            # a = s - s*,  b = s' + w a,  c = (s'' + 2 w b - w^2 a) / 2
            way[0] = begin[0] - to
            way[1] = begin[1] + w * way[0]
            way[2] = 0.5 * (begin[2] + 2.0 * w * way[1] - w * w * way[0])
        self.clock[0], self.clock[2] = t, 1.0

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {name: getattr(self, name) for name in ("clock", "aim", "fade", "place", "slide", "off", "away", "span")}


def _flow(goal: np.ndarray, way: np.ndarray, w: float, x: float) -> np.ndarray:
    """(3, ...) s, s' and s'', x seconds after they set off."""
    a, b, c = way
    first, second = b - w * a, 2.0 * c - 2.0 * w * b + w * w * a
    fade = np.exp(-w * x)
    return np.stack(
        [
            goal + (a + x * (b + x * c)) * fade,
            (first + x * ((2.0 * c - w * b) - x * w * c)) * fade,
            (second + x * ((w * w * b - 4.0 * w * c) + x * w * w * c)) * fade,
        ]
    )


def _times(q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(K, 4) q (0, w): the product of quaternions (K, 4) and vectors (K, 3)."""
    u, v = q[:, :1], q[:, 1:]
    return np.concatenate([-np.sum(v * w, axis=-1, keepdims=True), u * w + np.cross(v, w)], axis=-1)
