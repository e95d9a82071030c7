"""The record that a balance's law reads and writes, and where each number is in its arrays."""

from __future__ import annotations

from poise.compiled.law import fields

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
    SWAY_STEADY,
    LEAN_STEADY,
    SINK,
    HOLD,
) = range(17)
GAINS = 17
# Where each number is in `aim`: centre of mass over the ground, hip height, hip orientation, and their speeds.
CENTER_X, CENTER_Z, HEIGHT, TURN = 0, 1, 2, 3
# Zero for a stance that is held. x and z of the centre of mass's velocity, of the hips', of the centre's acceleration;
# rate of the hips' height and upward acceleration of the centre; angular velocity of the hips; rate of the angular
# momentum. World axes.
CENTER_SPEED, HIP_SPEED, CENTER_PULL, RISING, LIFTING, SPIN, MOMENT = 7, 9, 11, 13, 14, 15, 18
AIMS = 55
# Where each number is in `told`: force, pressure centre, margin of the centre of mass, corners that carry, whether the
# left and the right foot are off the ground somewhere (1) or flat on it (0), and how far the knees are bent for lively
# arms, 0 to 1.
FORCE, PRESSURE, MARGIN, CORNERS, OFF, CROUCH = 0, 3, 5, 6, 7, 9
TOLD = 10
# x and z of the corners of the soles, in `aim`: where they are to stand.
HOME = 21
# Torques of hip, knee and ankle of both legs, world axes: see `planted_legs`. Only where a clip is followed.
LEG_TORQUE = 37
# legs      (2, 3) joints: hip, knee, ankle of the left and the right
# limb      (J,) 0 or 1: the leg that a body is in; -1 for others
# corners   (2, 4, 3) m, of the soles in the feet's frames
# inertia   (3, 3) kg m2, of the whole body about its centre of mass, world axes
# habit     (2,) m, x and z from the hips to the centre of mass, as of late: followed by the law
# floors    (2, FLOORS) what is under the soles: see `drivers/balance/foot_kernels.py:ask_floors`
# damping   (J,) N m s/rad of the legs' joints; swing (2,) of the ankles of feet that are not flat on the ground
# anchors   (2, 4) and turns (2, 3): see `drivers/balance/foot_kernels.py:hold_feet`; ridden (2, 3): see
#           `drivers/balance/kernels.py:ride_along`
# spots, bearing, hull, loads, inner   (8, 3), (8, 3), (9, 2), (8,), (4, 2) for work: corners of the soles in the
#           world; x, z and number of those that carry; what is round them; how much each carries; see `_keep_both_down`
# way_...   of the clip that is followed: see `drivers/balance/kernels.py:follow`
# follow, ride: laws that are called first, where a clip is followed and where the ground moves; 0: they are not
# lean      (6,) how far the hips lean on purpose, rotation vector (rad) and its rate (rad/s), world axes: the law
#           `lean_back` writes it, if it is not 0, from `shift`, the address of a SHIFT, whose arms hang from the joint
#           `chest`; counter_lean: rad per m
# hips      (3, 4) how far the hips take part in a gesture, from `part`, the address of a TAKING: see `TakingPart`
# fading    (4,) s, when a lean began that is not yet followed, and (rad) by how much it was not: it dies away
# handed    (20,) s and s, when this balance took the legs over from another one and in what time, and N m, world axes,
#           by how much the torques of hip, knee and ankle of both legs were off its own: that dies away
LEGS = fields(
    arrays="""
        legs limb corners inertia aim habit gains told damping swing anchors turns
        spots bearing hull inner loads floors ridden
        way_times way_aims way_habits way_memory
        lean fading hips handed
    """,
    integers="follow ride lean_back shift chest part way_count way_columns",
    floats="lost lost_at way_start counter_lean",
)
