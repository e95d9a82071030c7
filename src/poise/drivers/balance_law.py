"""Balance as a law: see `balance.py` for what it does."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.drivers.balance_kernels import balance, calm_legs, follow, lean_against, move_hips, ride_along
from poise.drivers.balance_record import AIMS, LEGS, MARGIN, TOLD
from poise.drivers.feet_kernels import FLOORS, ask_floors, hold_feet
from poise.drivers.lean_kernels import SHIFT, find_shift
from poise.drivers.taking_part_law import find_part
from poise.dynamics.body_kernels import BODY
from poise.spatial.addresses import blocks, call_with_two, floats, integers, record, tables, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import law
from poise.world.ground_record import GROUND


@law
def follow_clip(body: int, block: int) -> None:
    """What is aimed at, where a clip is followed."""
    b, x = record(body, BODY), record(block, LEGS)
    count = x.way_count
    follow(
        floats(x.way_times, count), vectors(x.way_aims, count, x.way_columns), vectors(x.way_habits, count, 2),
        b.t - x.way_start, floats(x.way_memory, 3), floats(x.aim, AIMS), floats(x.habit, 2),
    )  # fmt: skip


@law
def ride(body: int, block: int) -> None:
    """What is aimed at goes along with ground that moves."""
    b, x = record(body, BODY), record(block, LEGS)
    ride_along(
        record(b.floor, GROUND), b.t, x.way_count > 0, vectors(x.ridden, 2, 3), floats(x.aim, AIMS),
        vectors(x.anchors, 2, 4),
    )  # fmt: skip


@law
def lean_back(body: int, block: int) -> None:
    """How far the hips lean against what the arms do."""
    b, x = record(body, BODY), record(block, LEGS)
    shift = np.empty((3, 3))
    find_shift(b, record(x.shift, SHIFT), vectors(b.q, b.joints, 4), b.t, shift)
    lean_against(b, x, shift)


@kernel
def keep_feet(body: Any, x: Any) -> None:
    """Ask for tiny turns of the hips that keep planted feet where they stand: see `feet_kernels.hold_feet`."""
    j = body.joints
    legs, turns = tables(x.legs, 2, 3), vectors(x.turns, 2, 3)
    hold_feet(
        integers(body.parents, j)[legs[0, 0]], blocks(body.R, j, 3, 3), vectors(body.p, j, 3),
        vectors(body.om, j, 3), vectors(body.vel, j, 3), legs,
        blocks(x.corners, 2, 4, 3), vectors(x.floors, 2, FLOORS), body.dt, floats(x.aim, AIMS),
        vectors(x.anchors, 2, 4), turns,
    )  # fmt: skip
    nudges, nudged = vectors(body.nudges, j, 3), integers(body.nudged, j)
    for side in range(2):
        hip = legs[side, 0]
        nudged[hip] = 1
        for k in range(3):
            nudges[hip, k] = turns[side, k]


@law
def stand(body: int, block: int) -> None:
    """Torques and damping of the legs. Where the balance is lost, the body's `called` says so."""
    b, x = record(body, BODY), record(block, LEGS)
    j = b.joints
    legs, told = tables(x.legs, 2, 3), floats(x.told, TOLD)
    R, p, corners = blocks(b.R, j, 3, 3), vectors(b.p, j, 3), blocks(x.corners, 2, 4, 3)
    floor, floors = record(b.floor, GROUND), vectors(x.floors, 2, FLOORS)
    if x.follow != 0:
        call_with_two(x.follow, body, block)
    if x.ride != 0:
        call_with_two(x.ride, body, block)
    if x.lean_back != 0:
        call_with_two(x.lean_back, body, block)
    move_hips(find_part(x.part, b.t), floats(x.aim, AIMS), vectors(x.hips, 3, 4))
    ask_floors(floor, R, p, legs, corners, floors)
    balance(b, x)
    calm_legs(legs, floats(x.damping, j), floats(x.swing, 2), told, floats(b.damping, j))
    if told[MARGIN] < -x.lost:
        x.lost_at = b.t
        b.called = 1
    if x.lost_at < 0.0:
        keep_feet(b, x)
