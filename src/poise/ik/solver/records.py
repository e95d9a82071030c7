"""What the kernels of inverse kinematics share: the body, its goals, the pose that is being changed, and its equations.

Read `IkModel` and `IkGoals` first: they are given. `IkWorkspace` has the pose and what follows from it, `LinearSystem`
the equations of one round, `QuadraticProblem` those of a goal that is out of reach.
"""

from __future__ import annotations

from typing import Annotated

from poise.compiled.layout import Flags, Floats, Ints, Layout

FREE = -1  # the base of a body that no joint is held of: its root moves freely
UNKNOWN = -9  # the base that no signs are known for
BOTH, BELOW = 0, 1  # kinds of rows: J d = e, and J d <= e
ROWS, BLOCKS, NULL_SPACE = 0, 1, 2  # methods


class IkModel(Layout):
    """A body whose joints turn by angles in their ranges. `CharacterModel` builds it."""

    joints: int
    dofs: int  # free angles, and 6 of the root if it moves freely
    radian_length: float  # m that a radian of an orientation error counts as
    parents: Annotated[Ints, "joints"]
    offsets: Annotated[Floats, "joints", 3]  # m
    masses: Annotated[Floats, "joints"]  # kg
    centers: Annotated[Floats, "joints", 3]  # m
    is_under: Annotated[Flags, "joints", "joints"]  # whether body b is under joint k
    before: Annotated[Floats, "joints", 4]  # P^-1
    after: Annotated[Floats, "joints", 4]  # C
    before_matrix: Annotated[Floats, "joints", 3, 3]
    has_angles: Annotated[Flags, "joints"]  # whether any angle of the joint is free
    joint: Annotated[Ints, "dofs"]  # the joint of each free angle; -1 of the root's position, -2 of its orientation
    axis: Annotated[Ints, "dofs"]  # 0, 1, 2
    low: Annotated[Floats, "dofs"]  # rad
    high: Annotated[Floats, "dofs"]  # rad
    compliance: Annotated[Floats, "dofs"]  # 1 / stiffness
    rest: Annotated[Floats, "dofs"]  # rad, the comfortable angle
    comfort: Annotated[Floats, "dofs"]  # fraction of the way there per round


class IkGoals(Layout):
    """Goals by kind, and bounds of the centre of mass. `compile_goals` builds it."""

    edge_count: int
    point_count: int
    orientation_count: int
    look_count: int
    edge_weight: float
    edges: Annotated[Floats, "edge_count", 3]  # the centre of mass has edges[0] x + edges[1] z <= edges[2]
    center: Annotated[Floats, 3]  # m, target of the centre of mass
    center_weight: Annotated[Floats, 3]  # 0: anywhere
    center_is_primary: Annotated[Flags, 3]
    point_body: Annotated[Ints, "point_count"]
    point_offset: Annotated[Floats, "point_count", 3]  # m
    point_target: Annotated[Floats, "point_count", 3]  # m
    point_weight: Annotated[Floats, "point_count"]
    point_is_primary: Annotated[Flags, "point_count"]
    point_is_floor: Annotated[Flags, "point_count"]  # only its height counts, and only if it is below the target's
    orientation_body: Annotated[Ints, "orientation_count"]
    orientation_target: Annotated[Floats, "orientation_count", 4]
    orientation_matrix: Annotated[Floats, "orientation_count", 3, 3]  # of the target
    orientation_weight: Annotated[Floats, "orientation_count"]
    orientation_is_primary: Annotated[Flags, "orientation_count"]
    look_body: Annotated[Ints, "look_count"]
    look_eye: Annotated[Floats, "look_count", 3]  # m, in the body's frame
    look_along: Annotated[Floats, "look_count", 3]  # unit, the line of sight in the body's frame
    look_target: Annotated[Floats, "look_count", 3]  # m
    look_weight: Annotated[Floats, "look_count"]


