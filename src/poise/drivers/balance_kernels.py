"""The law of balance, compiled. `balance.py` says what it does; the letters are those of its header."""

from __future__ import annotations

import numpy as np

from poise.drivers.support_kernels import clamp_to_hull, find_hull, hull_margin, share_load
from poise.dynamics.instant import add_to_parent, turn
from poise.spatial.compile import kernel

# Where each number is in `gains`: 1/s2 and 1/s of the wanted accelerations, and the limits of the soles.
(
    SWAY,
    SWAY_DAMPING,
    RISE,
    RISE_DAMPING,
    LEAN,
    LEAN_DAMPING,
    FRICTION,
    EDGE,
    MASS,
    GRAVITY,
    HABIT,
    CATCH,
    CATCH_DAMPING,
) = range(13)
# Of the height of the centre of mass: how far the capture point goes before the hips' spring begins to give way to the
# law that catches a fall, and where it has given way. Arms at their liveliest stay below the first.
ALARM = (0.03, 0.06)
TILTED = 0.3  # 1/rad: a tilt of the hips by 0.1 rad alarms as much as the capture point at 0.03 of the height
BEND = 0.5  # rad: hips bent this far from where they should be are not bent further to save the balance
# m: a foot's levelling torque, as a share of the body's weight, for a radian of tilt, up to STEEP rad.
LEVEL, STEEP = 0.1, 0.3
RISEN = 0.04  # m: a corner of a sole this high is in the air; below, the foot is pressed down again
# 1/s: how fast a sole in the air is brought back; of a leg's mass: what so moves with its foot, a rod about its end;
# of the weight: a foot that carries less may slide.
LANDING, LEG_SHARE, IDLE = 15.0, 0.33, 0.15
PINNED = 2.0
DOWN, SLIP = 0.003, 0.005  # m and m/s: corners below and slower than this are planted
# Where each number is in `aim`: centre of mass over the ground, hip height, hip orientation, and their speeds.
CENTER_X, CENTER_Z, HEIGHT, TURN = 0, 1, 2, 3
# Zero for a stance that is held. x and z of the centre of mass's velocity, of the hips', of the centre's acceleration;
# rate of the hips' height and upward acceleration of the centre; angular velocity of the hips; rate of the angular
# momentum. World axes.
CENTER_SPEED, HIP_SPEED, CENTER_PULL, RISING, LIFTING, SPIN, MOMENT = 7, 9, 11, 13, 14, 15, 18
# x and z of the corners of the soles: where they are to stand.
HOME = 21
AIMS = 37
# Where each number is in `told`: force, pressure centre, margin of the centre of mass, corners that carry.
FORCE, PRESSURE, MARGIN, CORNERS = 0, 3, 5, 6


