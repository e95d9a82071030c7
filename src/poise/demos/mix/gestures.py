"""Gestures of a mixed body beside one that is only animated: arms that swing, hands that clap, a speaker's strokes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import gestures, rotation
from poise.body.roles import SIDES
from poise.demos.shared.show import TAKE_FPS, run_beside_animated, save_show
from poise.motion.gestures import Stress

STRESSES = (
    Stress(0.90, "beat", "right"),
    Stress(1.38, "beat", "right"),
    Stress(1.94, "beat", "both"),
    Stress(2.90, "point", "right", (-0.4, 0.15, 1.0)),
    Stress(3.90, "beat", "left"),
    Stress(4.36, "beat", "both"),
    Stress(5.30, "point", "left", (0.5, 0.05, 1.0)),
)
SWINGS, CLAPS, SPEAKS = 6.0, 5.0, 7.5  # s, how long each lasts
_REACHED = 3e-4  # m from where a point ends: it is held there for a while
_AROUND = 0.16  # s, before and after a stress, in which its stroke is looked for


def swing_arms(folder: Path) -> dict[str, Any]:
    """Both arms swing hard: the mixed body's hips answer them, the animated one's do not.   [mix, fig 6]"""
    character = poise.Character.human(1.78, 75.0, preset="mix")
    gesture = gestures.arm_swing(rate=1.0, amplitude=100.0)
    _, take, shots, figures = run_beside_animated(character, gesture, SWINGS)
    figures["hips_travel_mm"] = 1000.0 * float(np.ptp(take.actor("mixed").root[:, 2]))
    # From the side, where arms that go forward are seen.
    return save_show(folder, "armswing", shots, figures, shots[-1], azimuth=-1.1)


def clap(folder: Path) -> dict[str, Any]:
    """Hands that clap: their forces cancel, so the body hardly sways, unlike under a swing of the arms."""
    character = poise.Character.human(1.78, 75.0, preset="mix")
    _, _, shots, figures = run_beside_animated(character, gestures.clap(2.5), CLAPS)
    return save_show(folder, "clap", shots, figures, shots[-1])


def speak(folder: Path) -> dict[str, Any]:
    """Beats and points of the hands, whose strokes end on given stress times (W8)."""
    character = poise.Character.human(1.70, 66.0, preset="mix")
    _, take, shots, figures = run_beside_animated(character, gestures.speak(STRESSES), SPEAKS)
    errors = measure_strokes(take.clip("mixed"), STRESSES)
    figures |= {"strokes": len(errors), "stroke_error_s": float(np.max(np.abs(errors))), "frame_s": 1.0 / TAKE_FPS}
    return save_show(folder, "speech", shots, figures, shots[-1])


def measure_strokes(clip: poise.Clip, stresses: Sequence[Stress]) -> np.ndarray:
    """(N,) s, how late each stroke of each hand ends in the frames of a clip: when a beating hand is lowest, or when a
    pointing one has come as far as it gets, seen from the trunk that carries the arm."""
    skeleton = clip.skeleton
    errors = []
    for stress in stresses:
        for side in SIDES if stress.hand == "both" else (stress.hand,):
            hand, shoulder = skeleton.index(side + "Hand"), skeleton.index(side + "UpperArm")
            trunk = int(skeleton.parents[shoulder])
            positions, turns = clip.world
            away = rotation.rotate(rotation.conjugate(turns[:, trunk]), positions[:, hand] - positions[:, shoulder])
            near = np.flatnonzero(np.abs(clip.times - stress.time) < _AROUND)
            if stress.kind == "beat":
                frame = near[np.argmin(away[near, 1])]
            else:
                far = np.linalg.norm(away[near], axis=1)
                frame = near[np.argmax(far > far.max() - _REACHED)]
            errors.append(clip.times[frame] - stress.time)
    return np.array(errors)