class IkWorkspace(Layout):
    """The pose that is being changed, and what follows from it.

    `pose` holds angles, local, base_position and base_orientation one after the other, so that a pose is saved and
    restored as one row of numbers.
    """

    joints: int
    dofs: int
    bodies: int  # 1 + goals: the centre of mass, and the body of each goal
    pose_size: int
    base: int  # the joint whose body stays where it is; FREE: none
    signs_base: int  # the base that `signs` are for; UNKNOWN: none yet
    pose: Annotated[Floats, "pose_size"]
    angles: Annotated[Floats, "joints", 3]  # rad
    local: Annotated[Floats, "joints", 3, 3]  # the joints' matrices
    base_position: Annotated[Floats, 3]  # m, of the base, or of the root
    base_orientation: Annotated[Floats, 3, 3]
    R: Annotated[Floats, "joints", 3, 3]  # world orientations
    p: Annotated[Floats, "joints", 3]  # m, world positions
    axes: Annotated[Floats, "joints", 3, 3]
    masses_under: Annotated[Floats, "joints", 4]  # mass, and mass times centre, of what is under each joint
    lines: Annotated[Floats, "dofs", 6]  # r and o of each free angle
    signs: Annotated[Floats, "bodies", "dofs"]
    center_rates: Annotated[Floats, 3, "dofs"]  # of the centre of mass by each free angle


class LinearSystem(Layout):
    """The rows of one round, the change of the free angles that solves them, and the memory of `sweep_blocks`."""

    rows: int
    dofs: int
    primary_factor: float  # by which the weights of primary rows are multiplied: mu
    primary_error: float  # m, the largest error of a primary goal
    secondary_error: float  # m
    cost: float  # sum of the weighted squares of secondary errors
    J: Annotated[Floats, "rows", "dofs"]
    e: Annotated[Floats, "rows"]  # m
    kind: Annotated[Ints, "rows"]  # BOTH or BELOW
    weight: Annotated[Floats, "rows"]  # 0: the row does not count
    is_primary: Annotated[Flags, "rows"]
    low: Annotated[Floats, "dofs"]  # of the change
    high: Annotated[Floats, "dofs"]
    compliance: Annotated[Floats, "dofs"]  # 1 / s
    preferred: Annotated[Floats, "dofs"]  # b
    step: Annotated[Floats, "dofs"]  # d, the solution
    multiplier: Annotated[Floats, "rows"]  # l
    pushing: Annotated[Ints, "rows"]  # whether a row that is BELOW pushes; kept from call to call
    locked: Annotated[Ints, "dofs"]  # the end (-1, 1) that an angle is at, 0 inside; kept from call to call
    active: int  # rows that take part; -1 if they must be listed anew
    order: Annotated[Ints, "rows"]  # their numbers
    free: Annotated[Floats, "dofs"]  # compliance, 0 of a locked angle
    z: Annotated[Floats, "dofs"]  # J^T l
    dz: Annotated[Floats, "dofs"]  # and its change
    x: Annotated[Floats, "rows"]  # l at the end of a full step
    A: Annotated[Floats, "rows", "rows"]  # J S^-1 J^T, lower half
    L: Annotated[Floats, "rows", "rows"]  # its factor, of the active rows
    is_ready: Annotated[Flags, "rows"]  # whether A has the row
    scaled: Annotated[Floats, "dofs"]
    column: Annotated[Floats, "rows"]


class SolverSettings(Layout):
    """How a pose is looked for."""

    max_iterations: int
    max_sweeps: int  # per iteration
    max_step: float  # rad that an angle changes by per iteration
    tolerance: float  # m: errors that are no larger end the search
    method: int  # ROWS, BLOCKS or NULL_SPACE


class SolverReport(Layout):
    """What one attempt came to."""

    iterations: int
    solves: int
    primary_error: float  # m
    secondary_error: float  # m


class PoseSearch(Layout):
    """One pose that is asked for: where it begins, where it may begin anew, and the best pose that was found."""

    joints: int
    dofs: int
    starts: int
    goals: int
    pose_size: int
    root: Annotated[Floats, 3]  # m, where it begins
    rotations: Annotated[Floats, "joints", 4]
    start_angles: Annotated[Floats, "starts", "joints", 3]  # rad: other poses to begin at
    low: Annotated[Floats, "dofs"]  # the ranges; the model's are widened if the pose begins beyond them
    high: Annotated[Floats, "dofs"]
    base_position: Annotated[Floats, 3]  # m, as it begins
    base_orientation: Annotated[Floats, 3, 3]
    best_pose: Annotated[Floats, "pose_size"]
    iterations: int  # of all attempts
    solves: int
    primary_error: float  # m, of the best pose
    secondary_error: float  # m
    found_root: Annotated[Floats, 3]  # m
    found_rotations: Annotated[Floats, "joints", 4]
    center: Annotated[Floats, 3]  # m, its centre of mass
    errors: Annotated[Floats, "goals"]  # m or rad: points, orientations, looks


