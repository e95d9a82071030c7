"""Walking: the plan of a walk, and the poses that follow from it.

`gait` and `path` say how and where to walk, `footholds` where a foot can be, `feet` how it moves. `steps` has the plan
of steps, `center_of_mass` and `swing_inertia` the trajectory over it; `walker` plans a few steps ahead, from `start`
on. `poses` turns the plan into poses by inverse kinematics, `state` saves it. Nothing here knows an engine or a driver.
"""
