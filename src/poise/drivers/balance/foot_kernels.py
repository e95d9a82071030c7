"""Feet under a balance, compiled: where their soles are, what they press on the ground with, and what holds them there.

spots    (8, 3) m, corners of both soles in the world
bearing  (8, 3): x, z and number of those that carry, first
floors   (2, FLOORS) what is under each sole, as `ask_floors` found it: a plane for the sole to rest on (its height at
         the sole's middle, its normal, its height at each corner), the floor's own height under each corner, and the
         velocity of the ground there. On level ground all of these heights are the ground's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.views import blocks, floats, integers, tables, vectors
from poise.drivers.balance.settings import AIMS, HOME
from poise.dynamics.body_kernels import turn
from poise.world.ground.kernels import find_floor, ground_velocity

# m: a foot's levelling torque, as a share of the body's weight, for a radian of tilt, up to STEEP rad.
LEVEL, STEEP = 0.1, 0.3
# 1/s: how fast a sole in the air is brought back; of a leg's mass: what so moves with its foot, a rod about its end.
LANDING, LEG_SHARE = 15.0, 0.33
PINNED = 2.0
DOWN, SLIP = 0.003, 0.005  # m and m/s: corners below and slower than this are planted
# s, some times 1/b of what `hold_feet` says (MuJoCo's contacts have b = 2 / timeconst, 200/s);
# m/s: what is faster slides
DRIFT, FASTEST = 0.02, 0.1
HARDLY, AWAY = 1e-6, 0.02  # m: feet that slid by more and by less than this from where they are to stand go back
# Where each number is in a row of `floors`.
LEVEL_AT, NORMAL, PLANE, UNDER, VELOCITY, FLOORS = 0, 1, 4, 8, 12, 15
# Tangent of how far a foot turns with the floor: ankles allow some 20 degrees sideways, and more forward.
STEEPEST = 0.36


@kernel
def ask_floors(
    floor: Any, R: np.ndarray, p: np.ndarray, legs: np.ndarray, corners: np.ndarray, floors: np.ndarray
) -> float:
    """What is under each sole into floors; returns the height (m) midway between the lower and the higher plane.

    A sole rests on the highest of what is under its corners and its middle, turned as that is on average. What is
    higher than its ankle is beside a foot and not under it.
    """
    if floor.find == 0:
        # what all that follows comes to, in a fraction of the time
        height = floor.height
        for side in range(2):
            for k in range(FLOORS):
                floors[side, k] = height if k == LEVEL_AT or PLANE <= k < VELOCITY else 0.0
            floors[side, NORMAL + 1] = 1.0
        return height
    lowest, highest = np.inf, -np.inf
    for side in range(2):
        foot, row = legs[side, 2], floors[side]
        ask_floor(floor, R[foot], p[foot], corners[side], p[foot, 1], row)
        lowest, highest = min(lowest, row[LEVEL_AT]), max(highest, row[LEVEL_AT])
    return 0.5 * (lowest + highest)


@kernel
def ask_floor(floor: Any, R: np.ndarray, p: np.ndarray, corners: np.ndarray, below: float, row: np.ndarray) -> float:
    """What is under one sole into row (FLOORS,); returns how far (m) below its plane the floor is somewhere under it.

    R (3, 3), p (3,) of the foot; corners (4, 3); below (m): what is higher is not under the foot
    """
    mx, mz = 0.0, 0.0
    for k in range(4):
        x, _, z = turn(R, corners[k])
        mx, mz = mx + 0.25 * (p[0] + x), mz + 0.25 * (p[2] + z)
    middle, nx, ny, nz = find_floor(floor, mx, mz, below)
    for k in range(4):
        x, _, z = turn(R, corners[k])
        height, ax, ay, az = find_floor(floor, p[0] + x, p[2] + z, below)
        if height > below:
            height, ax, ay, az = middle, 0.0, 0.0, 0.0
        row[UNDER + k] = height
        nx, ny, nz = nx + ax, ny + ay, nz + az
    rise_x, rise_z = -nx / ny, -nz / ny
    steep = np.sqrt(rise_x * rise_x + rise_z * rise_z)
    if steep > STEEPEST:
        rise_x, rise_z = rise_x * STEEPEST / steep, rise_z * STEEPEST / steep
    size = np.sqrt(1.0 + rise_x * rise_x + rise_z * rise_z)
    row[NORMAL], row[NORMAL + 1], row[NORMAL + 2] = -rise_x / size, 1.0 / size, -rise_z / size
    level, gap = middle, 0.0
    for k in range(4):
        x, _, z = turn(R, corners[k])
        row[PLANE + k] = rise_x * (p[0] + x - mx) + rise_z * (p[2] + z - mz)
        level = max(level, row[UNDER + k] - row[PLANE + k])
    for k in range(4):
        row[PLANE + k] += level
        gap = max(gap, row[PLANE + k] - row[UNDER + k])
    row[LEVEL_AT] = level
    row[VELOCITY], row[VELOCITY + 1], row[VELOCITY + 2] = ground_velocity(floor, mx, mz)
    return max(gap, level - middle)


@kernel
def steepness(floors: np.ndarray) -> float:
    """Tangent of the steeper plane's tilt: 0 for level ones."""
    least = min(floors[0, NORMAL + 1], floors[1, NORMAL + 1])
    return np.sqrt(max(0.0, 1.0 - least * least)) / least


