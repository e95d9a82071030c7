"""Poise's own motions, made from nothing for any human skeleton: for the demo, the docs and the tests.

Each takes a skeleton with roles, a duration in seconds and a frame rate, and gives a clip that begins and ends in
quiet standing over the origin, facing +Z; a lift ends with the hand up. Everything is proportional to the legs, smooth
(C2) and the same every time.
"""

from poise.motion.own.joined import wave_squat_walk
from poise.motion.own.jumping import jump
from poise.motion.own.lifting import lift
from poise.motion.own.squatting import squat
from poise.motion.own.standing import idle, wave
from poise.motion.own.walking import walk

__all__ = ["idle", "jump", "lift", "squat", "walk", "wave", "wave_squat_walk"]
