"""The law of a transition: what is left of how joints moved before, on top of the motion that was written."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import blocks, floats, integers, record, vectors
from poise.dynamics.body_kernels import BODY
from poise.motion.playback.part_kernels import die_away, take_over

# As of `Transition`; span (2,): when it began, and how long it takes.
TRANSITION = fields(arrays="joints offset root span", integers="count moves_root")
_STEP = 5e-4  # s, by which the rates of the motion look ahead


@law
def add(body: int, block: int) -> None:
    """Turn the joints by what is left at the time that motions are asked for, and move the root."""
    b, x = record(body, BODY), record(block, TRANSITION)
    span = floats(x.span, 2)
    if b.at > span[0] + span[1] + _STEP:
        return
    j, k = b.joints, x.count
    joints, q, w, dw = integers(x.joints, k), vectors(b.q, j, 4), vectors(b.w, j, 3), vectors(b.dw, j, 3)
    own_q, own_w, own_dw = np.empty((k, 4)), np.empty((k, 3)), np.empty((k, 3))
    for i in range(k):
        own_q[i], own_w[i], own_dw[i] = q[joints[i]], w[joints[i]], dw[joints[i]]
    take_over(_part(span), blocks(x.offset, 3, k, 3), b.at, own_q, own_w, own_dw)
    for i in range(k):
        q[joints[i]], w[joints[i]], dw[joints[i]] = own_q[i], own_w[i], own_dw[i]
    if x.moves_root == 1:
        now = _root_at(x, b.at)
        before, after = _root_at(x, b.at - _STEP), _root_at(x, b.at + _STEP)
        root, v, a = floats(b.root, 3), floats(b.v, 3), floats(b.a, 3)
        for c in range(3):
            root[c] += now[c]
            v[c] += (after[c] - before[c]) / (2.0 * _STEP)
            a[c] += (after[c] - 2.0 * now[c] + before[c]) / (_STEP * _STEP)


@kernel
def _part(span: np.ndarray) -> np.ndarray:
    """(5,) as `take_over` reads it."""
    return np.array([0.0, np.nan, 0.0, span[0], span[1]])


@kernel
def _root_at(x: Any, t: float) -> np.ndarray:
    """(3,) m, what is left at time t of how far the root was off."""
    span, root = floats(x.span, 2), vectors(x.root, 3, 3)
    place, speed, push = die_away((t - span[0]) / span[1])
    return place * root[0] + span[1] * (speed * root[1] + span[1] * push * root[2])
