"""Gestures made from nothing, for any human skeleton: conducting, swinging and lifting arms, clapping, speaking, a cue.

Each is a description (`conduct(bpm=92, beats=4)`), bound to no body; `changed` gives the same one with other
parameters, `GestureMotion` plays one on a skeleton.
"""

from poise.motion.body_track import BodyTrack
from poise.motion.gestures.breathing import Breathe, breathe
from poise.motion.gestures.clapping import Clap, clap
from poise.motion.gestures.conducting import Conduct, conduct
from poise.motion.gestures.cueing import Cue, cue
from poise.motion.gestures.gesture import ArmGesture, Gesture
from poise.motion.gestures.lifting import LiftArms, lift_arms
from poise.motion.gestures.playing import GestureMotion
from poise.motion.gestures.speaking import Speak, Stress, speak
from poise.motion.gestures.swinging import ArmSwing, arm_swing

__all__ = [
    "ArmGesture", "ArmSwing", "BodyTrack", "Breathe", "Clap", "Conduct", "Cue", "Gesture", "GestureMotion", "LiftArms",
    "Speak", "Stress", "arm_swing", "breathe", "clap", "conduct", "cue", "lift_arms", "speak",
]  # fmt: skip
