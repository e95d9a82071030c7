"""An anchored point: it stays fixed, and the root follows from it. Every driver that stands on a contact uses it.

In the tree a body hangs from its root; here it hangs from an *anchor*, a point of one of its bodies whose position in
the world is given, and the root's position, velocity and acceleration follow from the joints. The root's orientation is

    GIVEN   written by another driver, a motion for example: the point is fixed, and the body turns about it freely
    BODY    that of the anchored body: its whole pose is fixed, as if the tree had its root there
    ROOT    kept

`Anchor.take` moves the anchor to another point. The new point begins with its present position, velocity and
acceleration and comes to rest on a quintic. So the root never jumps in pose or velocity; its acceleration does not
either, unless the point's acceleration is a blow. `kernels.py` has the equations; `Anchored` is the driver.
"""

from __future__ import annotations

import numpy as np

from poise.drivers.body import Body
from poise.drivers.stateful import Stateful
from poise.spatial import rotation

GIVEN, BODY, ROOT = "given", "body", "root"
_HARDEST = 60.0  # m/s2 and, ten times that, rad/s2: a larger acceleration is a blow and is limited to it
# The quintic that slides least, in the mean square of its velocity, comes to rest after 0.15 of its span at speed 1,
# and after 1/120 of the span's square at acceleration 1. It brakes by up to 3.1 / span; one that covers a distance of
# 1 reaches an acceleration of 5.8 / span^2.
LEAST_WAY, LEAST_PUSHED, BRAKING, HURRY = 0.15, 1.0 / 120.0, 3.1, 5.8


class Anchor(Stateful):
    """A point of a body that stays fixed, or is coming to rest.

    turned  what orients the root: GIVEN, BODY or ROOT
    state   layout `AnchorState` of `kernels.py`
    """

    STATE = ("state",)

    def __init__(self, turned: str = GIVEN):
        from poise.drivers.root import kernels

        self._kernels, self.turned = kernels, turned
        self._rule = {GIVEN: kernels.GIVEN, BODY: kernels.BODY, ROOT: kernels.ROOT}[turned]
        self.state = kernels.AnchorState(orientation=rotation.identity())
        self._point, self._orientation, self._spin = np.zeros((3, 3)), np.zeros(4), np.zeros((2, 3))

    def find(self, body: Body, joint: int, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the motion of a point of body `joint`, whether it is anchored or not.

        (3, 3) position, velocity and acceleration in the world; (4,) the body's orientation; (2, 3) its angular
        velocity and acceleration in its own axes
        """
        point, orientation, spin = np.zeros((3, 3)), np.zeros(4), np.zeros((2, 3))
        self._kernels.find_motion(body.block, joint, offset, point, orientation, spin)
        return point, orientation, spin

    def take(
        self, body: Body, t: float, joint: int, offset: np.ndarray, support_motion: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Anchor the body at another point from time t on; the caller then calls `rest`.

        support_motion  (3, 3) position, velocity and acceleration of what the point stands on, if that moves

        Returns what `find` does, relative to what the point stands on.
        """
        point, orientation, spin = self.find(body, joint, offset)
        if self.turned == ROOT:
            orientation, spin = body.state.q[0].copy(), np.stack([body.state.w[0], body.dw[0]])
        if support_motion is not None:
            point -= support_motion
        point[2], spin[1] = _limit(point[2], _HARDEST), _limit(spin[1], 10.0 * _HARDEST)
        self._write(joint, offset, t, point, orientation, spin)
        return point, orientation, spin

    def _write(
        self, joint: int, offset: np.ndarray, t: float, point: np.ndarray, orientation: np.ndarray, spin: np.ndarray
    ) -> None:
        state = self.state
        state.set(joint=joint, since=t)
        state.offset[:], state.start[:], state.orientation[:], state.spin[:] = offset, point, orientation, spin

    def rest(self, way: np.ndarray, spans: np.ndarray, turning: np.ndarray, span: float) -> None:
        """Set where the point that was taken comes to rest.

        way, spans     (3,) m from where it was taken, and s until then, along x, y and z
        turning, span  (3,) rad from its orientation then, in its own axes, and s until then
        """
        self.state.span = span
        self.state.way[:], self.state.spans[:], self.state.rotation[:] = way, spans, turning

    def put(self, joint: int, offset: np.ndarray, position: np.ndarray, orientation: np.ndarray) -> None:
        """Anchor a body at rest: a point at a position (3,) m, and the orientation (4,) of the body or the root."""
        point = np.stack([position, np.zeros(3), np.zeros(3)])
        self._write(joint, offset, -np.inf, point, orientation, np.zeros((2, 3)))
        self.rest(np.zeros(3), np.zeros(3), np.zeros(3), 0.0)

    def move_root(self, body: Body, t: float, support_motion: np.ndarray | None = None) -> None:
        """Write the root's position, velocity and acceleration at time t, and its orientation unless it is GIVEN.

        The body's joints are those of time t.
        """
        state, point = self.state, self._point
        self._kernels.find_anchor_motion(state, t, point)
        if support_motion is not None:
            point += support_motion
        if self.turned != GIVEN:
            self._kernels.find_anchor_orientation(state, t, self._orientation, self._spin)
        self.hang(body, state.joint, state.offset, point, self._orientation, self._spin)

    def hang(
        self, body: Body, joint: int, offset: np.ndarray, point: np.ndarray, orientation: np.ndarray, spin: np.ndarray
    ) -> None:
        """Write the root's motion from a given motion of a point: the reverse of `find`.

        orientation, spin  of the anchored body if that orients the root, of the root if it keeps its orientation
        """
        self._kernels.hang_root(body.block, self._rule, joint, offset, point, orientation, spin)


def plan_rest(v: np.ndarray, a: np.ndarray, shortest: float, longest: float, brake: float) -> tuple[np.ndarray, float]:
    """Return the way to rest that slides least, from velocity v and acceleration a (3,), and its duration (s).

    shortest, longest  s
    brake              acceleration that it may take, in the unit of a, unless that takes longer than `longest`
    """
    span = float(np.clip(BRAKING * np.linalg.norm(v) / brake, shortest, longest))
    return LEAST_WAY * span * v + LEAST_PUSHED * span**2 * a, span


def plan_way(way: float, v: float, shortest: float, longest: float, hurry: float, brake: float) -> float:
    """Return the duration (s) of coming to rest at a distance `way`, from velocity v.

    hurry, brake  accelerations that the distance and the velocity may take
    """
    return float(np.clip(max(np.sqrt(HURRY * abs(way) / hurry), BRAKING * abs(v) / brake), shortest, longest))


def lay_flat(turn: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return an orientation (4,) turned the shortest way so that its up axis at rest is along a normal (3,)."""
    up = rotation.rotate(turn, np.array([0.0, 1.0, 0.0]))
    return np.asarray(rotation.multiply(rotation.between(up, normal), turn))


def _limit(a: np.ndarray, most: float) -> np.ndarray:
    """Return a vector, scaled to a length of at most `most`."""
    return np.asarray(a * min(1.0, most / max(float(np.linalg.norm(a)), 1e-300)))
