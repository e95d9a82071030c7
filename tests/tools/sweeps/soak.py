"""A conductor for ten minutes, or an hour: does it fall, do its feet creep, is its sway the beat's?"""

from __future__ import annotations

import numpy as np

from poise import Character, Stage, gestures
from tools.sweeps.page import table
from tools.sweeps.runs import FPS, Figures, run, stand

BPM, BEATS = 92.0, 4
MOST = {10.0: 1.0, 60.0: 5.0}  # minutes: mm that feet may creep


def conduct(minutes: float, gain: float = 1.0, dt: float = 0.005) -> Figures:
    """Conduct in 4 at 92 beats a minute."""
    stage = Stage(dt=dt, gain=gain)
    actor = stand(stage, Character.human(1.75, 75.0, preset="mix"), gestures.conduct(BPM, BEATS))

    def tell(figures: Figures) -> None:
        if figures.seconds % 600.0 < 1e-6:
            print(f"soak: {figures.seconds / 60:.0f} min, creep {figures.creep:.3f} mm", flush=True)

    return run(stage, actor, 60.0 * minutes, tell=tell)


def find_rhythm(places: np.ndarray) -> tuple[float, float]:
    """Hz, the strongest frequency of the sway's velocity, and the share of its power at multiples of a bar's."""
    speed = np.diff(places, axis=0) * FPS
    power = (np.abs(np.fft.rfft((speed - speed.mean(axis=0)) * np.hanning(len(speed))[:, None], axis=0)) ** 2).sum(
        axis=1
    )
    hertz = np.fft.rfftfreq(len(speed), 1.0 / FPS)
    bar = BPM / 60.0 / BEATS
    in_step = (np.abs(hertz / bar - np.round(hertz / bar)) * bar < 3.0 * FPS / len(speed)) & (hertz > 0.5 * bar)
    return float(hertz[np.argmax(power)]), float(power[in_step].sum() / power.sum())


def sweep(soak: bool = False) -> tuple[str, int]:
    """The section, and how many aims were missed."""
    minutes = 60.0 if soak else 10.0
    long, still = conduct(minutes), conduct(2.0, gain=0.0)
    if not long.centers:
        return f"It broke off: {long.why}.", 1
    hertz, share = find_rhythm(np.concatenate(long.centers)[: int(120 * FPS)])
    rows = [
        ("conducted, minutes", f"{long.seconds / 60:g}"),
        ("fell", "no" if long.fell_at is None else f"at {long.fell_at:.1f} s"),
        ("feet crept, mm in all", f"{long.creep:.3f} (at most {MOST[minutes]:g})"),
        ("margin, mm", f"{1000 * long.margin:.0f}"),
        ("sway of the centre of mass, mm; with the gain at 0", f"{long.sway:.2f}; {still.sway:.2f}"),
        ("sway of the hips, mm; with the gain at 0", f"{long.hip_sway:.2f}; {still.hip_sway:.3f}"),
        ("beat, Hz; a bar, Hz", f"{BPM / 60:.3f}; {BPM / 60 / BEATS:.3f}"),
        ("strongest frequency of the sway's velocity, Hz", f"{hertz:.3f}"),
        ("share of its power at multiples of the bar's", f"{100 * share:.1f} %"),
        ("times real time, as it was run", f"{long.seconds / long.wall:.0f}"),
    ]
    missed = (long.fell_at is not None) + (not long.creep <= MOST[minutes]) + (not long.sway > still.sway)
    missed += (not share >= 0.9) + (still.fell_at is not None)
    text = (
        "75 kg, 1.75 m, in 4 at 92 beats a minute with the right hand, steps of 5 ms. With the gain at 0 the arms still"
        " carry their own mass about, which is all the sway that is left."
    )
    return f"{text}\n\n{table(('what', 'is'), rows)}", int(missed)
