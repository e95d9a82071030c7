"""Edits of clips; each returns a new clip.

Time: `timing`, `loop`, `sequence`. Clips together: `blend`, `borrow`. Space: `ground`, `mirror`, `in_place`. `offsets`
moves hands and feet to targets (`targets`, `body_points`) by inverse kinematics. Nothing here knows physics.
"""
