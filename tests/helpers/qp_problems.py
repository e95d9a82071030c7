"""Random problems of accelerations within torque ranges, from plain ones to those that nobody should have."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from poise import Character
from poise.bench.strength import draw_step


class Problem(NamedTuple):
    """What `limit_accelerations` takes."""

    H: np.ndarray
    b: np.ndarray
    low: np.ndarray
    high: np.ndarray
    target: np.ndarray
    goals: tuple[tuple[np.ndarray, np.ndarray], ...]
    weights: np.ndarray


KINDS = ("body", "weak body", "plain", "nonsymmetric", "ill", "many", "all", "tiny", "equal", "huge", "one")


@cache
def human(preset: str) -> Character:
    return Character.human(1.75, 75.0, preset=preset)


def draw(kind: str, rng: np.random.Generator) -> Problem:
    """One of a kind.

    body, weak body  a standing human of 34, 39 or 48 freedoms in a random pose, at its strength and at a fifth of it
    plain            random symmetric inertia, up to 1e3 from light to heavy;  ill: up to 1e7
    nonsymmetric     as where supports share the weight
    many, all        half of all torques, and all of them, out of range at first
    tiny, equal      ranges of a thousandth, and of 1e-9, of the torques
    huge             bias of a million times the ranges
    one              a single freedom
    """
    if kind.endswith("body"):
        preset = str(rng.choice(["mix", "strength", "tracking"]))
        step = draw_step(human(preset), rng, 0.2 if kind.startswith("weak") else 1.0)
        return Problem(*vars(step).values(), np.ones(len(step.b)))
    n = 1 if kind == "one" else int(rng.integers(2, 45))
    H = draw_inertia(n, 10.0 ** rng.uniform(0.0, 7.0 if kind == "ill" else 3.0), rng)
    if kind == "nonsymmetric":
        H = H + 0.2 * rng.normal(size=(n, n))
    target = 10.0 * rng.normal(size=n)
    b = rng.normal(size=n) * np.linalg.norm(H, axis=1)
    t = H @ target + b
    size = np.linalg.norm(H, axis=1) * 10.0
    span = size * rng.uniform(0.1, 1.0, n) * {"tiny": 1e-3, "equal": 1e-9}.get(kind, 1.0)
    shift = {"many": 1.0, "all": 4.0, "huge": 1e6}.get(kind, 0.5)
    middle = t + shift * size * (rng.choice([-1.0, 1.0], n) if kind in ("all", "huge") else rng.normal(size=n))
    weights = 10.0 ** rng.uniform(-0.5, 0.5, n)
    return Problem(H, b, middle - span, middle + span, target, draw_goals(n, rng), weights)


def draw_inertia(n: int, spread: float, rng: np.random.Generator) -> np.ndarray:
    """Symmetric, positive, from 1 to `spread`."""
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    H = turn @ np.diag(np.geomspace(1.0, spread, n)) @ turn.T
    return np.asarray(0.5 * (H + H.T))


def draw_goals(n: int, rng: np.random.Generator) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Up to three levels of up to four rows: some zero, some twice, some of an earlier level again."""
    goals: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(rng.integers(1, 4)):
        m = int(rng.integers(0, 5))
        A, y = rng.normal(size=(m, n)), 20.0 * rng.normal(size=m)
        odd = rng.integers(0, 4)
        if m and odd == 0:
            A[-1] = A[0]
        elif m and odd == 1 and goals and len(goals[0][0]):
            A[0] = goals[0][0][0]
        elif m and odd == 2:
            A[0] = 0.0
        goals.append((A, y))
    return tuple(goals)
