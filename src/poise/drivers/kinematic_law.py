"""A motion on some joints of a body, as laws."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.dynamics.body_kernels import BODY
from poise.motion.part_kernels import PERIOD, play_part, pose_part
from poise.motion.track_kernels import phase_at, play_root
from poise.spatial.addresses import blocks, floats, integers, record, splines, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

# As of `KinematicPlayer` and its two tracks.
PART = fields(
    arrays="joints part knots turns rates root root_rates clock old_knots old_turns old_clock offset q w dw",
    integers="count knot_count old_knot_count moves_root",
)


@kernel
def play(x: Any, t: float) -> None:
    """Rotations and their rates at time t into the part's own q, w and dw."""
    k, n, old = x.count, x.knot_count, x.old_knot_count
    play_part(
        floats(x.part, 5), floats(x.knots, n), splines(x.turns, n - 1, k), splines(x.rates, n - 1, k),
        floats(x.clock, 6), floats(x.old_knots, old), splines(x.old_turns, old - 1, k), floats(x.old_clock, 6),
        blocks(x.offset, 3, k, 3), t, vectors(x.q, k, 4), vectors(x.w, k, 3), vectors(x.dw, k, 3),
    )  # fmt: skip


@kernel
def put_turns(x: Any, q: np.ndarray) -> None:
    """The part's own rotations to where they belong among all (J, 4)."""
    joints, own = integers(x.joints, x.count), vectors(x.q, x.count, 4)
    for i in range(x.count):
        for b in range(4):
            q[joints[i], b] = own[i, b]


@kernel
def place_root(x: Any, t: float, root: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    """The root's place, velocity and acceleration at time t."""
    n = x.knot_count
    phase, rate, slope = phase_at(floats(x.clock, 6), t)
    play_root(
        floats(x.knots, n), blocks(x.root, n - 1, 4, 3), blocks(x.root_rates, n - 1, 4, 3), floats(x.part, 5)[PERIOD],
        phase, rate, slope, root, v, a,
    )  # fmt: skip


@law
def give(body: int, block: int) -> None:
    """Line 1 of the step: q, w and dw of the part's joints, and the root if it moves that."""
    b, x = record(body, BODY), record(block, PART)
    play(x, b.at)
    put_turns(x, vectors(b.q, b.joints, 4))
    joints, w, dw = integers(x.joints, x.count), vectors(b.w, b.joints, 3), vectors(b.dw, b.joints, 3)
    own_w, own_dw = vectors(x.w, x.count, 3), vectors(x.dw, x.count, 3)
    for i in range(x.count):
        for k in range(3):
            w[joints[i], k] = own_w[i, k]
            dw[joints[i], k] = own_dw[i, k]
    if x.moves_root == 1:
        place_root(x, b.at, floats(b.root, 3), floats(b.v, 3), floats(b.a, 3))


@law
def show(body: int, block: int) -> None:
    """The part's pose for somebody who looks."""
    b, x = record(body, BODY), record(block, PART)
    k, n, old = x.count, x.knot_count, x.old_knot_count
    pose_part(
        floats(x.part, 5), floats(x.knots, n), splines(x.turns, n - 1, k), floats(x.clock, 6),
        floats(x.old_knots, old), splines(x.old_turns, old - 1, k), floats(x.old_clock, 6),
        blocks(x.offset, 3, k, 3), b.at, vectors(x.q, k, 4),
    )  # fmt: skip
    put_turns(x, vectors(b.shown_q, b.joints, 4))
    if x.moves_root == 1:
        place_root(x, b.at, floats(b.shown_root, 3), np.empty(3), np.empty(3))
