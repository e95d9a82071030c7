"""Balance, compiled, and its law `stand`. `balance.py` says what it does; the letters are those of its header."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import law
from poise.compiled.views import blocks, call_with_two, floats, integers, record, tables, vectors
from poise.drivers.balance.foot_kernels import (
    DOWN,
    FLOORS,
    LEVEL,
    LEVEL_AT,
    ask_floors,
    find_bearing,
    find_highest,
    find_pressure,
    hold_feet,
    level,
    place_soles,
    press,
    put_down,
    steepness,
)
from poise.drivers.balance.settings import (
    AIMS,
    CATCH,
    CATCH_DAMPING,
    CENTER_PULL,
    CENTER_SPEED,
    CENTER_X,
    CENTER_Z,
    CORNERS,
    CROUCH,
    EDGE,
    FORCE,
    FRICTION,
    GAINS,
    GRAVITY,
    HABIT,
    HEIGHT,
    HIP_SPEED,
    HOLD,
    HOME,
    LEAN,
    LEAN_DAMPING,
    LEAN_STEADY,
    LEG_TORQUE,
    LEGS,
    LIFTING,
    MARGIN,
    MASS,
    MOMENT,
    OFF,
    PRESSURE,
    RISE,
    RISE_DAMPING,
    RISING,
    SINK,
    SPIN,
    SWAY,
    SWAY_DAMPING,
    SWAY_STEADY,
    TOLD,
    TURN,
)
from poise.drivers.balance.support_kernels import clamp_to_hull, find_hull, hull_margin, share_feet, share_load
from poise.drivers.counterpoise.kernels import SHIFT, SIDEWAYS, find_part, find_shift_now, lean_by
from poise.drivers.counterpoise.taking_part import PELVIS_BOW
from poise.drivers.loose.kernels import left_over
from poise.dynamics.body_kernels import BODY, add_to_parent, turn
from poise.motion.body_track import BOW, PELVIS_YAW
from poise.motion.body_track import HEIGHT as HIGHER
from poise.world.ground.kernels import move_ground
from poise.world.ground.record import GROUND

# Of the height of the centre of mass: how far the capture point goes before the hips' spring begins to give way to the
# law that catches a fall, and where it has given way. Arms at their liveliest stay below the first.
ALARM = (0.03, 0.06)
RISEN = 0.04  # m: a corner of a sole this high is in the air; below, the foot is pressed down again
# Where nothing is wrong: what either foot carries at least, of the load, and how far a pressure centre goes, of each
# sole about its middle. A foot that carries less is dragged along by its leg, and comes up.
LEAST, INNER = 0.2, 0.6
# Of the weight: a foot that carries less may slide.
IDLE = 0.15
ROLLING = 0.04  # s, the time constant of a pressure centre where a clip is followed: quicker, feet roll and slam
# Of the friction at the corner that is furthest out: all that may be asked of it to turn the body, and where a clip is
# followed.
TWISTING = (0.7, 0.45)
TILTED = 0.3  # 1/rad: a tilt of the hips by 0.1 rad alarms as much as the capture point at 0.03 of the height
SINKING, RISING_AGAIN = 0.15, 3.0  # s
# Of the way to critical, that the damping of tilting hips goes for who is asked for more than both feet can give: all
# of it shakes those whose trunk hangs on springs until they fall, nothing lets giants with heavy hands slide.
CALMER = 0.4
MOST_LEAN = 0.10  # rad, to either side: hips of people who reach out with both arms lean no further
FADING = 0.6  # s, in which hips that begin to lean, or whose arms take up a load, go there
BEND = 0.5  # rad: hips bent this far from where they should be are not bent further to save the balance


@kernel
def balance(b: Any, x: Any) -> None:
    """Torques at hips, knees and ankles that put the wanted force on the centre of mass.

    b  a body's record, x its legs'
    """
    count, size = _find_support(b, x)
    force = _find_force(b, x, size)
    _press_down(b, x, count, force)


@kernel
def _find_support(b: Any, x: Any) -> tuple[int, int]:
    """The polygon that the soles carry on into x.hull, and how far inside it the centre of mass is.

    Returns how many corners carry, and how many the polygon has.
    """
    j = b.joints
    c, told, floors = floats(b.c, 3), floats(x.told, TOLD), vectors(x.floors, 2, FLOORS)
    spots, bearing, hull = vectors(x.spots, 8, 3), vectors(x.bearing, 8, 3), vectors(x.hull, 9, 2)
    corners = blocks(x.corners, 2, 4, 3)
    low = place_soles(blocks(b.R, j, 3, 3), vectors(b.p, j, 3), tables(x.legs, 2, 3), corners, floors, spots, bearing)
    size = find_hull(bearing, len(bearing), hull)
    told[MARGIN] = hull_margin(hull, size, c[0], c[2])
    count = find_bearing(spots, floors, RISEN, max(0.0, low), bearing)
    if count < 8:
        size = find_hull(bearing, count, hull)
    told[CORNERS] = count
    _shrink(hull, size, 1.0 - floats(x.gains, GAINS)[EDGE])
    return count, size


@kernel
def _find_force(b: Any, x: Any, size: int) -> tuple[float, float, float, float, float]:
    """The ground's force on the soles that does what is wanted, as far as the polygon of `size` corners allows.

    It and the point where it acts are told. Returns its x, y and z (N), the moment about the vertical (N m), and the
    friction that there is for it.
    """
    j = b.joints
    parents, R, p = integers(b.parents, j), blocks(b.R, j, 3, 3), vectors(b.p, j, 3)
    om, v, c, dc = vectors(b.om, j, 3), vectors(b.vel, j, 3), floats(b.c, 3), floats(b.dc, 3)
    gains, aim, habit = floats(x.gains, GAINS), floats(x.aim, AIMS), floats(x.habit, 2)
    inertia, floors, hull = vectors(x.inertia, 3, 3), vectors(x.floors, 2, FLOORS), vectors(x.hull, 9, 2)
    told, lean, part = floats(x.told, TOLD), floats(x.lean, 6), vectors(x.hips, 3, 4)

    # F = m (a* - g): what the centre of mass should do, as a force of the ground
    hips = parents[tables(x.legs, 2, 3)[0, 0]]
    mass = gains[MASS]
    habit[0] += b.dt * gains[HABIT] * (c[0] - p[hips, 0] - habit[0])
    habit[1] += b.dt * gains[HABIT] * (c[2] - p[hips, 2] - habit[1])
    ux, uz = v[hips, 0] - aim[HIP_SPEED], v[hips, 2] - aim[HIP_SPEED + 1]
    # Who is asked for more than both feet can give, as of late, is damped as well as can be
    slow = gains[SWAY_DAMPING] + told[CROUCH] * (gains[SWAY_STEADY] - gains[SWAY_DAMPING])
    calm = gains[LEAN_DAMPING] + CALMER * told[CROUCH] * (gains[LEAN_STEADY] - gains[LEAN_DAMPING])
    fx = -mass * (gains[SWAY] * (p[hips, 0] + habit[0] - aim[CENTER_X]) + slow * ux)
    fz = -mass * (gains[SWAY] * (p[hips, 2] + habit[1] - aim[CENTER_Z]) + slow * uz)
    ex, ey, ez = _turn_error(R[hips], aim)
    ex, ey, ez = ex + lean[0] + part[0, 1], ey + lean[1] + part[0, 2], ez + lean[2] + part[0, 3]
    tilt = np.sqrt(ex * ex + ez * ez)
    # The further the capture point c + c'/w has gone, the more the centre of mass itself is what matters,
    # and the more the hips tilt, the less they tell of it.
    h = c[1] - 0.5 * (floors[0, LEVEL_AT] + floors[1, LEVEL_AT])
    lag = np.sqrt(h / gains[GRAVITY])
    ux, uz = dc[0] - aim[CENTER_SPEED], dc[2] - aim[CENTER_SPEED + 1]
    gone = np.sqrt((c[0] + lag * ux - aim[CENTER_X]) ** 2 + (c[2] + lag * uz - aim[CENTER_Z]) ** 2) / h
    gone = max(gone, TILTED * tilt)
    u = min(max((gone - ALARM[0]) / (ALARM[1] - ALARM[0]), 0.0), 1.0)
    u = u * u * (3.0 - 2.0 * u)
    held = max(u, gains[HOLD])
    if x.follow != 0:  # the clip says how the hips turn: they give way first
        u = 1.0
    fx += held * (-mass * (gains[CATCH] * (c[0] - aim[CENTER_X]) + gains[CATCH_DAMPING] * ux) - fx)
    fz += held * (-mass * (gains[CATCH] * (c[2] - aim[CENTER_Z]) + gains[CATCH_DAMPING] * uz) - fz)
    fx += mass * aim[CENTER_PULL]
    fz += mass * aim[CENTER_PULL + 1]
    high = aim[HEIGHT] + part[0, 0] - told[CROUCH] * gains[SINK]
    rising, lifting = aim[RISING] + part[1, 0], aim[LIFTING] + part[2, 0]
    lift = gains[RISE] * (high - p[hips, 1]) + gains[RISE_DAMPING] * (rising - v[hips, 1]) + lifting
    fy = mass * max(0.2 * gains[GRAVITY], min(2.0 * gains[GRAVITY], gains[GRAVITY] + lift))

    # M: what should turn the hips upright, about the centre of mass
    ahead = 1.0 / np.sqrt(gains[LEAN])
    wx, wy, wz = (
        aim[SPIN] + lean[3] + part[1, 1] - om[hips, 0],
        aim[SPIN + 1] + lean[4] + part[1, 2] - om[hips, 1],
        aim[SPIN + 2] + lean[5] + part[1, 3] - om[hips, 2],
    )
    tilt_x, tilt_z = ex + ahead * wx, ez + ahead * wz
    ex = gains[LEAN] * ex + calm * wx + part[2, 1]
    ey = gains[LEAN] * ey + gains[LEAN_STEADY] * wy + part[2, 2]
    ez = gains[LEAN] * ez + calm * wz + part[2, 3]
    mx = inertia[0, 0] * ex + inertia[0, 1] * ey + inertia[0, 2] * ez + aim[MOMENT]
    my = inertia[1, 0] * ex + inertia[1, 1] * ey + inertia[1, 2] * ez + aim[MOMENT + 1]
    mz = inertia[2, 0] * ex + inertia[2, 1] * ey + inertia[2, 2] * ez + aim[MOMENT + 2]

    # The ground can give this force only through a point of the soles:  M = (s - c) x F
    sx = c[0] - (h * fx - mz) / fy
    sz = c[2] - (h * fz + mx) / fy
    ax, az = clamp_to_hull(hull, size, sx, sz)
    if x.follow == 0 and told[CORNERS] == 8 and gains[EDGE] >= 0.0:
        # where a fall would be caught from, by the law above
        catch = 1.0 + u * gains[CATCH] * lag * lag
        kx = aim[CENTER_X] + catch * (c[0] + lag * ux - aim[CENTER_X])
        kz = aim[CENTER_Z] + catch * (c[2] + lag * uz - aim[CENTER_Z])
        ax, az = _keep_both_down(vectors(x.spots, 8, 3), vectors(x.inner, 4, 2), kx, kz, sx, sz)
        ax, az = clamp_to_hull(hull, size, ax, az)
        # Who is asked for more bends his knees: a straight leg is a strut that takes its foot along
        asked = min(1.0, np.sqrt((ax - sx) ** 2 + (az - sz) ** 2) / (ALARM[0] * h))
        told[CROUCH] += b.dt * (asked - told[CROUCH]) / (SINKING if asked > told[CROUCH] else RISING_AGAIN)
    if x.follow != 0 and told[FORCE + 1] > 0.0:  # not the first step
        lag = b.dt / (b.dt + ROLLING)
        ax = told[PRESSURE] + lag * (ax - told[PRESSURE])
        az = told[PRESSURE + 1] + lag * (az - told[PRESSURE + 1])
    # Where it cannot, the moment gives way first, down to bending at the hips the other way while they are not bent
    # far: s_x = c_x - (h F_x - M_z) / F_y,  s_z = c_z - (h F_z + M_x) / F_y.  The rest is taken from the force.
    # How far is judged by where they will be: a bend that is under way needs as much room again to be stopped.
    wanted = mz + (ax - sx) * fy
    given, missing = _give_way(mz, wanted, inertia[2, 2] * gains[LEAN], tilt_z)
    fx += (missing + (1.0 - u) * (mz - given)) / h
    wanted = mx - (az - sz) * fy
    given, missing = _give_way(mx, wanted, inertia[0, 0] * gains[LEAN], tilt_x)
    fz -= (missing + (1.0 - u) * (mx - given)) / h
    # On a slope of tangent s the cone of friction leans: what is left of it uphill is (m - s) / (1 + m s)
    steep = steepness(floors)
    friction = max(0.0, (gains[FRICTION] - steep) / (1.0 + gains[FRICTION] * steep))
    most = friction * fy
    sideways = np.sqrt(fx * fx + fz * fz)
    if sideways > most:
        fx *= most / sideways
        fz *= most / sideways

    told[FORCE], told[FORCE + 1], told[FORCE + 2] = fx, fy, fz
    told[PRESSURE], told[PRESSURE + 1] = ax, az
    return fx, fy, fz, my, friction


@kernel
def lean_against(b: Any, x: Any, shift: np.ndarray) -> None:
    """How far the hips are to lean against the arms' shift (2, 3) m and m/s, chest axes, into x.lean.

    Arms that go forward have them lean back, arms that go to a side to the other side.
    """
    j, lean, fading = b.joints, floats(x.lean, 6), floats(x.fading, 4)
    R = blocks(b.R, j, 3, 3)
    hips = R[integers(b.parents, j)[tables(x.legs, 2, 3)[0, 0]]]
    size = np.sqrt(hips[0, 2] ** 2 + hips[2, 2] ** 2)
    # forward and left on the ground; for hips that lie there is no forward
    fx, fz = (hips[0, 2] / size, hips[2, 2] / size) if size > 0.1 else (0.0, 0.0)
    x0, _, z0 = turn(R[x.chest], shift[0])
    x1, _, z1 = turn(R[x.chest], shift[1])
    back, backing, _ = lean_by(x.counter_lean, MOST_LEAN, fx * x0 + fz * z0, fx * x1 + fz * z1, 0.0)
    aside, siding, _ = lean_by(SIDEWAYS * x.counter_lean, MOST_LEAN, fz * x0 - fx * z0, fz * x1 - fx * z1, 0.0)
    # about left (fz, 0, -fx) by -back, and about forward (fx, 0, fz) by aside
    lean[0], lean[1], lean[2] = fx * aside - fz * back, 0.0, fz * aside + fx * back
    lean[3], lean[4], lean[5] = fx * siding - fz * backing, 0.0, fz * siding + fx * backing
    u = min(max((b.t - fading[0]) / FADING, 0.0), 1.0)
    if u < 1.0:
        left, rate = (1.0 - u) ** 3 * (1.0 + 3.0 * u + 6.0 * u * u), -30.0 * u * u * (1.0 - u) ** 2 / FADING
        for k in range(3):
            lean[k] -= left * fading[1 + k]
            lean[3 + k] -= rate * fading[1 + k]


@kernel
def move_hips(moves: np.ndarray, aim: np.ndarray, hips: np.ndarray) -> None:
    """How far hips that take part are to be from where they are aimed at (3, 4): see `TakingPart`."""
    w, x, y, z = aim[TURN], aim[TURN + 1], aim[TURN + 2], aim[TURN + 3]
    # forward on the ground; they bow about their left, (fz, 0, -fx)
    fx, fz = 2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y)
    size = max(np.sqrt(fx * fx + fz * fz), 0.1)
    for n in range(3):
        bow = PELVIS_BOW * moves[n, BOW]
        hips[n, 0], hips[n, 1], hips[n, 2], hips[n, 3] = (
            moves[n, HIGHER],
            fz / size * bow,
            moves[n, PELVIS_YAW],
            -fx / size * bow,
        )


@kernel
def _keep_both_down(
    spots: np.ndarray, inner: np.ndarray, kx: float, kz: float, sx: float, sz: float
) -> tuple[float, float]:
    """The pressure centre nearest to (sx, sz) that leaves a load on either foot, and the tips of their soles alone.

    It is within a quadrangle about the line between the middles of the soles, which ends at `LEAST` from either, as
    wide as `INNER` of the soles; moved, where (kx, kz) is outside, as far as to have it inside: no fall goes uncaught
    for the sake of flat feet.

    inner  (4, 2) for work
    """
    mx, mz, ox, oz = 0.0, 0.0, 0.0, 0.0
    for k in range(4):
        mx, mz = mx + 0.25 * spots[k, 0], mz + 0.25 * spots[k, 2]
        ox, oz = ox + 0.25 * spots[4 + k, 0], oz + 0.25 * spots[4 + k, 2]
    dx, dz = ox - mx, oz - mz
    far = np.sqrt(dx * dx + dz * dz)
    if far < 1e-6:
        return sx, sz
    nx, nz = -dz / far, dx / far
    for side in range(2):
        at_x, at_z = (mx, mz) if side == 0 else (ox, oz)
        low, high = 0.0, 0.0
        for k in range(4):
            across = nx * (spots[4 * side + k, 0] - at_x) + nz * (spots[4 * side + k, 2] - at_z)
            low, high = min(low, across), max(high, across)
        toward = LEAST if side == 0 else -LEAST
        at_x, at_z = at_x + toward * dx, at_z + toward * dz
        # counter-clockwise: low and high of the first, high and low of the second
        first, last = (0, 3) if side == 0 else (1, 2)
        inner[first, 0], inner[first, 1] = at_x + INNER * low * nx, at_z + INNER * low * nz
        inner[last, 0], inner[last, 1] = at_x + INNER * high * nx, at_z + INNER * high * nz
    tx, tz = clamp_to_hull(inner, 4, kx, kz)
    tx, tz = kx - tx, kz - tz
    ax, az = clamp_to_hull(inner, 4, sx - tx, sz - tz)
    return ax + tx, az + tz


@kernel
def _press_down(b: Any, x: Any, count: int, force: tuple[float, float, float, float, float]) -> None:
    """Share a force of `_find_force` among the corners that carry, and hand it up the legs: torques of their joints."""
    fx, fy, fz, my, friction = force
    f, n = vectors(b.f, b.joints, 3), vectors(b.n, b.joints, 3)
    floors, told = vectors(x.floors, 2, FLOORS), floats(x.told, TOLD)
    spots, bearing, loads = vectors(x.spots, 8, 3), vectors(x.bearing, 8, 3), floats(x.loads, 8)
    ax, az = told[PRESSURE], told[PRESSURE + 1]

    # Corners share the load evenly; the sideways force goes with it, and the turn about the vertical as far as it may
    follows = x.follow != 0
    flat = share_feet(spots, fy, ax, az, loads) if count == 8 and not follows else 0.0
    if flat < 1.0:
        share_load(bearing, count, fy, ax, az, loads, flat)
    for i in range(b.joints):
        for k in range(3):
            f[i, k] = 0.0
            n[i, k] = 0.0
    left, lx, lz = find_pressure(bearing, count, 0, loads)
    right, rx, rz = find_pressure(bearing, count, 1, loads)
    if follows:  # legs are planned for a turn about the pressure centre of both
        lx, lz, rx, rz = ax, az, ax, az
    spread, reach = 1e-9, 1e-9
    for i in range(count):
        x0, z0 = (lx, lz) if bearing[i, 2] < 4.0 else (rx, rz)
        square = (bearing[i, 0] - x0) ** 2 + (bearing[i, 1] - z0) ** 2
        spread += loads[i] * square
        if loads[i] > 0.0:
            reach = max(reach, square)
    # No corner is asked for more than a share of its friction: feet that turn on the ground would not turn back
    most = max(0.0, TWISTING[1 if follows else 0] * friction - np.sqrt(fx * fx + fz * fz) / fy) / np.sqrt(reach)
    twist = min(max(my / spread, -most), most)
    for side in range(2):
        carried, x0, z0 = (left, lx, lz) if side == 0 else (right, rx, rz)
        press(b, x, side, count, (fx / fy, fz / fy, twist, friction), (x0, z0))
        idle = max(0.0, 1.0 - carried / fy / IDLE)
        high = find_highest(spots, floors, side)
        told[OFF + side] = min(max(high / DOWN - 1.0, 0.0), 1.0)
        if idle > 0.0 or high > DOWN:
            put_down(b, x, side, idle)
    _hand_up(b, x)
    _turn_joints(b, x)


@kernel
def _turn_joints(b: Any, x: Any) -> None:
    """Add torques that lay feet on the floor, those planned with a clip, and what is left of the balance before."""
    j, legs, corners, floors = b.joints, tables(x.legs, 2, 3), blocks(x.corners, 2, 4, 3), vectors(x.floors, 2, FLOORS)
    R, torque = blocks(b.R, j, 3, 3), vectors(b.torque, j, 3)
    gains, aim, handed = floats(x.gains, GAINS), floats(x.aim, AIMS), floats(x.handed, 20)
    remains = left_over(handed[:2], b.t)
    for side in range(2):
        level(legs[side, 2], R, corners[side], floors[side], LEVEL * gains[MASS] * gains[GRAVITY], torque)
        if x.follow != 0:
            for k in range(9):
                torque[legs[side, k // 3], k % 3] += aim[LEG_TORQUE + 9 * side + k]
        if remains > 0.0:
            for k in range(9):
                torque[legs[side, k // 3], k % 3] += remains * handed[2 + 9 * side + k]


@kernel
def _shrink(hull: np.ndarray, size: int, scale: float) -> None:
    """Draw a polygon's corners towards their middle."""
    x, z = 0.0, 0.0
    for i in range(size):
        x += hull[i, 0] / size
        z += hull[i, 1] / size
    for i in range(size):
        hull[i, 0] = x + scale * (hull[i, 0] - x)
        hull[i, 1] = z + scale * (hull[i, 1] - z)


