"""A motion from elsewhere on head, arms and trunk, legs moved by physics: what `poise mix` does with a clip.

Without `--clip FILE` it is a wave of Poise's own, shaken as a marker system would.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.demos.shared.show import BLUE, MIX_FIGURES, RED, Ghost, Shot, save_show
from poise.files.reading.options import Source
from poise.files.registry import read_clip
from poise.motion.samples import wave

HEIGHT, MASS, SECONDS = 1.78, 75.0, 7.0
NOISE = np.radians(0.15)  # RMS a joint, as optical systems leave it after labelling


def run(folder: Path, clip: Path | None = None, seed: int = 0) -> dict[str, Any]:
    """Write the files of a recording with physics under it; see `show`. seed: of the shaking of Poise's own."""
    if clip is None:
        character = poise.Character.human(HEIGHT, MASS)
        recording = shake(wave(character.skeleton, SECONDS, rate=2.0), seed)
    else:
        reading = read_clip(clip)
        recording, character = reading.clip, Source().build_character(reading)
    result = poise.mix(recording, character=character)
    subject = Shot(result.take, None, "mixed", BLUE)
    begun = dataclasses.replace(recording, times=recording.times - recording.times[0])
    figures = {key: result.figures[key] for key in (*MIX_FIGURES, "stepping")}
    return save_show(folder, "mocap", [Ghost(begun, character.mass, "as recorded", RED), subject], figures, subject)


def shake(clip: poise.Clip, seed: int = 0) -> poise.Clip:
    """A clip with noise on every joint: neighbouring frames alike up to about 10 Hz, the root by half a millimetre."""
    rng = np.random.default_rng(seed)
    bell = np.hanning(9)[:, None]
    noise = rng.normal(size=(len(clip), len(clip.skeleton) * 3 + 3))
    smooth = np.apply_along_axis(lambda x: np.convolve(x, bell[:, 0], mode="same"), 0, noise) / np.linalg.norm(bell)
    turns = rotation.exp(NOISE / np.sqrt(3.0) * smooth[:, 3:].reshape(len(clip), -1, 3))
    return dataclasses.replace(
        clip, root=clip.root + 3e-4 * smooth[:, :3], rotations=rotation.multiply(clip.rotations, turns)
    )
