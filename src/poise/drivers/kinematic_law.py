"""A motion on some joints of a body, as laws."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.dynamics.body_kernels import BODY
from poise.motion.curve_kernels import phase_at, play_root
from poise.motion.part_kernels import PERIOD, play_alone, play_part
from poise.spatial.addresses import blocks, call_with_two, floats, integers, record, splines, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

# As of `KinematicPlayer` and its two tracks.
# mingle, at: the law that is called at a time (s) where a track fades or was taken over; 0: neither ever was
PART = fields(
    arrays="joints part knots turns rates root root_rates clock old_knots old_turns old_clock offset q w dw",
    integers="count knot_count old_knot_count mingle",
    floats="at",
)


@kernel
def play(block: int, t: float) -> None:
    """Rotations and their rates at time t into the part's own q, w and dw."""
    x = record(block, PART)
    k, n = x.count, x.knot_count
    if x.mingle != 0:
        x.at = t
        call_with_two(x.mingle, 0, block)
        return
    play_alone(
        floats(x.part, 5), floats(x.knots, n), splines(x.turns, n - 1, k), splines(x.rates, n - 1, k),
        floats(x.clock, 6), t, vectors(x.q, k, 4), vectors(x.w, k, 3), vectors(x.dw, k, 3),
    )  # fmt: skip


@law
def mingle(_body: int, block: int) -> None:
    """The same of a part that fades or was taken over, at its own time."""
    x = record(block, PART)
    k, n, old = x.count, x.knot_count, x.old_knot_count
    play_part(
        floats(x.part, 5), floats(x.knots, n), splines(x.turns, n - 1, k), splines(x.rates, n - 1, k),
        floats(x.clock, 6), floats(x.old_knots, old), splines(x.old_turns, old - 1, k), floats(x.old_clock, 6),
        blocks(x.offset, 3, k, 3), x.at, vectors(x.q, k, 4), vectors(x.w, k, 3), vectors(x.dw, k, 3),
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


@kernel
def put_all(body: Any, block: int) -> None:
    """Line 1 of the step: q, w and dw of the part's joints."""
    x = record(block, PART)
    play(block, body.at)
    put_turns(x, vectors(body.q, body.joints, 4))
    joints, w, dw = integers(x.joints, x.count), vectors(body.w, body.joints, 3), vectors(body.dw, body.joints, 3)
    own_w, own_dw = vectors(x.w, x.count, 3), vectors(x.dw, x.count, 3)
    for i in range(x.count):
        for k in range(3):
            w[joints[i], k] = own_w[i, k]
            dw[joints[i], k] = own_dw[i, k]


@law
def give(body: int, block: int) -> None:
    """The part at the body's time."""
    put_all(record(body, BODY), block)


@law
def give_root(body: int, block: int) -> None:
    """A part that moves the root as well."""
    b = record(body, BODY)
    put_all(b, block)
    place_root(record(block, PART), b.at, floats(b.root, 3), floats(b.v, 3), floats(b.a, 3))


@law
def show(body: int, block: int) -> None:
    """The part's pose for somebody who looks."""
    b = record(body, BODY)
    play(block, b.at)
    put_turns(record(block, PART), vectors(b.shown_q, b.joints, 4))


@law
def show_root(body: int, block: int) -> None:
    """The pose of one that moves the root as well."""
    b, x = record(body, BODY), record(block, PART)
    play(block, b.at)
    put_turns(x, vectors(b.shown_q, b.joints, 4))
    place_root(x, b.at, floats(b.shown_root, 3), np.empty(3), np.empty(3))
