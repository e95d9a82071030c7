"""From however some joints moved to how a motion moves them, without a jump in pose or velocity.

The joints were off the motion when it took them over: that difference dies away on a quintic, beginning with the rate
and the acceleration that they had. `motion/playback/part_kernels.py` has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.compiled.arena import Arena
from poise.compiled.law import Block, Law
from poise.drivers.body import Body
from poise.engines.memory import write_over
from poise.spatial import rotation

TAKE_OVER = 0.4  # s, or up to twice that for a long way
_HURRY = 25.0  # rad/s2, of a hand-over at its quickest, if there is time
_HARDEST, _HARDEST_ROOT = 300.0, 100.0  # rad/s2, m/s2: an acceleration above it is a blow, and is not taken over
GENTLE = 60.0  # rad/s2, that is taken over where more would swing too far
_HURRY_ROOT, _LONGEST = 10.0, 3.0  # m/s2, of a root that has a long way, and s that it takes at most


class Transition:
    """What is left of how K joints moved before.

    joints      (K,) those that are taken over
    moves_root  whether the root's position is, too
    q, w, dw, root, v, a   (K, 4), (K, 3), (K, 3), (3,), (3,), (3,) of the motion at time t; the body's are taken over
    """

    def __init__(self, room: Arena | None, joints: np.ndarray, t: float = 0.0, moves_root: bool = False):
        from poise.drivers.transition import kernels

        self._kernels = kernels
        self.joints = np.array(joints, np.int64)
        self.offset, self.root, self.span = np.zeros((3, len(joints), 3)), np.zeros((3, 3)), np.array([t, TAKE_OVER])
        self.block = Block(
            kernels.TRANSITION, room, count=len(joints), joints=self.joints, offset=self.offset, root=self.root,
            span=self.span, moves_root=moves_root,
        )  # fmt: skip

    def measure(
        self,
        body: Body,
        q: np.ndarray,
        w: np.ndarray,
        dw: np.ndarray,
        root: np.ndarray,
        v: np.ndarray,
        a: np.ndarray,
        t: float,
        take_over: float = TAKE_OVER,
    ) -> None:
        """Take over at time t: from the body's state to a motion that is at q, w, dw, root, v and a then."""
        at = self.joints
        self.offset[:] = find_offset(q, w, dw, body.state.q[at], body.state.w[at], body.turning[at])
        self.set_root(np.stack([body.state.root, body.state.v, body.pulling]), np.stack([root, v, a]))
        far = self.root[0] if self.block["moves_root"] else np.zeros(3)
        self.span[:] = t, max(find_span(self.offset[0], take_over), find_root_span(far, take_over))

    def set_root(self, now: np.ndarray, there: np.ndarray) -> None:
        """Take over a root's place, velocity and acceleration (3, 3) from `now` to `there`."""
        self.root[:] = now - there
        np.clip(self.root[2], -_HARDEST_ROOT, _HARDEST_ROOT, out=self.root[2])

    def find_root(self, t: float) -> np.ndarray:
        """(3, 3) what is left at time t of the root's place, velocity and acceleration."""
        from poise.motion.playback.part_kernels import die_away

        start, span = self.span
        step = 1e-3 * span
        before, now, after = (np.array(die_away((t + h - start) / span)) for h in (-step, 0.0, step))
        scaled = np.array([[1.0], [span], [span * span]]) * self.root
        return np.stack(
            [now @ scaled, (after - before) @ scaled / (2.0 * step), (after - 2.0 * now + before) @ scaled / step**2]
        )

    @property
    def law(self) -> Law:
        """The compiled `add`."""
        return self._kernels.add

    def add(self, body: Body, t: float) -> None:
        """Add it to a motion that was written for time t (s)."""
        body.block.at = t
        self._kernels.add(body.block, self.block)

    def numbers(self) -> dict[str, np.ndarray]:
        """The arrays that say all of it."""
        return {"offset": self.offset, "root": self.root, "span": self.span}

    def save(self) -> dict[str, Any]:
        """Return its state and what `load` needs, as plain data."""
        arrays = {name: array.copy() for name, array in self.numbers().items()}
        return {**arrays, "joints": self.joints.copy(), "moves_root": bool(self.block["moves_root"])}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Restore what `save` returned, for the same joints."""
        write_over(self.numbers(), saved)

    @classmethod
    def load(cls, saved: Mapping[str, Any], room: Arena | None) -> Transition:
        """Return the transition that was saved."""
        found = cls(room, np.array(saved["joints"], np.int64), moves_root=bool(saved["moves_root"]))
        found.restore(saved)
        return found


def find_offset(
    q: np.ndarray, w: np.ndarray, dw: np.ndarray, q0: np.ndarray, w0: np.ndarray, dw0: np.ndarray
) -> np.ndarray:
    """(3, K, 3) the turn e, its rate and its acceleration, from a motion (q, w, dw) to joints at (q0, w0, dw0)."""
    # q = q_m exp(e):  w = exp(-e) w_m + J(e) e'   with J the right Jacobian of the rotations
    e = rotation.log(rotation.multiply(rotation.conjugate(q), q0))
    carried = rotation.rotate(rotation.exp(-e), w)
    # dw = exp(-e) dw_m + carried x (w - carried) + J(e) e'' + terms in e' twice, which J' leaves small
    pushed = rotation.rotate(rotation.exp(-e), dw) + np.cross(carried, w0 - carried)
    bent = np.clip(solve_right_jacobian(e, dw0 - pushed), -_HARDEST, _HARDEST)
    return np.stack([e, solve_right_jacobian(e, w0 - carried), bent])


def find_span(e: np.ndarray, take_over: float, most: float | None = None) -> float:
    """s that a hand-over by turns e (K, 3) takes: as asked for, or up to twice that, or to `most`, for a long way."""
    # A quintic over T seconds reaches 5.8 times its way over T^2.
    longest = math.sqrt(5.8 * float(np.max(np.linalg.norm(e, axis=-1), initial=0.0)) / _HURRY)
    return min(max(take_over, longest), 2.0 * take_over if most is None else most)


def find_root_span(way: np.ndarray, take_over: float) -> float:
    """s that a hand-over of a root that is off by (3,) m takes: as asked for, or longer for a long way."""
    longest = math.sqrt(5.8 * float(np.linalg.norm(way)) / _HURRY_ROOT)
    return max(take_over, min(longest, _LONGEST))


def solve_right_jacobian(e: np.ndarray, w: np.ndarray) -> np.ndarray:
    """J(e)^-1 w for the right Jacobian of rotations, e and w (K, 3): w + e x w / 2 + (...) e x (e x w)."""
    angle = np.linalg.norm(e, axis=-1, keepdims=True)
    half = 0.5 * np.maximum(angle, 1e-8)
    # 1 / a^2 - (1 + cos a) / (2 a sin a) = (1 - half cot half) / a^2, which is 1/12 for small angles
    factor = np.where(angle < 1e-4, 1.0 / 12.0, (1.0 - half / np.tan(half)) / (4.0 * half * half))
    once = np.cross(e, w)
    return np.asarray(w + 0.5 * once + factor * np.cross(e, once))
