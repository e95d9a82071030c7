"""A frame of a body, compiled: given joints where they are at its time, what all of them are asked for, and back."""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.views import blocks, call_with_two, floats, integers, record, vectors
from poise.dynamics.body_kernels import BODY, update_body
from poise.stage.monitor.kernels import measure

KEPT = 10  # numbers a joint that a frame changes and puts back: q, w and dw


@kernel
def record_frame(
    body: int,
    gives: np.ndarray,
    t: float,
    given: np.ndarray,
    gravity: np.ndarray,
    strength: np.ndarray,
    work: np.ndarray,
    kept: np.ndarray,
    place: np.ndarray,
    turns: np.ndarray,
    spins: np.ndarray,
    torque: np.ndarray,
    effort: np.ndarray,
    strained: np.ndarray,
) -> int:
    """Write a frame at time t (s); the body is as it was afterwards, but for where everything is in the world.

    body     the address of its record;  gives (n, 3) laws that give motions, each with body and block
    given, strength, work, strained   see `stage/monitor/kernels.py:measure`
    kept     (KEPT J + 6,) for work
    place    (4, 3): the root, its velocity, the centre of mass and its velocity
    turns (J, 4), spins (J, 3), torque (J, 3), effort (J,)   as in a take

    Returns the number of joints whose overload begins or ends.
    """
    b = record(body, BODY)
    j = b.joints
    q, w, dw = floats(b.q, 4 * j), floats(b.w, 3 * j), floats(b.dw, 3 * j)
    root, v = floats(b.root, 3), floats(b.v, 3)
    _copy(q, kept[: 4 * j])
    _copy(w, kept[4 * j : 7 * j])
    _copy(dw, kept[7 * j : 10 * j])
    _copy(root, kept[10 * j : 10 * j + 3])
    _copy(v, kept[10 * j + 3 :])
    b.at = t
    for k in range(len(gives)):
        call_with_two(gives[k, 0], gives[k, 1], gives[k, 2])
    update_body(b)
    changed = measure(
        integers(b.parents, j), floats(b.masses, j), vectors(b.centers, j, 3), blocks(b.inertias, j, 3, 3),
        blocks(b.R, j, 3, 3), vectors(b.p, j, 3), vectors(b.om, j, 3), vectors(b.w, j, 3), v,
        vectors(b.w_before, j, 3), floats(b.v_before, 3), vectors(b.dw, j, 3), given, vectors(b.torque, j, 3),
        floats(b.damping, j), vectors(b.axial, j, 3), gravity, strength, b.dt, work, torque, effort,
        strained,
    )  # fmt: skip
    _copy(root, place[0])
    _copy(v, place[1])
    _copy(floats(b.c, 3), place[2])
    _copy(floats(b.dc, 3), place[3])
    for i in range(j):
        _copy(q[4 * i : 4 * i + 4], turns[i])
        _copy(w[3 * i : 3 * i + 3], spins[i])
    _copy(kept[: 4 * j], q)
    _copy(kept[4 * j : 7 * j], w)
    _copy(kept[7 * j : 10 * j], dw)
    _copy(kept[10 * j : 10 * j + 3], root)
    _copy(kept[10 * j + 3 :], v)
    return changed


@kernel
def _copy(x: np.ndarray, to: np.ndarray) -> None:
    for i in range(len(x)):
        to[i] = x[i]
