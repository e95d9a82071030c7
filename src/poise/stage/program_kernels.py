"""The step of the stage for one character, compiled: the same laws in the same order, without Python between them.

A character is a row of addresses (`program.py` writes it): the arrays of its rig, its drivers and its engine. Nothing
is decided here. Every law is the kernel that the readable path of `actor.py` calls.
"""

from __future__ import annotations

import numpy as np

from poise.drivers.balance_kernels import AIMS, MARGIN, balance, calm_legs, follow
from poise.drivers.balance_kernels import TOLD as TOLD_COUNT
from poise.drivers.feet_kernels import FLOORS as FLOOR_COLUMNS
from poise.drivers.feet_kernels import ask_floors, hold_feet
from poise.drivers.servo_kernels import left_over, pull_to_pose
from poise.dynamics.instant import center_of_mass, move_bodies, pose_bodies
from poise.engines.mujoco_kernels import gather_wrenches, nudge, read_body, write_forces
from poise.motion.part_kernels import play_part, pose_part
from poise.spatial.addresses import blocks, call_with_two, flags, floats, integers, records, splines, tables, vectors
from poise.spatial.compile import kernel
from poise.stage.coupling_kernels import PUSH_COLUMNS, add_pushes, couple_exact, hand_to_connectors
from poise.world.floor_kernels import find_floor
from poise.world.ground_record import GROUND

# What is at which place of a character's row.
(
    PARENTS, OFFSETS, MASSES, CENTERS, INERTIAS,
    ROOT, Q, V, W, DW, A, R_, P_, OM, VEL, C_, DC, TORQUE, DAMPING, WRENCH, F_, N_,
    ACCELERATING, TOUCHED, WORK, COUPLING, W_BEFORE, V_BEFORE,
    KIND, QADR, VADR, COUNT, AXES, BUILT, DOF_DAMPING, BODY_QUAT, GIVEN, GIVEN_BODIES,
    LEGS, LIMB, CORNERS, INERTIA, AIM, HABIT, GAINS, TOLD, LEG_DAMPING, SWING, ANCHORS, TURNS,
    SPOTS, BEARING, HULL, LOADS, FLOOR, FLOORS,
    WAY_TIMES, WAY_AIMS, WAY_HABITS, WAY_MEMORY,
    PARTS, SPRINGS, PUSHES, NUMBERS, SIZES, STEP, MODEL, DATA, QPOS, QVEL, WARM, QFRC, BEFORE, AFTER, AHEAD, DESK,
    IS_AWAY, ADDRESSES,
) = range(78)  # fmt: skip
# What is at which place of SIZES (integers) and NUMBERS (floats).
(
    JOINTS, PART_COUNT, SPRING_COUNT, PUSH_COUNT, GIVEN_COUNT, QPOS_SIZE, QVEL_SIZE, BODY_COUNT, IS_BALANCED, HOLDS,
    WAY_COUNT, WAY_COLUMNS, SIZE_COUNT,
) = range(13)  # fmt: skip
DT, GAIN, LOST, STEPS, ORIGIN, LOST_AT, WAY_START, NUMBER_COUNT = range(8)
# A kinematic part's and a spring's row of addresses.
(
    JOINT_LIST, JOINT_COUNT, PART, KNOTS, KNOT_COUNT, PART_TURNS, RATES, CLOCK, OLD_KNOTS, OLD_KNOT_COUNT, OLD_TURNS,
    OLD_CLOCK, OFFSET, PART_Q, PART_W, PART_DW, PART_COLUMNS,
) = range(17)  # fmt: skip
SPRING_JOINTS, SPRING_JOINT_COUNT, STIFFNESS, SPRING_DAMPING, SPRING_AIM, LEAD, LEAD_FADE, SPRING_COLUMNS = range(8)


