"""Counterpoise as laws: `counterpoise.py` says what it does."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.drivers.lean_kernels import SHIFT, SIDEWAYS, find_shift, lean_by
from poise.drivers.taking_part import PELVIS_BOW
from poise.drivers.taking_part_law import find_part
from poise.dynamics.body_kernels import BODY
from poise.motion.body_track import BOW, CHEST_YAW, PELVIS_YAW
from poise.motion.part_kernels import multiply, rotate_back, set_exp
from poise.spatial.addresses import call_with_two, floats, integers, record, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

# joints  (K,);  pose (K, 4) what they hold where no motion is played
# shares  (K, 2) how much of the spine's lean and of the pelvis' each joint turns by
# rates   (2,) rad per m of the spine and the pelvis, which lean by `most` rad at most
# base, base_shown, base_block: laws of a motion that they play, and its block; 0: none
COUNTERPOISE = fields(
    arrays="joints pose shares rates", integers="count base base_shown base_block shift part", floats="most"
)


@kernel
def find_leans(b: Any, x: Any, q: np.ndarray, t: float, leans: np.ndarray) -> None:
    """How far the spine and the pelvis lean, (2, 3, 3): rotation vectors and their first and second derivatives.

    Of chest axes: x points to the left, z ahead. With what they take part in a gesture by.
    """
    shift, rates = np.empty((3, 3)), floats(x.rates, 2)
    leans[:] = 0.0
    moves = find_part(x.part, t)
    for n in range(3):
        leans[1, n, 0], leans[1, n, 1] = PELVIS_BOW * moves[n, BOW], moves[n, PELVIS_YAW]
        leans[0, n, 0], leans[0, n, 1] = moves[n, BOW] - leans[1, n, 0], moves[n, CHEST_YAW] - moves[n, PELVIS_YAW]
    if x.shift == 0:
        return
    find_shift(b, record(x.shift, SHIFT), q, t, shift)
    for k in range(2):
        back = lean_by(rates[k], x.most, shift[0, 2], shift[1, 2], shift[2, 2])
        aside = lean_by(SIDEWAYS * rates[k], x.most, shift[0, 0], shift[1, 0], shift[2, 0])
        for n in range(3):
            leans[k, n, 0] -= back[n]
            leans[k, n, 2] += aside[n]


@law
def give(body: int, block: int) -> None:
    """Where the joints are without the lean, and the lean on top, with velocities and accelerations."""
    b, x = record(body, BODY), record(block, COUNTERPOISE)
    j, k = b.joints, x.count
    joints, pose, shares = integers(x.joints, k), vectors(x.pose, k, 4), vectors(x.shares, k, 2)
    q, w, dw = vectors(b.q, j, 4), vectors(b.w, j, 3), vectors(b.dw, j, 3)
    if x.base != 0:
        call_with_two(x.base, body, x.base_block)
    else:
        for n in range(k):
            for c in range(4):
                q[joints[n], c] = pose[n, c]
            for c in range(3):
                w[joints[n], c] = dw[joints[n], c] = 0.0
    leans, e, turn, out = np.empty((2, 3, 3)), np.empty((3, 3)), np.empty(4), np.empty(4)
    find_leans(b, x, q, b.at, leans)
    for n in range(k):
        i = joints[n]
        for r in range(3):
            for c in range(3):
                e[r, c] = shares[n, 0] * leans[0, r, c] + shares[n, 1] * leans[1, r, c]
        set_exp(e[0], turn)
        multiply(q[i], turn, out)
        for c in range(4):
            q[i, c] = out[c]
        wx, wy, wz = rotate_back(turn, w[i, 0], w[i, 1], w[i, 2])
        ax, ay, az = rotate_back(turn, dw[i, 0], dw[i, 1], dw[i, 2])
        # own rates of a small turn: e' - e x e' / 2, and its derivative
        px, py, pz = _bend(e[0], e[1])
        sx, sy, sz = _bend(e[0], e[2])
        w[i, 0], w[i, 1], w[i, 2] = wx + px, wy + py, wz + pz
        dw[i, 0] = ax + sx + wy * pz - wz * py
        dw[i, 1] = ay + sy + wz * px - wx * pz
        dw[i, 2] = az + sz + wx * py - wy * px


@law
def show(body: int, block: int) -> None:
    """The pose for somebody who looks."""
    b, x = record(body, BODY), record(block, COUNTERPOISE)
    j, k = b.joints, x.count
    joints, pose, shares, q = (
        integers(x.joints, k),
        vectors(x.pose, k, 4),
        vectors(x.shares, k, 2),
        vectors(b.shown_q, j, 4),
    )
    if x.base_shown != 0:
        call_with_two(x.base_shown, body, x.base_block)
    else:
        for n in range(k):
            for c in range(4):
                q[joints[n], c] = pose[n, c]
    leans, e, turn, out = np.empty((2, 3, 3)), np.empty(3), np.empty(4), np.empty(4)
    find_leans(b, x, q, b.at, leans)
    for n in range(k):
        for c in range(3):
            e[c] = shares[n, 0] * leans[0, 0, c] + shares[n, 1] * leans[1, 0, c]
        set_exp(e, turn)
        multiply(q[joints[n]], turn, out)
        for c in range(4):
            q[joints[n], c] = out[c]


@kernel
def _bend(e: np.ndarray, rate: np.ndarray) -> tuple[float, float, float]:
    """The right Jacobian of rotations times a rate, for a small rotation vector e: rate - e x rate / 2."""
    return (
        rate[0] - 0.5 * (e[1] * rate[2] - e[2] * rate[1]),
        rate[1] - 0.5 * (e[2] * rate[0] - e[0] * rate[2]),
        rate[2] - 0.5 * (e[0] * rate[1] - e[1] * rate[0]),
    )
