"""A motion that comes as it is made, on some joints of a body, as laws: see `live.py` for what is followed how."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.dynamics.body_kernels import BODY
from poise.spatial.addresses import blocks, floats, integers, record, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

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
def play(f: Any, t: float) -> None:
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
def place_root(f: Any, t: float, root: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    """The root's place, velocity and acceleration at time t."""
    place, way, clock = floats(f.place, 3), vectors(f.slide, 3, 3), floats(f.clock, 3)
    x, pole = t - clock[0], clock[1]
    for i in range(3):
        root[i], v[i], a[i] = flow(place[i], way[0, i], way[1, i], way[2, i], pole, x, np.exp(-pole * x))


@law
def give(body: int, block: int) -> None:
    """Line 1 of the step: q, w and dw of the joints, and the root if it moves that."""
    b, f = record(body, BODY), record(block, FOLLOWER)
    play(f, b.at)
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
        place_root(f, b.at, floats(b.root, 3), floats(b.v, 3), floats(b.a, 3))


@law
def show(body: int, block: int) -> None:
    """The pose for somebody who looks."""
    b, f = record(body, BODY), record(block, FOLLOWER)
    play(f, b.at)
    joints, q, own = integers(f.joints, f.count), vectors(b.shown_q, b.joints, 4), vectors(f.q, f.count, 4)
    for i in range(f.count):
        for k in range(4):
            q[joints[i], k] = own[i, k]
    if f.moves_root == 1:
        place_root(f, b.at, floats(b.shown_root, 3), np.empty(3), np.empty(3))