@kernel
def run_characters(
    rows: np.ndarray,
    first: int,
    last: int,
    steps: int,
    desks: np.ndarray,
    done: np.ndarray,
    status: np.ndarray,
    root: np.ndarray,
    q: np.ndarray,
) -> None:
    """Advance characters first..last-1 by some steps each.

    desks   (D, 5) addresses of this thread's workspaces of the engine, see `mujoco_desk`; none: each has its own
    done    (C,) how many steps each made: fewer if it lost its balance
    status  (C, 4) how it is then: see `look`
    root, q (C, 3), (C, J, 4) its pose then, see `show_characters`; none: nobody wants to know
    """
    mine = np.empty(ADDRESSES, np.int64)
    for i in range(first, last):
        if len(desks) > 0:
            sit_down(rows[i], desks, mine)
            done[i] = run_character(mine, steps)
            get_up(mine, done[i])
        else:
            done[i] = run_character(rows[i], steps)
        look(rows[i], status[i])
        if len(root) > 0:
            show_characters(rows, i, i + 1, root, q)


@kernel
def sit_down(row: np.ndarray, desks: np.ndarray, mine: np.ndarray) -> None:
    """Bring a character's state to a desk; mine becomes its row there."""
    for k in range(ADDRESSES):
        mine[k] = row[k]
    for k in range(5):
        mine[DATA + k] = desks[row[DESK], k]
    mine[IS_AWAY] = 1
    sizes = integers(row[SIZES], SIZE_COUNT)
    nq, nv = sizes[QPOS_SIZE], sizes[QVEL_SIZE]
    qpos, qvel, warm = floats(mine[QPOS], nq), floats(mine[QVEL], nv), floats(mine[WARM], nv)
    if integers(row[AHEAD], 1)[0] > 0:
        after = floats(row[AFTER], nq + 2 * nv)
        _copy_some(after, 0, qpos, 0, nq)
        _copy_some(after, nq, qvel, 0, nv)
        _copy_some(after, nq + nv, warm, 0, nv)
    else:
        _copy_some(floats(row[QPOS], nq), 0, qpos, 0, nq)
        _copy_some(floats(row[QVEL], nv), 0, qvel, 0, nv)
        _copy_some(floats(row[WARM], nv), 0, warm, 0, nv)


@kernel
def remember(row: np.ndarray) -> None:
    """What the step that comes is a function of: `mujoco_desk` makes it again if somebody looks."""
    sizes = integers(row[SIZES], SIZE_COUNT)
    nq, nv = sizes[QPOS_SIZE], sizes[QVEL_SIZE]
    before = floats(row[BEFORE], nq + 3 * nv)
    _copy_some(floats(row[QPOS], nq), 0, before, 0, nq)
    _copy_some(floats(row[QVEL], nv), 0, before, nq, nv)
    _copy_some(floats(row[WARM], nv), 0, before, nq + nv, nv)
    _copy_some(floats(row[QFRC], nv), 0, before, nq + 2 * nv, nv)


@kernel
def get_up(row: np.ndarray, steps: int) -> None:
    """Take a character's state away from a desk where it made some steps."""
    sizes = integers(row[SIZES], SIZE_COUNT)
    nq, nv = sizes[QPOS_SIZE], sizes[QVEL_SIZE]
    after = floats(row[AFTER], nq + 2 * nv)
    _copy_some(floats(row[QPOS], nq), 0, after, 0, nq)
    _copy_some(floats(row[QVEL], nv), 0, after, nq, nv)
    _copy_some(floats(row[WARM], nv), 0, after, nq + nv, nv)
    integers(row[AHEAD], 1)[0] += steps


@kernel
def run_character(row: np.ndarray, steps: int) -> int:
    """Advance one character by some steps, or until it loses its balance; returns how many."""
    numbers = floats(row[NUMBERS], NUMBER_COUNT)
    for k in range(steps):
        prepare(row)
        if row[IS_AWAY] == 1:
            remember(row)
        call_with_two(row[STEP], row[MODEL], row[DATA])
        numbers[STEPS] += 1.0
        read(row)
        if numbers[LOST_AT] >= 0.0:
            return k + 1
    return steps


