"""Ground forces and joint torques from motion alone. Read `forces` first.

`ground_wrenches` shares the force among the contacts, `center_path` finds a trajectory of the centre of mass that
gravity and contacts allow, `smoothed` low-passes a clip that springs follow.
"""
