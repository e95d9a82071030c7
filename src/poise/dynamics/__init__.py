"""Dynamics of trees of rigid bodies: Newton-Euler, joint-space inertia, momentum, the ground's reaction.

Read `tree` first, then `newton_euler` and `kinematics`, over all frames of a clip at once; `body_kernels` has the same
for one body at one instant, compiled. Nothing here knows an engine.
"""