@kernel
def look(row: np.ndarray, status: np.ndarray) -> None:
    """What a stage must know of a character after some steps, into status (4,).

    when it lost its balance (negative: it did not), height of its root above the ground, how upright it is (1, 0
    lying), and a number that is not finite where any of its state is not
    """
    j = integers(row[SIZES], SIZE_COUNT)[JOINTS]
    root, q, w, v = floats(row[ROOT], 3), vectors(row[Q], j, 4), vectors(row[W], j, 3), floats(row[V], 3)
    status[0] = floats(row[NUMBERS], NUMBER_COUNT)[LOST_AT]
    status[1] = root[1] - find_floor(records(row[FLOOR], GROUND)[0], root[0], root[2], root[1])[0]
    status[2] = 1.0 - 2.0 * (q[0, 1] ** 2 + q[0, 3] ** 2)
    status[3] = root.sum() + v.sum() + w.sum() + q.sum()


@kernel
def prepare(row: np.ndarray) -> None:
    """Lines 1 to 3 of the step: what is given at mid-step, what that puts on the connectors, and torques."""
    sizes, numbers = integers(row[SIZES], SIZE_COUNT), floats(row[NUMBERS], NUMBER_COUNT)
    j, dt = sizes[JOINTS], numbers[DT]
    t = numbers[ORIGIN] + numbers[STEPS] * dt
    parents, offsets = integers(row[PARENTS], j), vectors(row[OFFSETS], j, 3)
    masses, centers, inertias = floats(row[MASSES], j), vectors(row[CENTERS], j, 3), blocks(row[INERTIAS], j, 3, 3)
    root, q, v, w = floats(row[ROOT], 3), vectors(row[Q], j, 4), floats(row[V], 3), vectors(row[W], j, 3)
    dw, a = vectors(row[DW], j, 3), floats(row[A], 3)
    R, p, om, vel = blocks(row[R_], j, 3, 3), vectors(row[P_], j, 3), vectors(row[OM], j, 3), vectors(row[VEL], j, 3)
    c, dc = floats(row[C_], 3), floats(row[DC], 3)
    torque, damping, wrench = vectors(row[TORQUE], j, 3), floats(row[DAMPING], j), vectors(row[WRENCH], j, 6)
    f, n = vectors(row[F_], j, 3), vectors(row[N_], j, 3)

    # 1. kinematic parts at mid-step
    _give_parts(row, sizes[PART_COUNT], t + 0.5 * dt, q, w, dw)
    pose_bodies(parents, offsets, root, q, R, p)
    move_bodies(parents, R, p, v, w, om, vel)
    center_of_mass(masses, centers, R, p, om, vel, c, dc)

    # 2. what they put on their connectors, and pushes
    _clear(wrench)
    accelerating, touched = flags(row[ACCELERATING], j), flags(row[TOUCHED], j)
    work = blocks(row[WORK], 3, j, 3)
    couple_exact(
        parents, masses, centers, inertias, accelerating, touched, R, p, w, dw, a, om, numbers[GAIN], work, wrench
    )
    hand_to_connectors(parents, accelerating, p, wrench)
    _copy(wrench, vectors(row[COUPLING], j, 6))
    if sizes[PUSH_COUNT] > 0:
        add_pushes(vectors(row[PUSHES], sizes[PUSH_COUNT], PUSH_COLUMNS), t, R, centers, wrench)
        hand_to_connectors(parents, accelerating, p, wrench)

    # 3. torques
    _clear(torque)
    v_before = floats(row[V_BEFORE], 3)
    for k in range(j):
        damping[k] = 0.0
    for k in range(3):
        v_before[k] = v[k]
    _copy(w, vectors(row[W_BEFORE], j, 3))
    legs = tables(row[LEGS], 2, 3)
    corners = blocks(row[CORNERS], 2, 4, 3)
    if sizes[IS_BALANCED] == 1:
        told = floats(row[TOLD], TOLD_COUNT)
        aim, habit = floats(row[AIM], AIMS), floats(row[HABIT], 2)
        frames = sizes[WAY_COUNT]
        if frames > 0:
            follow(
                floats(row[WAY_TIMES], frames), vectors(row[WAY_AIMS], frames, sizes[WAY_COLUMNS]),
                vectors(row[WAY_HABITS], frames, 2), t - numbers[WAY_START], floats(row[WAY_MEMORY], 3), aim, habit,
            )  # fmt: skip
        floors = vectors(row[FLOORS], 2, FLOOR_COLUMNS)
        ask_floors(records(row[FLOOR], GROUND)[0], R, p, legs, corners, floors)
        balance(
            parents, masses, centers, R, p, om, vel, c, dc, legs, integers(row[LIMB], j), corners,
            vectors(row[INERTIA], 3, 3), aim, habit, floats(row[GAINS], 13),
            floors, torque, told, f, n, vectors(row[SPOTS], 8, 3), vectors(row[BEARING], 8, 3),
            vectors(row[HULL], 9, 2), floats(row[LOADS], 8),
        )  # fmt: skip
        calm_legs(legs, floats(row[LEG_DAMPING], j), floats(row[SWING], 2), told, damping)
        if told[MARGIN] < -numbers[LOST]:
            numbers[LOST_AT] = t
    springs = tables(row[SPRINGS], sizes[SPRING_COUNT], SPRING_COLUMNS)
    for s in range(sizes[SPRING_COUNT]):
        k = springs[s, SPRING_JOINT_COUNT]
        pull_to_pose(
            integers(springs[s, SPRING_JOINTS], k), floats(springs[s, STIFFNESS], k),
            floats(springs[s, SPRING_DAMPING], k), vectors(springs[s, SPRING_AIM], k, 4), q, R, dt,
            vectors(springs[s, LEAD], k, 3), left_over(floats(springs[s, LEAD_FADE], 2), t), torque, damping,
        )  # fmt: skip

    # to the engine
    count = sizes[GIVEN_COUNT]
    given, bodies = integers(row[GIVEN], count), integers(row[GIVEN_BODIES], count)
    quats = vectors(row[BODY_QUAT], sizes[BODY_COUNT], 4)
    for i in range(count):
        for k in range(4):
            quats[bodies[i], k] = q[given[i], k]
    kind, qadr, vadr = integers(row[KIND], j), integers(row[QADR], j), integers(row[VADR], j)
    axes, counts = blocks(row[AXES], j, 2, 3), integers(row[COUNT], j)
    qpos = floats(row[QPOS], sizes[QPOS_SIZE])
    gather_wrenches(kind, parents, p, wrench, torque, f, n)
    write_forces(
        kind, qadr, vadr, counts, axes, qpos, R, f[0], n, damping, floats(row[QFRC], sizes[QVEL_SIZE]),
        floats(row[DOF_DAMPING], sizes[QVEL_SIZE]),
    )  # fmt: skip
    if sizes[HOLDS] == 1 and sizes[IS_BALANCED] == 1 and numbers[LOST_AT] < 0.0:
        turns = vectors(row[TURNS], 2, 3)
        hold_feet(
            R, p, om, vel, legs, corners, vectors(row[FLOORS], 2, FLOOR_COLUMNS), dt, vectors(row[ANCHORS], 2, 4), turns
        )
        for side in range(2):
            hip = legs[side, 0]
            nudge(qpos, qadr[hip], R[hip], turns[side])


