"""Balance as a law: see `balance.py` for what it does."""

from __future__ import annotations

from typing import Any

from poise.drivers.balance_kernels import AIMS, MARGIN, TOLD, balance, calm_legs, follow, ride_along
from poise.drivers.feet_kernels import FLOORS, ask_floors, hold_feet
from poise.dynamics.body_kernels import BODY
from poise.spatial.addresses import blocks, call_with_two, floats, integers, record, tables, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law
from poise.world.ground_record import GROUND

# follow, ride: laws that are called first, where a clip is followed and where the ground moves; 0: they are not
LEGS = fields(
    arrays="""
        legs limb corners inertia aim habit gains told damping swing anchors turns
        spots bearing hull loads floors ridden
        way_times way_aims way_habits way_memory
    """,
    integers="follow ride way_count way_columns",
    floats="lost lost_at way_start",
)


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


@kernel
def keep_feet(body: Any, x: Any) -> None:
    """Ask for tiny turns of the hips that keep planted feet where they stand: see `feet_kernels.hold_feet`."""
    j = body.joints
    legs, turns = tables(x.legs, 2, 3), vectors(x.turns, 2, 3)
    hold_feet(
        blocks(body.R, j, 3, 3), vectors(body.p, j, 3), vectors(body.om, j, 3), vectors(body.vel, j, 3), legs,
        blocks(x.corners, 2, 4, 3), vectors(x.floors, 2, FLOORS), body.dt, vectors(x.anchors, 2, 4), turns,
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
    legs, told, torque = tables(x.legs, 2, 3), floats(x.told, TOLD), vectors(b.torque, j, 3)
    R, p, corners = blocks(b.R, j, 3, 3), vectors(b.p, j, 3), blocks(x.corners, 2, 4, 3)
    floor, floors = record(b.floor, GROUND), vectors(x.floors, 2, FLOORS)
    if x.follow != 0:
        call_with_two(x.follow, body, block)
    if x.ride != 0:
        call_with_two(x.ride, body, block)
    ask_floors(floor, R, p, legs, corners, floors)
    balance(
        integers(b.parents, j), floats(b.masses, j), vectors(b.centers, j, 3), R,
        p, vectors(b.om, j, 3), vectors(b.vel, j, 3), floats(b.c, 3), floats(b.dc, 3), legs,
        integers(x.limb, j), corners, vectors(x.inertia, 3, 3), floats(x.aim, AIMS),
        floats(x.habit, 2), floats(x.gains, 13), floors, torque, told, vectors(b.f, j, 3), vectors(b.n, j, 3),
        vectors(x.spots, 8, 3), vectors(x.bearing, 8, 3), vectors(x.hull, 9, 2), floats(x.loads, 8),
    )  # fmt: skip
    calm_legs(legs, floats(x.damping, j), floats(x.swing, 2), told, floats(b.damping, j))
    if told[MARGIN] < -x.lost:
        x.lost_at = b.t
        b.called = 1
    if x.lost_at < 0.0:
        keep_feet(b, x)
