"""Poise's own motions, made from nothing for any human skeleton: for the demo, the docs and the tests.

Each takes a skeleton with roles, a duration in seconds and a frame rate, and gives a clip that begins and ends in
quiet standing over the origin, facing +Z; a lift ends with the hand up. Everything is proportional to the legs, smooth
(C2) and the same every time.
"""

from poise.motion.samples.jump import jump
from poise.motion.samples.lift import lift
from poise.motion.samples.stand import idle, squat, wave
from poise.motion.samples.walk import walk, wave_squat_walk

__all__ = ["idle", "jump", "lift", "squat", "walk", "wave", "wave_squat_walk"]