@kernel
def balance(
    parents: np.ndarray,
    masses: np.ndarray,
    centers: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    om: np.ndarray,
    v: np.ndarray,
    c: np.ndarray,
    dc: np.ndarray,
    legs: np.ndarray,
    limb: np.ndarray,
    corners: np.ndarray,
    inertia: np.ndarray,
    aim: np.ndarray,
    habit: np.ndarray,
    gains: np.ndarray,
    ground: float,
    torque: np.ndarray,
    told: np.ndarray,
    f: np.ndarray,
    n: np.ndarray,
    spots: np.ndarray,
    bearing: np.ndarray,
    hull: np.ndarray,
    loads: np.ndarray,
) -> None:
    """Torques at hips, knees and ankles that put the wanted force on the centre of mass.

    c, dc     (3,) centre of mass and its velocity
    legs      (2, 3) joints: hip, knee, ankle of the left and the right
    limb      (J,) 0 or 1: the leg that a body is in; -1 for others
    corners   (2, 4, 3) m, of the soles in the feet's frames
    inertia   (3, 3) kg m2, of the whole body about its centre of mass, world axes
    habit     (2,) m, x and z from the hips to the centre of mass, as of late: followed here
    torque    (J, 3) N m in world axes: written at the six joints
    f, n, spots, bearing, hull, loads   (J, 3), (J, 3), (8, 3), (8, 3), (9, 2), (8,) for work: corners of the soles in
              the world; x, z and number of those that carry; what is round them; how much each carries
    """
    low = np.inf
    for side in range(2):
        foot = legs[side, 2]
        for k in range(4):
            i = 4 * side + k
            x, y, z = turn(R[foot], corners[side, k])
            spots[i, 0], spots[i, 1], spots[i, 2] = p[foot, 0] + x, p[foot, 1] + y, p[foot, 2] + z
            bearing[i, 0], bearing[i, 1], bearing[i, 2] = spots[i, 0], spots[i, 2], i
            low = min(low, spots[i, 1] - ground)
    size = find_hull(bearing, 8, hull)
    told[MARGIN] = hull_margin(hull, size, c[0], c[2])
    # A corner that has risen far carries nothing. If all have, those that are lowest count: the body is in the air.
    reach = RISEN + max(0.0, low)
    count = 0
    for i in range(8):
        if spots[i, 1] - ground < reach:
            bearing[count, 0], bearing[count, 1], bearing[count, 2] = spots[i, 0], spots[i, 2], i
            count += 1
    if count < 8:
        size = find_hull(bearing, count, hull)
    told[CORNERS] = count
    middle_x, middle_z = 0.0, 0.0
    for i in range(size):
        middle_x += hull[i, 0] / size
        middle_z += hull[i, 1] / size
    for i in range(size):
        hull[i, 0] = middle_x + (1.0 - gains[EDGE]) * (hull[i, 0] - middle_x)
        hull[i, 1] = middle_z + (1.0 - gains[EDGE]) * (hull[i, 1] - middle_z)

    # F = m (a* - g): what the centre of mass should do, as a force of the ground
    hips = parents[legs[0, 0]]
    mass = gains[MASS]
    habit[0] += gains[HABIT] * (c[0] - p[hips, 0] - habit[0])
    habit[1] += gains[HABIT] * (c[2] - p[hips, 2] - habit[1])
    ux, uz = v[hips, 0] - aim[HIP_SPEED], v[hips, 2] - aim[HIP_SPEED + 1]
    fx = -mass * (gains[SWAY] * (p[hips, 0] + habit[0] - aim[CENTER_X]) + gains[SWAY_DAMPING] * ux)
    fz = -mass * (gains[SWAY] * (p[hips, 2] + habit[1] - aim[CENTER_Z]) + gains[SWAY_DAMPING] * uz)
    ex, ey, ez = _turn_error(R[hips], aim)
    tilt = np.sqrt(ex * ex + ez * ez)
    # The further the capture point c + c'/w has gone, the more the centre of mass itself is what matters,
    # and the more the hips tilt, the less they tell of it.
    h = c[1] - ground
    lag = np.sqrt(h / gains[GRAVITY])
    ux, uz = dc[0] - aim[CENTER_SPEED], dc[2] - aim[CENTER_SPEED + 1]
    gone = np.sqrt((c[0] + lag * ux - aim[CENTER_X]) ** 2 + (c[2] + lag * uz - aim[CENTER_Z]) ** 2) / h
    gone = max(gone, TILTED * tilt)
    u = min(max((gone - ALARM[0]) / (ALARM[1] - ALARM[0]), 0.0), 1.0)
    u = u * u * (3.0 - 2.0 * u)
    fx += u * (-mass * (gains[CATCH] * (c[0] - aim[CENTER_X]) + gains[CATCH_DAMPING] * ux) - fx)
    fz += u * (-mass * (gains[CATCH] * (c[2] - aim[CENTER_Z]) + gains[CATCH_DAMPING] * uz) - fz)
    fx += mass * aim[CENTER_PULL]
    fz += mass * aim[CENTER_PULL + 1]
    lift = gains[RISE] * (aim[HEIGHT] - p[hips, 1]) + gains[RISE_DAMPING] * (aim[RISING] - v[hips, 1]) + aim[LIFTING]
    fy = mass * max(0.2 * gains[GRAVITY], min(2.0 * gains[GRAVITY], gains[GRAVITY] + lift))

    # M: what should turn the hips upright, about the centre of mass
    ahead = 1.0 / np.sqrt(gains[LEAN])
    tilt_x = ex + ahead * (aim[SPIN] - om[hips, 0])
    tilt_z = ez + ahead * (aim[SPIN + 2] - om[hips, 2])
    ex = gains[LEAN] * ex + gains[LEAN_DAMPING] * (aim[SPIN] - om[hips, 0])
    ey = gains[LEAN] * ey + gains[LEAN_DAMPING] * (aim[SPIN + 1] - om[hips, 1])
    ez = gains[LEAN] * ez + gains[LEAN_DAMPING] * (aim[SPIN + 2] - om[hips, 2])
    mx = inertia[0, 0] * ex + inertia[0, 1] * ey + inertia[0, 2] * ez + aim[MOMENT]
    my = inertia[1, 0] * ex + inertia[1, 1] * ey + inertia[1, 2] * ez + aim[MOMENT + 1]
    mz = inertia[2, 0] * ex + inertia[2, 1] * ey + inertia[2, 2] * ez + aim[MOMENT + 2]

    # The ground can give this force only through a point of the soles:  M = (s - c) x F
    sx = c[0] - (h * fx - mz) / fy
    sz = c[2] - (h * fz + mx) / fy
    ax, az = clamp_to_hull(hull, size, sx, sz)
    # Where it cannot, the moment gives way first, down to bending at the hips the other way while they are not bent
    # far: s_x = c_x - (h F_x - M_z) / F_y,  s_z = c_z - (h F_z + M_x) / F_y.  The rest is taken from the force.
    # How far is judged by where they will be: a bend that is under way needs as much room again to be stopped.
    wanted = mz + (ax - sx) * fy
    mz, missing = _give_way(mz, wanted, inertia[2, 2] * gains[LEAN], tilt_z)
    fx += missing / h
    wanted = mx - (az - sz) * fy
    mx, missing = _give_way(mx, wanted, inertia[0, 0] * gains[LEAN], tilt_x)
    fz -= missing / h
    most = gains[FRICTION] * fy
    sideways = np.sqrt(fx * fx + fz * fz)
    if sideways > most:
        fx *= most / sideways
        fz *= most / sideways

    told[FORCE], told[FORCE + 1], told[FORCE + 2] = fx, fy, fz
    told[PRESSURE], told[PRESSURE + 1] = ax, az

    # Corners share the load evenly; the sideways force goes with it, and the turn about the vertical as far as it may
    share_load(bearing, count, fy, ax, az, loads)
    spread = 1e-9
    for i in range(count):
        spread += loads[i] * ((bearing[i, 0] - ax) ** 2 + (bearing[i, 1] - az) ** 2)
    twist = my / spread
    for i in range(len(parents)):
        for k in range(3):
            f[i, k] = 0.0
            n[i, k] = 0.0
    left, right = 0.0, 0.0
    for i in range(count):
        corner = int(bearing[i, 2])
        left += loads[i] if corner < 4 else 0.0
        right += loads[i] if corner >= 4 else 0.0
        # (0, twist, 0) x r has components (twist rz, 0, -twist rx)
        tx = loads[i] * (fx / fy + twist * (bearing[i, 1] - az))
        tz = loads[i] * (fz / fy - twist * (bearing[i, 0] - ax))
        most, sideways = gains[FRICTION] * loads[i], tx * tx + tz * tz
        if sideways > most * most:
            tx *= most / np.sqrt(sideways)
            tz *= most / np.sqrt(sideways)
        foot = legs[corner // 4, 2]
        rx, ry, rz = spots[corner, 0] - p[foot, 0], spots[corner, 1] - p[foot, 1], spots[corner, 2] - p[foot, 2]
        # tau = ... - sum of r x f: the legs hand the ground's force on to the hips
        f[foot, 0] -= tx
        f[foot, 1] -= loads[i]
        f[foot, 2] -= tz
        n[foot, 0] -= ry * tz - rz * loads[i]
        n[foot, 1] -= rz * tx - rx * tz
        n[foot, 2] -= rx * loads[i] - ry * tx
    for side in range(2):
        idle = max(0.0, 1.0 - (left if side == 0 else right) / fy / IDLE)
        _put_down(side, idle, spots, p, om, v, legs, limb, aim, masses, ground, f, n)
    for i in range(len(parents) - 1, 0, -1):
        if limb[i] < 0:
            continue
        x, y, z = turn(R[i], centers[i])
        weight = masses[i] * gains[GRAVITY]
        f[i, 1] += weight
        n[i, 0] -= z * weight
        n[i, 2] += x * weight
        for k in range(3):
            if legs[limb[i], k] == i:
                for a in range(3):
                    torque[i, a] = n[i, a]
        add_to_parent(parents[i], i, p, f, n)
    for side in range(2):
        _level(legs[side, 2], R, corners[side], LEVEL * mass * gains[GRAVITY], torque)


@kernel
def _level(foot: int, R: np.ndarray, corners: np.ndarray, stiffness: float, torque: np.ndarray) -> None:
    """Turn a foot towards level: one that carries little would else stay on its heel. A level foot feels nothing."""
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
    # normal x up = (-z, 0, x): the axis and sine of the turn that brings the sole level
    sine = np.sqrt(x * x + z * z) / abs(size)
    k = stiffness * min(1.0, STEEP / max(sine, 1e-12)) / size
    torque[foot, 0] -= k * z
    torque[foot, 2] += k * x


@kernel
def _put_down(
    side: int,
    idle: float,
    spots: np.ndarray,
    p: np.ndarray,
    om: np.ndarray,
    v: np.ndarray,
    legs: np.ndarray,
    limb: np.ndarray,
    aim: np.ndarray,
    masses: np.ndarray,
    ground: float,
    f: np.ndarray,
    n: np.ndarray,
) -> None:
    """Bring a sole back to where it stood, and down: nothing else holds a foot that carries no load.

    idle  1 for a foot that carries nothing, 0 for one that stands firm
    """
    foot = legs[side, 2]
    highest = -np.inf
    for k in range(4):
        highest = max(highest, spots[4 * side + k, 1] - ground - DOWN)
    if highest <= 0.0 and idle <= 0.0:
        return
    mass = 0.0
    for i in range(len(limb)):
        if limb[i] == side:
            mass += 0.25 * LEG_SHARE * masses[i]
    for i in range(4 * side, 4 * side + 4):
        x, y, z = spots[i, 0] - p[foot, 0], spots[i, 1] - p[foot, 1], spots[i, 2] - p[foot, 2]
        px, py, pz = 0.0, 0.0, 0.0
        high = spots[i, 1] - ground - DOWN
        if high > 0.0:
            rising = v[foot, 1] + om[foot, 2] * x - om[foot, 0] * z
            py = -max(0.0, mass * (LANDING * LANDING * high + 2.0 * LANDING * rising))
        if idle > 0.0:
            vx = v[foot, 0] + om[foot, 1] * z - om[foot, 2] * y
            vz = v[foot, 2] + om[foot, 0] * y - om[foot, 1] * x
            px = idle * mass * (LANDING * LANDING * (aim[HOME + 2 * i] - spots[i, 0]) - 2.0 * LANDING * vx)
            pz = idle * mass * (LANDING * LANDING * (aim[HOME + 2 * i + 1] - spots[i, 2]) - 2.0 * LANDING * vz)
        # what moves the foot, as the ground's force on it does the other way round
        f[foot, 0] += px
        f[foot, 1] += py
        f[foot, 2] += pz
        n[foot, 0] += y * pz - z * py
        n[foot, 1] += z * px - x * pz
        n[foot, 2] += x * py - y * px


@kernel
def follow(
    times: np.ndarray,
    aims: np.ndarray,
    habits: np.ndarray,
    t: float,
    memory: np.ndarray,
    aim: np.ndarray,
    habit: np.ndarray,
) -> None:
    """The aim at a time of a clip, at rest before and after it; habit goes along with the clip's.

    times (F,), aims (F, n), habits (F, 2); memory (3,): whether it was called before, and with what habit
    """
    last, n = len(times) - 2, aims.shape[1]
    k = int((t - times[0]) / (times[-1] - times[0]) * (last + 1))
    k = min(max(k, 0), last)
    while k > 0 and t < times[k]:
        k -= 1
    while k < last and t >= times[k + 1]:
        k += 1
    u = min(max((t - times[k]) / (times[k + 1] - times[k]), 0.0), 1.0)
    for i in range(n):
        aim[i] = (1.0 - u) * aims[k, i] + u * aims[k + 1, i]
    norm = np.sqrt(aim[TURN] ** 2 + aim[TURN + 1] ** 2 + aim[TURN + 2] ** 2 + aim[TURN + 3] ** 2)
    for i in range(4):
        aim[TURN + i] /= norm
    if t < times[0] or t > times[-1]:
        for i in range(CENTER_SPEED, n):
            aim[i] = 0.0
    for i in range(2):
        now = (1.0 - u) * habits[k, i] + u * habits[k + 1, i]
        if memory[0] > 0.0:
            habit[i] += now - memory[1 + i]
        memory[1 + i] = now
    memory[0] = 1.0


@kernel
def hold_feet(
    R: np.ndarray,
    p: np.ndarray,
    om: np.ndarray,
    v: np.ndarray,
    legs: np.ndarray,
    corners: np.ndarray,
    ground: float,
    dt: float,
    anchors: np.ndarray,
    turns: np.ndarray,
) -> None:
    """Tiny turns (2, 3) rad of the hips, world axes, that bring planted feet back to where they stand.

    anchors  (2, 4): x, z and heading of each sole, and whether it is planted (1) or fixed for good (`PINNED`); followed
             here

    An engine that holds contacts by J v' = -b J v lacks the acceleration J' v of a moving leg, and so lets a planted
    foot drift at J' v / b: some millimetres a minute, whatever the friction. A foot whose corners are all down and
    hardly move is put back, by less than `SLIP` times the step; one that slides is let go.
    """
    for side in range(2):
        hip, foot = legs[side, 0], legs[side, 2]
        turns[side, 0], turns[side, 1], turns[side, 2] = 0.0, 0.0, 0.0
        heading = np.arctan2(R[foot, 0, 2], R[foot, 2, 2])
        high, fast = 0.0, 0.0
        sx, sy, sz = p[foot, 0], p[foot, 1], p[foot, 2]  # the middle of the sole
        for k in range(4):
            x, y, z = turn(R[foot], corners[side, k])
            sx, sy, sz = sx + 0.25 * x, sy + 0.25 * y, sz + 0.25 * z
            high = max(high, p[foot, 1] + y - ground)
            vx = v[foot, 0] + om[foot, 1] * z - om[foot, 2] * y
            vz = v[foot, 2] + om[foot, 0] * y - om[foot, 1] * x
            fast = max(fast, vx * vx + vz * vz)
        planted = anchors[side, 3] == PINNED or (high < DOWN and fast < SLIP * SLIP)
        if anchors[side, 3] == 0.0 or not planted:
            anchors[side, 0], anchors[side, 1], anchors[side, 2] = sx, sz, heading
            anchors[side, 3] = 1.0 if planted else 0.0
            continue
        most = SLIP * dt
        dx = min(max(anchors[side, 0] - sx, -most), most)
        dz = min(max(anchors[side, 1] - sz, -most), most)
        turned = min(max(anchors[side, 2] - heading, -10.0 * most), 10.0 * most)
        rx, ry, rz = sx - p[hip, 0], sy - p[hip, 1], sz - p[hip, 2]
        square = rx * rx + ry * ry + rz * rz
        # t x r = d has the smallest solution t = r x d / r^2 where d is across r
        turns[side, 0] = ry * dz / square
        turns[side, 1] = (rz * dx - rx * dz) / square + turned
        turns[side, 2] = -ry * dx / square


@kernel
def _give_way(moment: float, wanted: float, stiffness: float, tilt: float) -> tuple[float, float]:
    """A moment brought towards what is wanted as far as it may go, and what it still exceeds that by.

    tilt  rad, by which the hips are soon to be turned back about this axis: a moment below 0 adds to it. Half of `BEND`
          away from it a moment may do its worst; beyond `BEND` it has to turn the hips back.
    """
    if moment > wanted:
        most = stiffness * min(max(BEND - tilt, -BEND), BEND)
        found = max(wanted, min(moment, -most))
    else:
        most = stiffness * min(max(BEND + tilt, -BEND), BEND)
        found = min(wanted, max(moment, most))
    return found, found - wanted


@kernel
def _turn_error(R: np.ndarray, aim: np.ndarray) -> tuple[float, float, float]:
    """The turn (rad, world axes) from an orientation to the wanted one, aim[TURN:TURN + 4] wxyz."""
    w, x, y, z = aim[TURN], aim[TURN + 1], aim[TURN + 2], aim[TURN + 3]
    # D = A R^T; its axis times the sine of its angle, from the antisymmetric half
    a00, a01, a02 = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    a10, a11, a12 = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    a20, a21, a22 = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    ex = a20 * R[1, 0] + a21 * R[1, 1] + a22 * R[1, 2] - (a10 * R[2, 0] + a11 * R[2, 1] + a12 * R[2, 2])
    ey = a00 * R[2, 0] + a01 * R[2, 1] + a02 * R[2, 2] - (a20 * R[0, 0] + a21 * R[0, 1] + a22 * R[0, 2])
    ez = a10 * R[0, 0] + a11 * R[0, 1] + a12 * R[0, 2] - (a00 * R[1, 0] + a01 * R[1, 1] + a02 * R[1, 2])
    return 0.5 * ex, 0.5 * ey, 0.5 * ez