class QuadraticProblem(Layout):
    """A convex quadratic function within ranges and rows, its solution, and the memory of `solve_quadratic`."""

    rows: int  # m
    dofs: int  # n
    lines: int  # n + m
    members: int  # rows that hold
    equalities: int  # the first of them, which are never let go
    H: Annotated[Floats, "dofs", "dofs"]  # lower half
    L: Annotated[Floats, "dofs", "dofs"]  # the damped H, then its factor
    W: Annotated[Floats, "dofs", "dofs"]  # L^-T
    g: Annotated[Floats, "dofs"]
    A: Annotated[Floats, "rows", "dofs"]
    kind: Annotated[Ints, "rows"]  # NOT, ZERO or MOST
    bound: Annotated[Floats, "rows"]  # t: A d <= t of rows that are MOST
    low: Annotated[Floats, "dofs"]
    high: Annotated[Floats, "dofs"]
    step: Annotated[Floats, "dofs"]  # d, the solution
    multiplier: Annotated[Floats, "rows"]  # 0 or more of rows that are MOST
    range_multiplier: Annotated[Floats, "dofs"]  # positive at a low end, negative at a high one
    normals: Annotated[Floats, "lines", "dofs"]  # L^-1 of each range and row, of length 1
    sizes: Annotated[Floats, "lines"]  # what they were divided by
    state: Annotated[Ints, "lines"]  # 1: it holds; 2: it cannot be reached, by rounding
    Q: Annotated[Floats, "dofs", "dofs"]
    R: Annotated[Floats, "dofs", "dofs"]
    s: Annotated[Floats, "dofs"]  # L^T d
    mu: Annotated[Floats, "dofs"]
    member: Annotated[Ints, "dofs"]
    side: Annotated[Ints, "dofs"]
    along: Annotated[Floats, "dofs"]
    across: Annotated[Floats, "dofs"]
    r: Annotated[Floats, "dofs"]


class Prescribed(Layout):
    """Joints whose rotations are prescribed, and the rotations of all joints, kept from frame to frame."""

    joints: int
    count: int
    joint: Annotated[Ints, "count"]
    is_prescribed: Annotated[Flags, "joints"]
    rotations: Annotated[Floats, "joints", 4]


class GoalFrames(Layout):
    """What is asked for in each of F frames."""

    frames: int
    point_count: int
    orientation_count: int
    look_count: int
    goal_count: int
    edge_count: int
    joints: int
    prescribed_count: int
    has_base: int  # whether base_position and base_orientation count; if not, the base stays where it is
    places: Annotated[Floats, "frames", "point_count", 3]  # m
    turns: Annotated[Floats, "frames", "orientation_count", 4]
    looks: Annotated[Floats, "frames", "look_count", 3]  # m
    weights: Annotated[Floats, "frames", "goal_count"]
    center: Annotated[Floats, "frames", 3]  # m
    center_weight: Annotated[Floats, "frames", 3]
    edges: Annotated[Floats, "frames", "edge_count", 3]
    held: Annotated[Ints, "frames"]
    rest: Annotated[Floats, "frames", "joints", 3]  # rad
    comfort: Annotated[Floats, "frames"]
    given: Annotated[Floats, "frames", "prescribed_count", 4]
    base_place: Annotated[Floats, "frames", 3]  # m
    base_turn: Annotated[Floats, "frames", 4]


class FollowedPoses(Layout):
    """Poses of frames."""

    frames: int
    joints: int
    root: Annotated[Floats, "frames", 3]  # m
    rotations: Annotated[Floats, "frames", "joints", 4]
    center: Annotated[Floats, "frames", 3]  # m, centre of mass
    first: Annotated[Floats, "frames"]  # m, the largest error of a primary goal
    second: Annotated[Floats, "frames"]  # m, the largest error of the others
