"""Inverse kinematics: joint rotations within ranges that meet goals, with the centre of mass over its support.

Read `goals` first, then `pose_solver` (one pose, as good as it gets) and `follower` (one pose per frame, smooth).
`model` compiles a character for both, `support_polygon` its support. `two_bone` and `bfgs` pose one limb: in closed
form, and by the least change. `solver` has the compiled code. Nothing here knows time, a ground or an engine.
"""
