"""Gestures made from nothing, for any human skeleton: conducting, swinging and lifting arms, clapping, speaking, a cue.

Each is a description (`conduct(bpm=92, beats=4)`), bound to no body; `changed` gives the same one with other
parameters, `GestureMotion` plays one on a skeleton.
"""

from poise.motion.body_track import BodyTrack
from poise.motion.gestures.breathe import Breathe, breathe
from poise.motion.gestures.clap import Clap, clap
from poise.motion.gestures.conduct import Conduct, conduct
from poise.motion.gestures.cue import Cue, cue
from poise.motion.gestures.gesture import ArmGesture, Gesture, GestureMotion
from poise.motion.gestures.lift import LiftArms, lift_arms
from poise.motion.gestures.speak import Speak, Stress, speak
from poise.motion.gestures.swing import ArmSwing, arm_swing

__all__ = [
    "ArmGesture", "ArmSwing", "BodyTrack", "Breathe", "Clap", "Conduct", "Cue", "Gesture", "GestureMotion", "LiftArms",
    "Speak", "Stress", "arm_swing", "breathe", "clap", "conduct", "cue", "lift_arms", "speak",
]  # fmt: skip