@kernel
def read(row: np.ndarray) -> None:
    """Line 5: the state of the simulated joints."""
    sizes = integers(row[SIZES], SIZE_COUNT)
    j = sizes[JOINTS]
    read_body(
        integers(row[KIND], j), integers(row[QADR], j), integers(row[VADR], j), integers(row[COUNT], j),
        blocks(row[AXES], j, 2, 3), vectors(row[BUILT], j, 4), floats(row[QPOS], sizes[QPOS_SIZE]),
        floats(row[QVEL], sizes[QVEL_SIZE]), floats(row[ROOT], 3), vectors(row[Q], j, 4), floats(row[V], 3),
        vectors(row[W], j, 3),
    )  # fmt: skip


@kernel
def show(row: np.ndarray, t: float, root: np.ndarray, q: np.ndarray) -> None:
    """The pose at time t: the state as it is, kinematic parts where they are then. root (3,), q (J, 4) are written."""
    sizes = integers(row[SIZES], SIZE_COUNT)
    j = sizes[JOINTS]
    _copy_some(floats(row[ROOT], 3), 0, root, 0, 3)
    _copy(vectors(row[Q], j, 4), q)
    parts = tables(row[PARTS], sizes[PART_COUNT], PART_COLUMNS)
    for s in range(sizes[PART_COUNT]):
        x = parts[s]
        k = x[JOINT_COUNT]
        joints, out = integers(x[JOINT_LIST], k), vectors(x[PART_Q], k, 4)
        pose_part(
            floats(x[PART], 5), floats(x[KNOTS], x[KNOT_COUNT]), splines(x[PART_TURNS], x[KNOT_COUNT] - 1, k),
            floats(x[CLOCK], 6), floats(x[OLD_KNOTS], x[OLD_KNOT_COUNT]),
            splines(x[OLD_TURNS], x[OLD_KNOT_COUNT] - 1, k), floats(x[OLD_CLOCK], 6), blocks(x[OFFSET], 3, k, 3), t,
            out,
        )  # fmt: skip
        for i in range(k):
            for b in range(4):
                q[joints[i], b] = out[i, b]


