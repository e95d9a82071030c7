"""A squat on flat feet: hips back and down, trunk forward, arms out to the front, the centre of mass over the feet."""

from __future__ import annotations

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.edits import frame_times
from poise.motion.own.balanced import put_hips_under
from poise.motion.own.curves import rise_and_fall
from poise.motion.own.figure import Figure
from poise.motion.own.tracks import build_clip, stand


def squat(skeleton: Skeleton, duration: float = 3.2, fps: float = 60.0, *, depth: float = 0.42) -> Clip:
    """One squat, down and up again, from quiet standing to quiet standing.

    duration  s, at least 1.2
    depth     how far the hips go down, in lengths of the leg, at most 0.5; 0.42 brings the thighs near the level
    """
    if duration < 1.2:
        raise InputError(f"a squat takes at least 1.2 s; given {duration:g} s.")
    if not 0.0 < depth <= 0.5:
        raise InputError(f"a squat's depth is a share of the legs' length, above 0 and at most 0.5; given {depth:g}.")
    figure, times = Figure(skeleton), frame_times(duration, fps, len(skeleton))
    tracks = stand(figure, times)
    down = rise_and_fall(times, 0.02 * duration, 0.46 * duration, 0.54 * duration, 0.98 * duration)
    reach = rise_and_fall(times, 0.0, 0.38 * duration, 0.6 * duration, duration)
    share = depth / 0.42
    tracks.hips[:, 1] -= depth * figure.leg * down
    tracks.pelvis[:, 0] += np.radians(30.0) * share * down
    tracks.chest[:, 0] += np.radians(36.0) * share * down
    tracks.head[:, 0] += np.radians(8.0) * share * down
    tracks.arms.forward += np.radians(105.0) * share * reach[:, None]
    tracks.arms.elbow += np.radians(6.0) * reach[:, None]
    put_hips_under(figure, tracks)
    return build_clip(figure, tracks, "squat")