@kernel
def calm_legs(legs: np.ndarray, calm: np.ndarray, swing: np.ndarray, told: np.ndarray, damping: np.ndarray) -> None:
    """Damping (J,) N m s/rad of the legs' joints.

    calm   (J,) of each
    swing  (2,) of the ankles of feet that are not flat on the ground: they swing on what levels them
    """
    for side in range(2):
        damping[legs[side, 0]] = calm[legs[side, 0]]
        damping[legs[side, 1]] = calm[legs[side, 1]]
        foot = legs[side, 2]
        damping[foot] = calm[foot]
        damping[foot] = max(damping[foot], told[OFF + side] * swing[side])


@kernel
def _hand_up(b: Any, x: Any) -> None:
    """Sum what the legs carry, their own weight with it, from the feet up; torque at hips, knees and ankles."""
    j, gravity = b.joints, floats(x.gains, GAINS)[GRAVITY]
    parents, masses, centers = integers(b.parents, j), floats(b.masses, j), vectors(b.centers, j, 3)
    R, p, f, n = blocks(b.R, j, 3, 3), vectors(b.p, j, 3), vectors(b.f, j, 3), vectors(b.n, j, 3)
    legs, limb, torque = tables(x.legs, 2, 3), integers(x.limb, j), vectors(b.torque, j, 3)
    for i in range(j - 1, 0, -1):
        side = limb[i]
        if side < 0:
            continue
        cx, _, cz = turn(R[i], centers[i])
        weight = masses[i] * gravity
        f[i, 1] += weight
        n[i, 0] -= cz * weight
        n[i, 2] += cx * weight
        if i in (legs[side, 0], legs[side, 1], legs[side, 2]):
            for a in range(3):
                torque[i, a] = n[i, a]
        add_to_parent(parents[i], i, p, f, n)


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
        aim[i if i < HOME else i - HOME + LEG_TORQUE] = (1.0 - u) * aims[k, i] + u * aims[k + 1, i]
    norm = np.sqrt(aim[TURN] ** 2 + aim[TURN + 1] ** 2 + aim[TURN + 2] ** 2 + aim[TURN + 3] ** 2)
    for i in range(4):
        aim[TURN + i] /= norm
    if t < times[0] or t > times[-1]:
        for i in range(CENTER_SPEED, n):
            aim[i if i < HOME else i - HOME + LEG_TORQUE] = 0.0
    for i in range(2):
        now = (1.0 - u) * habits[k, i] + u * habits[k + 1, i]
        if memory[0] > 0.0:
            habit[i] += now - memory[1 + i]
        memory[1 + i] = now
    memory[0] = 1.0