@kernel
def place_soles(
    R: np.ndarray,
    p: np.ndarray,
    legs: np.ndarray,
    corners: np.ndarray,
    floors: np.ndarray,
    spots: np.ndarray,
    bearing: np.ndarray,
) -> float:
    """Corners of the soles into spots and bearing; returns how high above the floor the lowest is."""
    low = np.inf
    for side in range(2):
        foot = legs[side, 2]
        for k in range(4):
            i = 4 * side + k
            x, y, z = turn(R[foot], corners[side, k])
            spots[i, 0], spots[i, 1], spots[i, 2] = p[foot, 0] + x, p[foot, 1] + y, p[foot, 2] + z
            bearing[i, 0], bearing[i, 1], bearing[i, 2] = spots[i, 0], spots[i, 2], i
            low = min(low, spots[i, 1] - floors[side, UNDER + k])
    return low


@kernel
def find_bearing(spots: np.ndarray, floors: np.ndarray, risen: float, low: float, bearing: np.ndarray) -> int:
    """Corners lower than risen + low (m) over the floor under them into bearing; returns how many.

    One that has risen far carries nothing. If all have, those that are lowest count: the body is in the air.
    """
    count = 0
    for i in range(8):
        if spots[i, 1] < floors[i // 4, UNDER + i % 4] + risen + low:
            bearing[count, 0], bearing[count, 1], bearing[count, 2] = spots[i, 0], spots[i, 2], i
            count += 1
    return count


@kernel
def find_pressure(bearing: np.ndarray, count: int, side: int, loads: np.ndarray) -> tuple[float, float, float]:
    """What one sole carries (N), and x and z of its pressure centre."""
    carried, x, z = 0.0, 0.0, 0.0
    for i in range(count):
        if int(bearing[i, 2]) // 4 == side:
            carried, x, z = carried + loads[i], x + loads[i] * bearing[i, 0], z + loads[i] * bearing[i, 1]
    if carried <= 0.0:
        return 0.0, 0.0, 0.0
    return carried, x / carried, z / carried


@kernel
def press(
    b: Any, x: Any, side: int, count: int, push: tuple[float, float, float, float], about: tuple[float, float]
) -> None:
    """Add what the corners of one sole press on the ground with to its foot's force and moment.

    count  corners that carry
    push   sideways force along x and z, a part of the load; the same (1/m) about the vertical; and the friction
    about  m, x and z of the sole's pressure centre
    """
    fx, fz, twist, friction = push
    ax, az = about
    foot, j = tables(x.legs, 2, 3)[side, 2], b.joints
    spots, bearing, loads = vectors(x.spots, 8, 3), vectors(x.bearing, 8, 3), floats(x.loads, 8)
    p, f, n = vectors(b.p, j, 3)[foot], vectors(b.f, j, 3)[foot], vectors(b.n, j, 3)[foot]
    carried, sum_x, sum_z, turn_x, turn_y, turn_z = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        corner, load = int(bearing[i, 2]), loads[i]
        if corner // 4 != side:
            continue
        # (0, twist, 0) x r has components (twist rz, 0, -twist rx)
        tx = load * (fx + twist * (bearing[i, 1] - az))
        tz = load * (fz - twist * (bearing[i, 0] - ax))
        most, sideways = friction * load, tx * tx + tz * tz
        if sideways > most * most:
            tx *= most / np.sqrt(sideways)
            tz *= most / np.sqrt(sideways)
        rx, ry, rz = spots[corner, 0] - p[0], spots[corner, 1] - p[1], spots[corner, 2] - p[2]
        carried, sum_x, sum_z = carried + load, sum_x + tx, sum_z + tz
        turn_x += ry * tz - rz * load
        turn_y += rz * tx - rx * tz
        turn_z += rx * load - ry * tx
    # tau = ... - sum of r x f: the legs hand the ground's force on to the hips
    f[0], f[1], f[2] = f[0] - sum_x, f[1] - carried, f[2] - sum_z
    n[0], n[1], n[2] = n[0] - turn_x, n[1] - turn_y, n[2] - turn_z


@kernel
def find_highest(spots: np.ndarray, floors: np.ndarray, side: int) -> float:
    """m, the height of a sole's highest corner over the plane that it is to rest on."""
    highest = -np.inf
    for k in range(4):
        highest = max(highest, spots[4 * side + k, 1] - floors[side, PLANE + k])
    return highest


@kernel
def put_down(b: Any, x: Any, side: int, idle: float) -> None:
    """Bring a sole back to where it stood, and down: nothing else holds a foot that carries no load.

    idle  1 for a foot that carries nothing, 0 for one that stands firm

    It is damped by the ankle's speed and not by the corners': their torque on so light a foot, a step late, is more
    than steps of 10 ms can bear. Its turning is damped by the joint, within the engine's step.
    """
    foot, j = tables(x.legs, 2, 3)[side, 2], b.joints
    limb, masses, aim = integers(x.limb, j), floats(b.masses, j), floats(x.aim, AIMS)
    spots, floors = vectors(x.spots, 8, 3), vectors(x.floors, 2, FLOORS)
    p, v, f, n = vectors(b.p, j, 3), vectors(b.vel, j, 3), vectors(b.f, j, 3), vectors(b.n, j, 3)
    vx, vy, vz = floors[side, VELOCITY], floors[side, VELOCITY + 1], floors[side, VELOCITY + 2]
    mass = 0.0
    for i in range(len(limb)):
        if limb[i] == side:
            mass += 0.25 * LEG_SHARE * masses[i]
    for i in range(4 * side, 4 * side + 4):
        rx, ry, rz = spots[i, 0] - p[foot, 0], spots[i, 1] - p[foot, 1], spots[i, 2] - p[foot, 2]
        px, py, pz = 0.0, 0.0, 0.0
        high = spots[i, 1] - floors[side, PLANE + i % 4] - DOWN
        if high > 0.0:
            py = -max(0.0, mass * (LANDING * LANDING * high + 2.0 * LANDING * (v[foot, 1] - vy)))
        if idle > 0.0:
            px = (
                idle
                * mass
                * (LANDING * LANDING * (aim[HOME + 2 * i] - spots[i, 0]) - 2.0 * LANDING * (v[foot, 0] - vx))
            )
            away = aim[HOME + 2 * i + 1] - spots[i, 2]
            pz = idle * mass * (LANDING * LANDING * away - 2.0 * LANDING * (v[foot, 2] - vz))
        # what moves the foot, as the ground's force on it does the other way round
        f[foot, 0] += px
        f[foot, 1] += py
        f[foot, 2] += pz
        n[foot, 0] += ry * pz - rz * py
        n[foot, 1] += rz * px - rx * pz
        n[foot, 2] += rx * py - ry * px


@kernel
def level(
    foot: int, R: np.ndarray, corners: np.ndarray, floors: np.ndarray, stiffness: float, torque: np.ndarray
) -> None:
    """Turn a foot towards its floor: one that carries little would else stay on its heel. A flat foot feels nothing.

    floors  (FLOORS,) the foot's own row
    """
    ax, ay, az = corners[1, 0] - corners[0, 0], corners[1, 1] - corners[0, 1], corners[1, 2] - corners[0, 2]
    bx, by, bz = corners[2, 0] - corners[0, 0], corners[2, 1] - corners[0, 1], corners[2, 2] - corners[0, 2]
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    x = R[foot, 0, 0] * nx + R[foot, 0, 1] * ny + R[foot, 0, 2] * nz
    y = R[foot, 1, 0] * nx + R[foot, 1, 1] * ny + R[foot, 1, 2] * nz
    z = R[foot, 2, 0] * nx + R[foot, 2, 1] * ny + R[foot, 2, 2] * nz
    size = np.sqrt(x * x + y * y + z * z)
    if size == 0.0:
        return
    if y < 0.0:
        size = -size
    # normal x the floor's: the axis and sine of the turn that lays the sole on it; (-z, 0, x) on level ground
    ux, uy, uz = floors[NORMAL], floors[NORMAL + 1], floors[NORMAL + 2]
    tx, ty, tz = y * uz - z * uy, z * ux - x * uz, x * uy - y * ux
    sine = np.sqrt(tx * tx + ty * ty + tz * tz) / abs(size)
    k = stiffness * min(1.0, STEEP / max(sine, 1e-12)) / size
    torque[foot, 0] += k * tx
    torque[foot, 1] += k * ty
    torque[foot, 2] += k * tz


@kernel
def _square(x: np.ndarray) -> float:
    return x[0] * x[0] + x[1] * x[1] + x[2] * x[2]


@kernel
def _find_home(side: int, R: np.ndarray, corners: np.ndarray, aim: np.ndarray, anchors: np.ndarray) -> None:
    """Where a foot that stands again is to stand: at home, if it has slid from there by less than `AWAY`.

    What has moved by less than `HARDLY` is there.
    """
    hx, hz, turned, square, n = 0.0, 0.0, 0.0, 1e-12, HOME + 8 * side
    for k in range(4):
        hx, hz = hx + 0.25 * aim[n + 2 * k], hz + 0.25 * aim[n + 2 * k + 1]
    mx, _, mz = turn(R, 0.25 * (corners[0] + corners[1] + corners[2] + corners[3]))
    for k in range(4):
        x, _, z = turn(R, corners[k])
        x, z = x - mx, z - mz
        turned += z * (aim[n + 2 * k] - hx) - x * (aim[n + 2 * k + 1] - hz)
        square += x * x + z * z
    turned /= square
    off = max(np.sqrt((hx - anchors[side, 0]) ** 2 + (hz - anchors[side, 1]) ** 2), 0.1 * abs(turned))
    if HARDLY < off < AWAY:
        anchors[side, 0], anchors[side, 1], anchors[side, 2] = hx, hz, anchors[side, 2] + turned


@kernel
def hold_feet(b: Any, x: Any) -> None:
    """Write tiny turns (2, 3) rad of the hips, world axes, that bring planted feet back to where they stand.

    anchors  (2, 4): x, z and heading of each sole, and whether it is planted (1) or fixed for good (`PINNED`); followed
             here

    An engine that holds contacts by J v' = -b J v lacks the acceleration J' v of a moving leg, and so lets a planted
    foot drift at J' v / b, whatever the friction: some millimetres a minute under a beating arm, some centimetres a
    second under hips that turn at 4 rad/s. A foot whose corners are all down and move no faster than that, with `SLIP`
    to spare, is put back as fast; one that slides is let go.
    """
    j, legs, aim = b.joints, tables(x.legs, 2, 3), floats(x.aim, AIMS)
    R, p, om, v = blocks(b.R, j, 3, 3), vectors(b.p, j, 3), vectors(b.om, j, 3), vectors(b.vel, j, 3)
    corners, floors = blocks(x.corners, 2, 4, 3), vectors(x.floors, 2, FLOORS)
    anchors, turns, hips = vectors(x.anchors, 2, 4), vectors(x.turns, 2, 3), integers(b.parents, j)[legs[0, 0]]
    for side in range(2):
        hip, foot = legs[side, 0], legs[side, 2]
        turns[side, 0], turns[side, 1], turns[side, 2] = 0.0, 0.0, 0.0
        heading = np.arctan2(R[foot, 0, 2], R[foot, 2, 2])
        slip, above = SLIP, hips
        for k in range(3):
            slip += DRIFT * _square(om[above]) * np.sqrt(_square(p[legs[side, k]] - p[above]))
            above = legs[side, k]
        slip = min(slip, FASTEST)
        high, fast = 0.0, 0.0
        sx, sy, sz = p[foot, 0], p[foot, 1], p[foot, 2]  # the middle of the sole
        for k in range(4):
            cx, cy, cz = turn(R[foot], corners[side, k])
            sx, sy, sz = sx + 0.25 * cx, sy + 0.25 * cy, sz + 0.25 * cz
            high = max(high, p[foot, 1] + cy - floors[side, PLANE + k])
            vx = v[foot, 0] + om[foot, 1] * cz - om[foot, 2] * cy - floors[side, VELOCITY]
            vz = v[foot, 2] + om[foot, 0] * cy - om[foot, 1] * cx - floors[side, VELOCITY + 2]
            fast = max(fast, vx * vx + vz * vz)
        planted = anchors[side, 3] == PINNED or (high < DOWN and fast < slip * slip)
        if anchors[side, 3] == 0.0 or not planted:
            anchors[side, 0], anchors[side, 1], anchors[side, 2] = sx, sz, heading
            anchors[side, 3] = 1.0 if planted else 0.0
            if planted:
                _find_home(side, R[foot], corners[side], aim, anchors)
            continue
        most = slip * b.dt
        dx = min(max(anchors[side, 0] - sx, -most), most)
        dz = min(max(anchors[side, 1] - sz, -most), most)
        turned = min(max(anchors[side, 2] - heading, -10.0 * most), 10.0 * most)
        rx, ry, rz = sx - p[hip, 0], sy - p[hip, 1], sz - p[hip, 2]
        square = rx * rx + ry * ry + rz * rz
        # t x r = d has the smallest solution t = r x d / r^2 where d is across r
        turns[side, 0] = ry * dz / square
        turns[side, 1] = (rz * dx - rx * dz) / square + turned
        turns[side, 2] = -ry * dx / square
