"""What stays put, and the root that follows from it: the one mechanism under everything that stands by a contact.

A body hangs from its root in the tree; here it hangs from an *anchor*, a point of one of its bodies whose place in the
world is given, and the root's place, velocity and acceleration follow from the joints. What turns the root is one of

    GIVEN   somebody else, a motion say: the point is fixed, and the body turns about it as it likes
    BODY    the body that the point is of: its whole pose is fixed, as if the tree had its root there
    ROOT    nobody: it keeps its orientation

An anchor is handed on by `take`: the new point begins where it is, with the velocity and the acceleration that it has,
and comes to rest on a quintic. So the root, which hangs from it all along, never jumps in pose or velocity; its
acceleration does not either, unless the point's was a blow. How the root hangs is in `kernels.py`.

It needs no stage: six arrays (`MovingBody`) are all that it looks at. `Anchored` is the driver that is made of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.spatial import rotation

GIVEN, BODY, ROOT = "given", "body", "root"
_HARDEST = 60.0  # m/s2 and, ten times that, rad/s2: an acceleration above it is a blow, and is not taken over
# From speed 1 the quintic that slides least, in the mean square of its velocity, comes to rest 0.15 of its span away,
# from acceleration 1 at 1/120 of the span's square. It brakes by up to 3.1 / span; one that goes a way of 1 reaches an
# acceleration of 5.8 / span^2.
LEAST_WAY, LEAST_PUSHED, BRAKING, HURRY = 0.15, 1.0 / 120.0, 3.1, 5.8
ANCHOR = np.dtype(
    [
        ("joint", np.int64),  # of the body that is anchored
        ("offset", np.float64, 3),  # m, of its point, in its axes
        ("since", np.float64),  # s, when it was taken
        ("spans", np.float64, 3),  # s, until it rests along x, y and z
        ("place", np.float64, (4, 3)),  # m: where it began, its velocity and acceleration, the way to where it rests
        ("span", np.float64),  # s, until it turns no more
        ("begin", np.float64, 4),  # its orientation when it was taken
        ("turning", np.float64, (3, 3)),  # rad, body axes: velocity and acceleration, the way to where it rests
    ]
)


class MovingBody(NamedTuple):
    """A body in motion: arrays that are read, and whose root is written.

    root, v, a  (3,) m, place, velocity and acceleration of the root, world axes
    q           (J, 4) wxyz, joints relative to their parents, the root to the world
    w, dw       (J, 3) angular velocities and accelerations of the joints, body axes
    """

    root: np.ndarray
    v: np.ndarray
    a: np.ndarray
    q: np.ndarray
    w: np.ndarray
    dw: np.ndarray


class Anchor:
    """A point of a body that stays put, or is coming to rest.

    parents, offsets  (J,), (J, 3) m, of the tree
    turned            what turns the root: GIVEN, BODY or ROOT
    block             all that changes: one record of plain numbers, to be copied and set
    """

    def __init__(self, parents: np.ndarray, offsets: np.ndarray, turned: str = GIVEN):
        from poise.drivers.root import kernels

        self._kernels, self.turned = kernels, turned
        self.parents, self.offsets = np.ascontiguousarray(parents), np.ascontiguousarray(offsets)
        self.block = np.zeros((), ANCHOR)
        self.block["begin"][0] = 1.0
        self._turn, self._rel, self._body = np.zeros(4), np.zeros((5, 3)), np.zeros(4)
        self._point, self._spin, self._none = np.zeros((3, 3)), np.zeros((2, 3)), np.zeros((3, 3))

    def find(self, body: MovingBody, joint: int, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How a point of body `joint` moves: (3, 3) its place, velocity and acceleration in the world,

        (4,) the body's orientation, and (2, 3) its angular velocity and acceleration in its own axes. Anybody may ask.
        """
        kernels = self._kernels
        point, turn, spin = np.zeros((3, 3)), np.zeros(4), np.zeros((2, 3))
        self._relate(body, joint, offset)
        q, w, dw = body.q[0], body.w[0], body.dw[0]
        kernels.carry_point(body.root, body.v, body.a, q, w, dw, self._rel, point)
        kernels.carry_turn(q, w, dw, self._turn, self._rel, turn, spin)
        return point, turn, spin

    def take(
        self, body: MovingBody, t: float, joint: int, offset: np.ndarray, carried: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Anchor the body at another point from time t on, as it moves; say next where it rests (`rest`).

        carried  (3, 3) place, velocity and acceleration of what the point stands on, where that moves

        Returns what `find` does, relative to what carries it.
        """
        point, turn, spin = self.find(body, joint, offset)
        if self.turned == ROOT:
            turn, spin = body.q[0].copy(), np.stack([body.w[0], body.dw[0]])
        if carried is not None:
            point -= carried
        point[2], spin[1] = _limit(point[2], _HARDEST), _limit(spin[1], 10.0 * _HARDEST)
        block = self.block
        block["joint"], block["offset"], block["since"] = joint, offset, t
        block["place"][:3], block["begin"], block["turning"][:2] = point, turn, spin
        return point, turn, spin

    def rest(self, way: np.ndarray, spans: np.ndarray, turning: np.ndarray, span: float) -> None:
        """Where what was taken comes to rest.

        way, spans     (3,) m from where it was taken, and s until then, along x, y and z
        turning, span  (3,) rad from how it was turned then, in its own axes, and s until then
        """
        self.block["place"][3], self.block["spans"] = way, spans
        self.block["turning"][2], self.block["span"] = turning, span

    def put(self, joint: int, offset: np.ndarray, place: np.ndarray, turn: np.ndarray) -> None:
        """Anchor a body at rest: its point at a place (3,) m and, where it or the root is held, turned by (4,)."""
        block = self.block
        block["joint"], block["offset"], block["since"] = joint, offset, -np.inf
        block["place"], block["turning"], block["spans"], block["span"] = 0.0, 0.0, 0.0, 0.0
        block["place"][0], block["begin"] = place, turn

    def give(self, body: MovingBody, t: float, carried: np.ndarray | None = None) -> None:
        """Write the root's place, velocity and acceleration at time t, and its orientation where that is not GIVEN.

        The body's joints are those of time t.
        """
        block, point = self.block, self._point
        self._kernels.settle_place(float(block["since"]), block["spans"], block["place"], t, point)
        if carried is not None:
            point += carried
        if self.turned != GIVEN:
            self._kernels.settle_turn(
                float(block["since"]), float(block["span"]), block["begin"], block["turning"], t, self._body, self._spin
            )
        self.hang(body, int(block["joint"]), block["offset"], point, self._body, self._spin)

    def hang(
        self, body: MovingBody, joint: int, offset: np.ndarray, point: np.ndarray, turn: np.ndarray, spin: np.ndarray
    ) -> None:
        """The root of a body whose point moves as somebody says: `find` the other way round.

        Of an anchor whose body turns the root, `turn` and `spin` are that body's; of one that keeps it, the root's.
        """
        kernels = self._kernels
        self._relate(body, joint, offset)
        if self.turned == BODY:
            kernels.hang_turn(turn, spin, self._turn, self._rel, body.q[0], body.w[0], body.dw[0])
        elif self.turned == ROOT:
            body.q[0], body.w[0], body.dw[0] = turn, spin[0], spin[1]
        kernels.hang_place(point, body.q[0], body.w[0], body.dw[0], self._rel, body.root, body.v, body.a)

    def _relate(self, body: MovingBody, joint: int, offset: np.ndarray) -> None:
        self._kernels.relate(
            self.parents, self.offsets, body.q, body.w, body.dw, joint, offset, self._turn, self._rel
        )  # fmt: skip


def plan_rest(v: np.ndarray, a: np.ndarray, shortest: float, longest: float, brake: float) -> tuple[np.ndarray, float]:
    """The way to rest that slides least, from velocity v and acceleration a (3,), and how long it takes (s).

    brake  the acceleration that it may take, of the unit of a; a longer way to rest is as long as `longest`
    """
    span = float(np.clip(BRAKING * np.linalg.norm(v) / brake, shortest, longest))
    return LEAST_WAY * span * v + LEAST_PUSHED * span**2 * a, span


def plan_way(way: float, v: float, shortest: float, longest: float, hurry: float, brake: float) -> float:
    """How long (s) it takes to come to rest a given way off, from velocity v.

    hurry, brake  the accelerations that the way and the velocity may take
    """
    return float(np.clip(max(np.sqrt(HURRY * abs(way) / hurry), BRAKING * abs(v) / brake), shortest, longest))


def lay_flat(turn: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """An orientation (4,) turned the short way so that what was up at rest is along a normal (3,)."""
    up = rotation.rotate(turn, np.array([0.0, 1.0, 0.0]))
    return np.asarray(rotation.multiply(rotation.between(up, normal), turn))


def _limit(a: np.ndarray, most: float) -> np.ndarray:
    """A vector that is no longer than `most`."""
    return np.asarray(a * min(1.0, most / max(float(np.linalg.norm(a)), 1e-300)))
