"""`Kinematic`: joints play a motion, recorded, procedural or live."""
