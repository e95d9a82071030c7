"""Laws of `Kinematic`: a clip or gesture on some joints of a body, and a live motion (`live.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import blocks, call_with_two, floats, integers, record, splines, vectors
from poise.dynamics.body_kernels import BODY
from poise.motion.playback.kernels import phase_at, play_root
from poise.motion.playback.part_kernels import PERIOD, play_alone, play_part

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
def write(body: int, block: int) -> None:
    """The part at the body's time."""
    put_all(record(body, BODY), block)


@law
def write_root(body: int, block: int) -> None:
    """A part that moves the root as well."""
    b = record(body, BODY)
    put_all(b, block)
    place_root(record(block, PART), b.at, floats(b.root, 3), floats(b.v, 3), floats(b.a, 3))


# As of `LivePlayer`.
FOLLOWER = fields(arrays="joints clock aim fade place slide q w dw", integers="count moves_root")


@kernel
def flow(goal: float, a: float, b: float, c: float, w: float, x: float, fade: float) -> tuple[float, float, float]:
    """s, s' and s'' of one number, x seconds after it set off; fade = e^(-w x)."""
    return (
        goal + (a + x * (b + x * c)) * fade,
        (b - w * a + x * ((2.0 * c - w * b) - x * w * c)) * fade,
        (2.0 * c - 2.0 * w * b + w * w * a + x * ((w * w * b - 4.0 * w * c) + x * w * w * c)) * fade,
    )


@kernel
def play_live(f: Any, t: float) -> None:
    """Rotations and their rates at time t into the part's own q, w and dw."""
    k, clock = f.count, floats(f.clock, 3)
    aim, way = vectors(f.aim, k, 4), blocks(f.fade, 3, k, 4)
    q, w, dw = vectors(f.q, k, 4), vectors(f.w, k, 3), vectors(f.dw, k, 3)
    x, pole = t - clock[0], clock[1]
    fade = np.exp(-pole * x)
    s, d, e = np.empty(4), np.empty(4), np.empty(4)
    for j in range(k):
        for i in range(4):
            s[i], d[i], e[i] = flow(aim[j, i], way[0, j, i], way[1, j, i], way[2, j, i], pole, x, fade)
        # w = 2 s* s' / |s|^2,  dw = 2 s* s'' / |s|^2 - 2 (s . s') w / |s|^2      (vector parts)
        norm = s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + s[3] * s[3]
        g = 2.0 * (s[0] * d[0] + s[1] * d[1] + s[2] * d[2] + s[3] * d[3]) / norm
        for i in range(3):
            a, b = (i + 1) % 3 + 1, (i + 2) % 3 + 1
            w[j, i] = 2.0 / norm * (s[0] * d[i + 1] - d[0] * s[i + 1] - (s[a] * d[b] - s[b] * d[a]))
            dw[j, i] = 2.0 / norm * (s[0] * e[i + 1] - e[0] * s[i + 1] - (s[a] * e[b] - s[b] * e[a])) - g * w[j, i]
        for i in range(4):
            q[j, i] = s[i] / np.sqrt(norm)


@kernel
def place_live_root(f: Any, t: float, root: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    """The root's place, velocity and acceleration at time t."""
    place, way, clock = floats(f.place, 3), vectors(f.slide, 3, 3), floats(f.clock, 3)
    x, pole = t - clock[0], clock[1]
    for i in range(3):
        root[i], v[i], a[i] = flow(place[i], way[0, i], way[1, i], way[2, i], pole, x, np.exp(-pole * x))


@law
def write_live(body: int, block: int) -> None:
    """Line 1 of the step: q, w and dw of the joints, and the root if it moves that."""
    b, f = record(body, BODY), record(block, FOLLOWER)
    play_live(f, b.at)
    joints = integers(f.joints, f.count)
    q, w, dw = vectors(b.q, b.joints, 4), vectors(b.w, b.joints, 3), vectors(b.dw, b.joints, 3)
    own_q, own_w, own_dw = vectors(f.q, f.count, 4), vectors(f.w, f.count, 3), vectors(f.dw, f.count, 3)
    for i in range(f.count):
        for k in range(4):
            q[joints[i], k] = own_q[i, k]
        for k in range(3):
            w[joints[i], k] = own_w[i, k]
            dw[joints[i], k] = own_dw[i, k]
    if f.moves_root == 1:
        place_live_root(f, b.at, floats(b.root, 3), floats(b.v, 3), floats(b.a, 3))
