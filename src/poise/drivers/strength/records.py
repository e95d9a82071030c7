"""Records that a step of `Strength` reads and writes, shared by Python and compiled code (`kernels.py`).

Names of arrays follow `dynamics/contact/records.py`. They are here so that Python can build them without Numba.
"""

from __future__ import annotations

from typing import Annotated

from poise.compiled.layout import Flags, Floats, Ints, Layout


class Freedoms(Layout):
    """Degrees of freedom that muscles drive: their state, torque ranges, target accelerations and torques."""

    joints: int  # J, of the body
    driven: int  # K, joints that the driver moves
    count: int  # n
    alpha: float  # fraction of the position error that a step of 1 / rate removes
    dt: float  # s
    driven_joints: Annotated[Ints, "driven"]
    joint: Annotated[Ints, "count"]  # that a degree of freedom belongs to
    angle: Annotated[Floats, "count"]  # rad
    speed: Annotated[Floats, "count"]  # rad/s
    axis: Annotated[Floats, "count", 3]  # unit, in the axes of the joint's segment
    world_axis: Annotated[Floats, "count", 3]
    low: Annotated[Floats, "count"]  # N m, least torque that the muscles can exert
    high: Annotated[Floats, "count"]  # N m, greatest
    rate: Annotated[Floats, "joints"]  # 1/s, at which a joint returns to the motion
    target: Annotated[Floats, "count"]  # rad/s2
    weight: Annotated[Floats, "count"]  # of the deviation from the target
    dw: Annotated[Floats, "joints", 3]  # rad/s2, what the joints accelerate besides about other axes; then all of it
    torque: Annotated[Floats, "count"]  # N m, of the last step
    ratio: Annotated[Floats, "count"]  # of the strength that is used, the most since it was last read
    vectors: Annotated[Floats, "joints", 3]  # N m, torques of the joints, world axes


class Feet(Layout):
    """The soles of both feet, and what the motion does with them."""

    count: int
    has_motion: int  # 1: the motion says where the feet are; else none is lifted
    ground: float  # m, height of the lowest sole at the beginning of the motion
    joint: Annotated[Ints, "count"]
    corners: Annotated[Floats, "count", 4, 3]  # m, in the foot's axes
    stands: Annotated[Flags, "count"]  # whether at least three corners are on the floor


class ContactPoints(Layout):
    """Points at which the world may exert forces: soles first, then supporting hands, then other contacts."""

    capacity: int
    count: int
    point: Annotated[Floats, "capacity", 3]  # m
    frame: Annotated[Floats, "capacity", 3, 3]  # unit axes in rows, the outward normal first
    friction: Annotated[Floats, "capacity"]  # coefficient
    most: Annotated[Floats, "capacity"]  # of the body's weight: largest normal force
    segment: Annotated[Ints, "capacity"]  # that is touched
    hand: Annotated[Ints, "capacity"]  # side of a supporting hand; -1: none
    gap: Annotated[Floats, "capacity"]  # m, from a supporting hand to the surface
    push: Annotated[Floats, 2]  # of the body's weight: normal force on each hand in the last step
    pressure_center: Annotated[Floats, 3]  # m, zero-moment point of the last step; NaN: nothing pushes up


class PointGoal(Layout):
    """Motion that a point of a segment should follow."""

    rate: float  # 1/s
    alpha: float
    at: Annotated[Floats, 3]  # m, where the point is
    place: Annotated[Floats, 3]  # m, where it should be
    orientation: Annotated[Floats, 4]  # that the segment should have
    velocity: Annotated[Floats, 6]  # m/s and rad/s, of the motion that is followed
    acceleration: Annotated[Floats, 6]  # m/s2 and rad/s2


class CenterGoal(Layout):
    """Motion that the centre of mass should follow, and the support polygon that limits it."""

    directions: int  # m
    corners: int  # capacity for corners of the polygon
    size: int  # corners of the polygon
    height: float  # m, of the support
    gain: float  # of the centre of pressure over the error of the capture point
    rate: float  # 1/s, of vertical motion
    alpha: float
    mass: float  # kg, of the body with its loads
    direction: Annotated[Ints, "directions"]  # world axes along which it is led: 0 x, 1 y, 2 z
    center: Annotated[Floats, 3]  # m
    center_velocity: Annotated[Floats, 3]  # m/s
    place: Annotated[Floats, 3]  # m, where it should be
    velocity: Annotated[Floats, 3]  # m/s
    acceleration: Annotated[Floats, 3]  # m/s2
    hull: Annotated[Floats, "corners", 2]  # m, x and z of the support polygon


class GoalRows(Layout):
    """Goals of one step as rows A u = y, multiplied by their weights."""

    capacity: int
    unknowns: int
    count: int
    kind: Annotated[Ints, "capacity"]  # STAY, LEAD_CENTER or LEAD, in order of priority
    scale: Annotated[Floats, "capacity"]  # weight of a row
    rows: Annotated[Floats, "capacity", "unknowns"]
    draft: Annotated[Floats, 6, "unknowns"]  # rows of the goal that is being written, without weights: position,
    draft_y: Annotated[Floats, 6]  # then orientation; or one for each axis of the centre of mass
    y: Annotated[Floats, "capacity"]
    missed: Annotated[Floats, 2]  # m/s2, the most by which goals of the kinds STAY and LEAD_CENTER are missed


class CenterPlan(Layout):
    """A window of the motion's centre of mass, and of the soles that carry it, at equal intervals."""

    samples: int
    interval: float  # s
    gravity: float  # m/s2
    scale: float  # of the support polygon, about its middle, within which the centre of pressure is planned
    start: Annotated[Floats, 3]  # m, where the centre of mass is at first
    center: Annotated[Floats, "samples", 3]  # m, of the motion
    velocity: Annotated[Floats, "samples", 3]  # m/s
    soles: Annotated[Floats, "samples", 2, 4, 3]  # m, corners of both soles
    lifted: Annotated[Flags, "samples", 2]  # whether a foot carries nothing
    planned: Annotated[Floats, "samples", 3, 3]  # m, m/s and m/s2 of the planned centre of mass


class StepRecord(Layout):
    """Addresses of all records of a step: what Python passes to a kernel. A layout would take it longer to pass."""

    body: int  # `Body`; `motion` and `end`: in the motion's pose at the beginning of the step, and at its end
    motion: int
    end: int
    feet: int
    freedoms: int
    contacts: int
    inertia: int  # `InertiaModel`
    model: int  # `ContactModel`, `goals` and `solution`: those for the present number of contact points
    goals: int
    solution: int  # `QpSolution`
    point: int
    center: int
