"""The foot that a walking body hangs from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.drivers.body import Body
from poise.drivers.kinematic.frame_buffer import FrameBuffer
from poise.drivers.root.anchor import BODY, Anchor
from poise.drivers.stateful import Stateful
from poise.drivers.transition.transition import find_offset

_HARDEST = 60.0  # m/s2: a larger acceleration of a foot is a blow and is limited to it


class FootMotion(NamedTuple):
    """Position, velocity and acceleration (3, 3), orientation (4,), angular velocity and acceleration (2, 3)."""

    point: np.ndarray
    turn: np.ndarray
    spin: np.ndarray


def find_planned(frames: FrameBuffer, side: int, clock: tuple[float, float, float]) -> FootMotion:
    """Return the planned motion of a foot, from frames with positions (N, 2, 3) and orientations (N, 2, 4) of feet.

    clock  time of the frames (s), its rate, and the rate's change (1/s)
    """
    from poise.drivers.kinematic.frame_kernels import place_at, turn_at

    time, rate, slope = clock
    k, u = frames.find(time)
    positions, turns = frames.others
    found, rows = FootMotion(np.zeros((3, 3)), np.zeros(4), np.zeros((2, 3))), slice(k - 1, k + 3)
    place_at(positions[rows, side], u, frames.period, rate, slope, found.point)
    turn_at(turns[rows, side], u, frames.period, rate, slope, found.turn, *found.spin)
    return found


class SupportFoot(Stateful):
    """Moves the root so that a foot moves as planned; the difference to the plan decays after a foot takes over.

    joints   of both feet
    side     0 left, 1 right
    off      (2, 3, 3) difference to the plan when it took over: m, and rad in the foot's axes, each with its rates
    since    s, when it did;  span: s, in which that decays
    """

    STATE = ("side", "off", "since", "span")

    def __init__(self, joints: tuple[int, int]):
        self.joints, self.side = joints, 0
        self.off, self.since, self.span = np.zeros((2, 3, 3)), -np.inf, 1.0
        self._anchor = Anchor(BODY)

    @property
    def joint(self) -> int:
        """Joint of the foot."""
        return self.joints[self.side]

    def find(self, body: Body) -> FootMotion:
        """Return how the foot of a body moves."""
        return FootMotion(*self._anchor.find(body, self.joint, np.zeros(3)))

    def hang(self, body: Body, t: float, planned: FootMotion) -> None:
        """Write the root of a body whose foot moves as planned, with what is left of the difference at time t (s)."""
        from poise.motion.playback.part_kernels import take_over

        point, turn, spin = planned
        if t < self.since + self.span:
            point = point + _decay(self.off[0], t - self.since, self.span)
            rates = np.stack([spin[0], spin[1]])
            part = np.array([0.0, np.nan, 0.0, self.since, self.span])
            take_over(part, self.off[1][:, None], t, turn[None], rates[:1], rates[1:])
            spin = rates
        self._anchor.hang(body, self.joint, np.zeros(3), point, turn, spin)

    def take(self, body: Body, t: float, side: int, planned: FootMotion, span: float) -> None:
        """Hang the body from another foot at time t (s), whose difference to its plan decays in `span` s."""
        self.side = side
        point, turn, spin = self.find(body)
        self.off[0] = point - planned.point
        np.clip(self.off[0, 2], -_HARDEST, _HARDEST, out=self.off[0, 2])
        planned_turn, planned_spin = planned.turn[None], planned.spin
        self.off[1] = find_offset(
            planned_turn, planned_spin[:1], planned_spin[1:], turn[None], spin[:1], spin[1:]
        )[:, 0]  # fmt: skip
        self.since, self.span = t, span


def _decay(off: np.ndarray, x: float, span: float) -> np.ndarray:
    """Return what is left (3, 3) of a position, a velocity and an acceleration after x seconds, with its rates."""
    u = min(max(x / span, 0.0), 1.0)
    # Quintics that end at 0: from position 1, from slope 1, from curvature 1; see `part_kernels.die_away`.
    rows = np.array(
        [
            [1.0 - u**3 * (10.0 - 15.0 * u + 6.0 * u * u), u - u**3 * (6.0 - 8.0 * u + 3.0 * u * u),
             0.5 * u * u * (1.0 - u) ** 3],
            [-30.0 * u * u * (1.0 - u) ** 2, 1.0 - u * u * (18.0 - 32.0 * u + 15.0 * u * u),
             u * (1.0 - u) ** 3 - 1.5 * u * u * (1.0 - u) ** 2],
            [-60.0 * u * (1.0 - u) * (1.0 - 2.0 * u), -u * (36.0 - 96.0 * u + 60.0 * u * u),
             (1.0 - u) ** 3 - 6.0 * u * (1.0 - u) ** 2 + 3.0 * u * u * (1.0 - u)],
        ]
    )  # fmt: skip
    scaled = rows @ (np.array([[1.0], [span], [span * span]]) * off)
    return np.asarray(scaled / np.array([[1.0], [span], [span * span]]))
