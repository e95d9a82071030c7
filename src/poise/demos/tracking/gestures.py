"""Gestures that were captured 15 to 25 times a second, played back and tracked (Z1, Z10).   [tracking, figure 6]

raw        the motion itself: what a marker on the hand would have told, at full rate
kinematic  its joints' rotations at uneven moments, 15 to 25 a second, played back by slerp
tracked    the same rotations, smoothed by splines and followed by a simulated upper body

`peak_error` is how far the hands' peak speeds are from the raw ones, at most over all peaks, as a share; `spike_m_s2`
the largest acceleration of a hand between two frames: a playback by slerp changes its speed at once at every sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import gestures, rotation
from poise.body.roles import SIDES
from poise.demos.mix.gestures import STRESSES
from poise.demos.shared.show import (
    BLUE,
    CLAY,
    RED,
    Ghost,
    Shot,
    film_shots,
    measure_mix,
    save_figures,
    save_motion,
    stand_still,
)
from poise.files.output import write_bytes
from poise.motion.clip import interpolate
from poise.motion.edits.timing import resample
from poise.pictures.mix_plots import plot_comparison

HEIGHT, MASS = 1.70, 66.0  # the speaker
SECONDS, RATE, DT, SEED = 6.0, 240.0, 0.002, 0
RATES = (15.0, 25.0)  # samples a second
SMOOTH = 120.0  # frames a second of what is tracked
KNUCKLES = 0.09  # m from the wrist, along the hand: where the speed is measured
_PEAK, _APART, _NEAR = 0.5, 0.15, 0.08  # m/s, s, s: a peak, how far two are apart, and how near they are looked for


def run(folder: Path, seed: int = SEED) -> dict[str, Any]:
    """Write the files of all three; see `show`. seed: of the moments of the samples."""
    character = poise.Character.human(HEIGHT, MASS, preset="mix")
    raw = record(character)
    samples = sample(raw, seed)
    playback = raw.replace(**interpolate(samples, raw.times, "slerp")._asdict())
    stage, take = track(character, samples, raw)
    clips = {"raw": raw, "kinematic": playback, "tracked": take.clip()}
    places = {name: find_knuckles(clip) for name, clip in clips.items()}
    figures = measure_mix(stage, take) | measure(places, raw.times) | {"samples": len(samples)}
    speeds = {name: find_speed(each, raw.times)[:, 1] for name, each in places.items()}
    near = (raw.times > 2.3) & (raw.times < 4.7)
    plot = plot_comparison(
        raw.times[near], {name: speed[near] for name, speed in speeds.items()}, "m/s", "speed of the right hand"
    )
    write_bytes(folder / "gestures-speed.png", plot)
    subject = Shot(take, None, "tracked", BLUE)
    save_motion(folder, "gestures", subject)
    shots: list[Shot | Ghost] = [Ghost(raw, MASS, "raw", CLAY), Ghost(playback, MASS, "kinematic", RED), subject]
    film_shots(folder / "gestures", shots)
    return save_figures(folder, "gestures", figures)


def record(character: poise.Character, seconds: float = SECONDS) -> poise.Clip:
    """A speaker's gestures on a body that stands, at full rate."""
    skeleton, times = character.skeleton, np.arange(round(seconds * RATE) + 1) / RATE
    still, speech = stand_still(character), gestures.speak(STRESSES)
    turns = np.tile(still.rotations[0], (len(times), 1, 1))
    turns[:, speech.joints(skeleton)] = speech.rotations(skeleton, times)
    return poise.Clip(
        skeleton, times, np.tile(still.root[0], (len(times), 1)), rotation.make_continuous(turns), "speech"
    )


def sample(clip: poise.Clip, seed: int = SEED, rates: tuple[float, float] = RATES) -> poise.Clip:
    """Poses of a clip at uneven moments, between so many and so many a second, its ends among them."""
    rng, times = np.random.default_rng(seed), [float(clip.times[0])]
    while times[-1] < clip.times[-1] - 1.0 / rates[0]:
        times.append(times[-1] + float(1.0 / rng.uniform(*rates)))
    times.append(float(clip.times[-1]))
    return clip.replace(times=np.array(times), **interpolate(clip, np.array(times), "spline")._asdict())


def track(
    character: poise.Character, samples: poise.Clip, raw: poise.Clip, **options: Any
) -> tuple[poise.Stage, poise.Take]:
    """An upper body that follows samples, on hips and legs that do as they say; frames as of the raw motion."""
    stage, smooth = poise.Stage(dt=DT), resample(samples, SMOOTH)
    actor = stage.add(character, "actor", poise.Pose(smooth.root[0].copy(), smooth.rotations[0].copy()))
    actor.drive("body", poise.Kinematic(smooth))
    actor.drive("upperBody", poise.Track(smooth, **options))
    return stage, stage.run(raw.duration, times=raw.times - raw.times[0])


def find_knuckles(clip: poise.Clip) -> np.ndarray:
    """(F, 2, 3) m, where the left and the right hand's knuckles are."""
    positions, turns = clip.world
    found = []
    for side in SIDES:
        hand, arm = clip.skeleton.index(side + "Hand"), clip.skeleton.index(side + "LowerArm")
        rest = clip.skeleton.rest_positions()
        along = (rest[hand] - rest[arm]) / np.linalg.norm(rest[hand] - rest[arm])
        found.append(positions[:, hand] + rotation.rotate(turns[:, hand], KNUCKLES * along))
    return np.stack(found, axis=1)


def find_speed(places: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(F, 2) m/s, of points (F, 2, 3) m: central differences."""
    return np.linalg.norm(np.gradient(places, times, axis=0), axis=-1)


def measure(places: Mapping[str, np.ndarray], times: np.ndarray) -> dict[str, Any]:
    """Peaks and spikes of the hands' speed: places (F, 2, 3) m of `raw` and of others."""
    from scipy.signal import find_peaks

    step = float(np.mean(np.diff(times)))
    inner = slice(round(0.1 / step), -round(0.1 / step))
    speeds = {name: find_speed(each, times)[inner] for name, each in places.items()}
    errors: dict[str, float] = {}
    for name in places:
        if name == "raw":
            continue
        worst = 0.0
        for k in range(2):
            own, other = speeds["raw"][:, k], speeds[name][:, k]
            peaks, _ = find_peaks(own, height=_PEAK, distance=round(_APART / step))
            reach = round(_NEAR / step)
            for i in peaks:
                near = slice(max(0, i - reach), i + reach + 1)
                if own[near].max() > own[i]:
                    continue  # on the flank of a higher one
                worst = max(worst, abs(float(other[near].max() / own[i]) - 1.0))
        errors[name] = worst
    spikes = {
        name: float(np.linalg.norm(np.diff(each, 2, axis=0)[inner], axis=-1).max() / step**2)
        for name, each in places.items()
    }
    return {
        "peak_error": errors,
        "peak_speed_m_s": {name: float(each.max()) for name, each in speeds.items()},
        "spike_m_s2": spikes,
    }