@kernel
def show_characters(rows: np.ndarray, first: int, last: int, root: np.ndarray, q: np.ndarray) -> None:
    """Poses of characters first..last-1 at their own times into root (C, 3) and q (C, J, 4); J the largest."""
    for i in range(first, last):
        numbers = floats(rows[i, NUMBERS], NUMBER_COUNT)
        j = integers(rows[i, SIZES], SIZE_COUNT)[JOINTS]
        show(rows[i], numbers[ORIGIN] + numbers[STEPS] * numbers[DT], root[i], q[i, :j])


@kernel
def _clear(x: np.ndarray) -> None:
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            x[i, k] = 0.0


@kernel
def _copy(x: np.ndarray, to: np.ndarray) -> None:
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            to[i, k] = x[i, k]


@kernel
def _copy_some(x: np.ndarray, first: int, to: np.ndarray, start: int, count: int) -> None:
    for i in range(count):
        to[start + i] = x[first + i]


@kernel
def _give_parts(row: np.ndarray, count: int, t: float, q: np.ndarray, w: np.ndarray, dw: np.ndarray) -> None:
    parts = tables(row[PARTS], count, PART_COLUMNS)
    for s in range(count):
        x = parts[s]
        k = x[JOINT_COUNT]
        joints = integers(x[JOINT_LIST], k)
        pq, pw, pdw = vectors(x[PART_Q], k, 4), vectors(x[PART_W], k, 3), vectors(x[PART_DW], k, 3)
        play_part(
            floats(x[PART], 5), floats(x[KNOTS], x[KNOT_COUNT]), splines(x[PART_TURNS], x[KNOT_COUNT] - 1, k),
            splines(x[RATES], x[KNOT_COUNT] - 1, k), floats(x[CLOCK], 6), floats(x[OLD_KNOTS], x[OLD_KNOT_COUNT]),
            splines(x[OLD_TURNS], x[OLD_KNOT_COUNT] - 1, k), floats(x[OLD_CLOCK], 6), blocks(x[OFFSET], 3, k, 3),
            t, pq, pw, pdw,
        )  # fmt: skip
        for i in range(k):
            for b in range(4):
                q[joints[i], b] = pq[i, b]
            for b in range(3):
                w[joints[i], b] = pw[i, b]
                dw[joints[i], b] = pdw[i, b]


@kernel
def step_bare(rows: np.ndarray, first: int, last: int, steps: int, desks: np.ndarray) -> None:
    """The engine's own step of characters first..last-1 and nothing else: what a benchmark measures beside.

    desks  see `run_characters`; there, forces are brought along with the state
    """
    mine = np.empty(ADDRESSES, np.int64)
    for i in range(first, last):
        row = rows[i]
        if len(desks) > 0:
            sit_down(row, desks, mine)
            nv = integers(row[SIZES], SIZE_COUNT)[QVEL_SIZE]
            _copy_some(floats(row[QFRC], nv), 0, floats(mine[QFRC], nv), 0, nv)
            row = mine
        for _ in range(steps):
            call_with_two(row[STEP], row[MODEL], row[DATA])
        if len(desks) > 0:
            get_up(mine, steps)
