"""Settings that several modules of a puppet share.

All were set by hand while hands danced, hopped and climbed stairs in the tests; no range was measured, except where one
is stated.
"""

from __future__ import annotations

import numpy as np

FRAME = 1.0 / 120.0  # s: the rate at which hands are read, and frames are made
CONTACT = 0.006  # m over the ground, below which a foot comes down
RELEASE = 5.0 * CONTACT  # m, above which it goes up: far enough from CONTACT that it does not chatter
CLEARANCE = 2.0 * CONTACT  # m, by which a foot in the air is lifted over what it comes to
EDGE = 0.02  # m, height of the smallest step that counts as an edge
DEEP = EDGE  # m: a support that is deeper in the ground than that is inside a riser, not on the ground
SLOW = 0.25  # m/s: a foot that comes down faster than that along the ground slides on until it is anchored
NUDGES = np.arange(-30, 31) * 0.002  # m along its length, by which a foot may be moved off an edge
LARGEST_NUDGE = float(NUDGES[-1])  # m
LOOKS = np.array([1, 2, 3, 4, 6, 9, 13, 18, 24, 30]) / 120.0  # s, by which a foot in the air looks ahead
LIFT = 40.0  # m/s2, with which a foot in the air expects to be lifted before it comes to higher ground
BLEND, GRIP = 0.6, 0.15  # s, until strings are tight, and until planted feet are held, after the puppet takes over