@kernel
def ride_along(floor: Any, t: float, is_fresh: bool, ridden: np.ndarray, aim: np.ndarray, anchors: np.ndarray) -> None:
    """Carry along, on a ground that moves, what a balance aims at, at time t (s). Level or not, still ground is left.

    is_fresh  whether the aim was just written, by `follow`, as if the ground were still where it was at the beginning
    ridden    (2, 3) m, where the ground was at the beginning, and when this was last called; followed here
    anchors   see `hold_feet`
    """
    if floor.moves == 0:
        return
    move_ground(floor, t)
    dx, dz = floor.shift[0] - ridden[1, 0], floor.shift[2] - ridden[1, 2]
    for i in range(8):
        aim[HOME + 2 * i] += dx
        aim[HOME + 2 * i + 1] += dz
    for side in range(2):
        anchors[side, 0] += dx
        anchors[side, 1] += dz
    since = 0 if is_fresh else 1
    if not is_fresh:
        for k in range(CENTER_SPEED, SPIN):
            aim[k] = 0.0
    for place, axis in ((CENTER_X, 0), (CENTER_Z, 2), (HEIGHT, 1)):
        aim[place] += floor.shift[axis] - ridden[since, axis]
    for place, axis in ((CENTER_SPEED, 0), (CENTER_SPEED + 1, 2), (HIP_SPEED, 0), (HIP_SPEED + 1, 2), (RISING, 1)):
        aim[place] += floor.speed[axis]
    for place, axis in ((CENTER_PULL, 0), (CENTER_PULL + 1, 2), (LIFTING, 1)):
        aim[place] += floor.pull[axis]
    for k in range(3):
        ridden[1, k] = floor.shift[k]


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
    shift = np.empty((2, 3))
    find_shift_now(b, record(x.shift, SHIFT), x.chest, shift)
    lean_against(b, x, shift)


@kernel
def keep_feet(body: Any, x: Any) -> None:
    """Ask for tiny turns of the hips that keep planted feet where they stand: see
    `drivers/balance/foot_kernels.py:hold_feet`.
    """
    j = body.joints
    legs, turns = tables(x.legs, 2, 3), vectors(x.turns, 2, 3)
    hold_feet(body, x)
    nudges, nudged = vectors(body.nudges, j, 3), integers(body.nudged, j)
    for side in range(2):
        hip = legs[side, 0]
        nudged[hip] = 1
        for k in range(3):
            nudges[hip, k] = turns[side, k]


@law
def stand(body: int, block: int) -> None:
    """Write torques and damping of the legs, and `request` once the balance is lost."""
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
        b.request = 1
    if x.lost_at < 0.0:
        keep_feet(b, x)
