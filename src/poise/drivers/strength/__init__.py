"""Following a motion within what muscles can do (`Strength`), by the strength paper.   [strength, section 5]

strength.py      `Strength`, what a user constructs, and the method
player.py        `StrengthPlayer`: one step, in the order of the paper's equations. Read this next
reference.py     the motion that is followed, and a plan of its centre of mass; `CaptureShortfall`: is balance short?
loads.py         forces of props and other bodies, and loads that rest on the body
contacts.py      points at which the world may exert forces; hand_support.py: hands that reach for support
goals.py         what comes before the joints' own tracking;  problem.py: the bounded least-squares problem
records.py       data that Python and compiled code share;  kernels.py: compiled code
"""
