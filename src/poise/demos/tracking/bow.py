"""A bow that was captured of the upper body alone, over legs that balance (Z6).   [tracking, section 4.2, figure 8]

animated  the recording: trunk, head and arms bow, the legs were not captured and stay as they are
stiff     trunk, head and arms follow it by springs; the legs hold the pose that they stood in, and know of nothing
balanced  the same over legs that balance: hips go back as the trunk comes down

`com_mm` is how far the centre of mass goes from where it stood, of each; `fell_of` who fell.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.demos.shared.show import BLUE, GREEN, RED, TAKE_FPS, Shot, measure_mix, save_show, stand_still
from poise.drivers.loose.loose import FIRM
from poise.files.output import write_bytes
from poise.jobs.shared.metrics import measure_error
from poise.motion.edits.timing import frame_times
from poise.motion.parts import part_joints
from poise.motion.samples.body import Figure
from poise.motion.samples.curves import rise_and_fall
from poise.motion.samples.tracks import build_clip, stand
from poise.pictures.mix_plots import plot_comparison
from poise.stage.actor import Actor

HEIGHT, MASS, SECONDS = 1.75, 75.0, 5.0
WAYS = {"animated": RED, "stiff": GREEN, "balanced": BLUE}


def bow(skeleton: poise.Skeleton, duration: float = SECONDS, fps: float = 60.0, degrees: float = 70.0) -> poise.Clip:
    """Trunk and head go down and come up again; the hips and all below stand still.

    degrees  how far the chest leans
    """
    figure, times = Figure(skeleton), frame_times(duration, fps, len(skeleton))
    tracks = stand(figure, times)
    down = rise_and_fall(times, 0.1 * duration, 0.4 * duration, 0.6 * duration, 0.9 * duration)
    tracks.chest[:, 0] += np.radians(degrees) * down
    tracks.head[:, 0] += np.radians(degrees + 8.0) * down
    tracks.arms.forward += np.radians(0.6 * degrees) * down[:, None]  # they hang
    return build_clip(figure, tracks, "bow")


def run(folder: Path) -> dict[str, Any]:
    """Write the files of all three; see `show`. The subject balances."""
    character = poise.Character.human(HEIGHT, MASS)
    clip = bow(character.skeleton)
    shots, centers, stages = [], {}, {}
    for way, color in WAYS.items():
        stage, _ = build(way, character, clip)
        shots.append(Shot(stage.run(SECONDS, fps=TAKE_FPS), None, way, color))
        stages[way] = stage
        center = shots[-1].record.center[:, [0, 2]]
        centers[way] = 1e3 * np.linalg.norm(center - center[0], axis=1)
    subject, stage = shots[-1], stages["balanced"]
    joints = part_joints(character.skeleton, "upperBody")
    reference = shots[0].take.clip()
    figures = measure_mix(stage, subject.take, None) | {
        "tracking_error_rad": measure_error(subject.take.clip(), reference, joints),
        "com_mm": {way: float(each.max()) for way, each in centers.items()},
        "fell_of": [shot.label for shot in shots if shot.take.fell_at() is not None],
        "hips_back_mm": 1e3 * float(np.ptp(subject.record.root[:, 2])),
    }
    write_bytes(
        folder / "bow-sway.png", plot_comparison(subject.times, centers, "mm", "centre of mass, from its place")
    )
    return save_show(folder, "bow", shots, figures, subject, azimuth=1.2)


def build(way: str, character: poise.Character, clip: poise.Clip) -> tuple[poise.Stage, Actor]:
    """One of `WAYS`."""
    stage = poise.Stage()
    actor = stage.add(character, "actor", poise.Pose(clip.root[0].copy(), clip.rotations[0].copy()))
    if way == "animated":
        actor.drive("root", poise.Kinematic(stand_still(character)))
        actor.drive("upperBody", poise.Kinematic(clip))
        return stage, actor
    if way == "stiff":
        actor.drive("root", poise.Free())
        actor.drive("legs", poise.Loose(stiffness=FIRM, damping=1.0))
    else:
        actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Track(clip))
    return stage, actor
