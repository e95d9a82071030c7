"""A body's inertia and the forces that contacts may exert on it, as compiled code reads them.

`contact_dynamics_kernels.py` fills these records and has the equations. They are here so that Python can build them
without importing Numba.
"""

from __future__ import annotations

from typing import Annotated

from poise.compiled.layout import Floats, Ints, Layout


class InertiaModel(Layout):
    """Masses of a body's segments, its degrees of freedom, and the inertia between these and the root.

    The joint of a degree of freedom is never inboard of that of the one before.
    """

    joints: int  # J
    freedoms: int  # n
    masses: Annotated[Floats, "joints"]  # kg, of each segment with what rests on it
    centers: Annotated[Floats, "joints", 3]  # m, their centres of mass in the segments' axes
    inertias: Annotated[Floats, "joints", 3, 3]  # kg m2 about these, in the segments' axes
    joint: Annotated[Ints, "freedoms"]  # that a degree of freedom belongs to
    axis: Annotated[Floats, "freedoms", 3]  # e, unit, world axes
    # All that a joint carries, as one rigid body.
    carried_mass: Annotated[Floats, "joints"]  # kg
    carried_center: Annotated[Floats, "joints", 3]  # m, world
    carried_inertia: Annotated[Floats, "joints", 3, 3]  # kg m2 about that centre, world axes
    # Generalised inertia; the root's six are its velocity (m/s) and its angular velocity (rad/s), world axes.
    root: Annotated[Floats, 6, 6]  # M
    root_joint: Annotated[Floats, 6, "freedoms"]  # M_rj
    joint_joint: Annotated[Floats, "freedoms", "freedoms"]  # M_jj


class ContactModel(Layout):
    """Torques and root acceleration of a body as linear functions of the unknowns u = (x, f)."""

    joints: int  # J
    freedoms: int  # n
    forces: int  # P
    unknowns: int  # n + P
    bounds: int  # rows of H and b; the first n are torques, the others are the caller's
    is_prescribed: int  # 1: `a0` is given, and A is zero
    unit: float  # N, of the unknown forces
    dw: Annotated[Floats, "joints", 3]  # rad/s2, joint accelerations without those of the degrees of freedom
    wrench: Annotated[Floats, "joints", 6]  # N m about the joint and N, world axes: other external loads of a segment
    point: Annotated[Floats, "forces", 3]  # m, where a force acts
    direction: Annotated[Floats, "forces", 3]  # g; along an edge of a friction cone it is longer than 1
    segment: Annotated[Ints, "forces"]  # on which it acts
    A: Annotated[Floats, 6, "unknowns"]
    a0: Annotated[Floats, 6]  # m/s2 and rad/s2
    H: Annotated[Floats, "bounds", "unknowns"]
    b: Annotated[Floats, "bounds"]  # N m
    low: Annotated[Floats, "bounds"]  # N m, range of H u + b
    high: Annotated[Floats, "bounds"]
    angular_acceleration: Annotated[Floats, "joints", 3]  # rad/s2, of the segments with x = 0 and a = 0
    acceleration: Annotated[Floats, "joints", 3]  # m/s2, of their joints
