"""Legs under hips that move: feet stay where they are, and slow hips ask little of the legs' masses."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from poise import Balance, Character, Stage
from poise.drivers.balance.planted_legs import _bend, find_leg_torques
from poise.spatial import rotation

LEGS = ("UpperLeg", "LowerLeg", "Foot")


def stand():
    stage = Stage()
    actor = stage.add(Character.human(1.75, 75.0, preset="mix"))
    actor.drive("legs", Balance())
    stage.run(0.01)
    body = actor.body
    body.update()
    legs = np.array([[body.skeleton.index(side + stem) for stem in LEGS] for side in ("left", "right")])
    return body, legs, int(body.tree.parents[legs[0, 0]])


def move(body, hips: int, seconds: float, frames: int = 120):
    t = np.linspace(0.0, seconds, frames)
    u = 0.5 - 0.5 * np.cos(2.0 * np.pi * t / seconds)
    # Knees that are bent throughout: from a straight one the first bend is infinitely fast.
    places = body.p[hips] + [0.0, -0.08, 0.0] + u[:, None] * [0.03, -0.1, 0.02]
    turns = rotation.multiply(rotation.exp(u[:, None] * [0.1, 0.2, 0.05]), body.world_turn(hips))
    return places, turns, (frames - 1) / seconds


def test_feet_stay_under_hips_that_move() -> None:
    body, legs, hips = stand()
    places, turns, _ = move(body, hips, 2.0)
    for leg in legs:
        turned = Rotation.from_quat(turns, scalar_first=True).as_matrix()
        sockets, thighs, shanks = _bend(body, leg, hips, places, turned)
        hip, knee, foot = leg
        ankles = sockets + thighs @ (body.R[hip].T @ (body.p[knee] - body.p[hip]))
        ankles = ankles + shanks @ (body.R[knee].T @ (body.p[foot] - body.p[knee]))
        assert np.abs(ankles - body.p[foot]).max() < 1e-4


def test_what_masses_ask_falls_with_the_square_of_time() -> None:
    body, legs, hips = stand()
    free = np.zeros(len(body.tree))
    quick, slow = (
        np.abs(find_leg_torques(body, legs, *move(body, hips, seconds, n), free)[n // 4 : -n // 4]).max()
        for seconds, n in ((1.0, 40), (2.0, 80))
    )
    assert quick > 1.0 and 3.3 < quick / slow < 4.7
