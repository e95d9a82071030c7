"""The person of the demo: waves, squats, and walks away."""

from __future__ import annotations

from poise.body.skeleton import Skeleton
from poise.motion.blending import concatenate
from poise.motion.clip import Clip
from poise.motion.own.squatting import squat
from poise.motion.own.standing import wave
from poise.motion.own.walking import walk


def wave_squat_walk(skeleton: Skeleton, fps: float = 60.0) -> Clip:
    """About 12 s: a wave, a squat and a walk of 6 s, each going over into the next."""
    clips = [wave(skeleton, 3.2, fps), squat(skeleton, 3.2, fps), walk(skeleton, 6.0, fps)]
    return concatenate(clips, blend=0.2).replace(name="wave, squat, walk")
