"""Makes docs/pictures/viscosity.png, how hands are felt: python docs/make/viscosity.py"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from poise.files.output import write_bytes
from poise.pictures.plot_style import finish_panel, new_figure, to_png
from poise.puppetry.viscosity import Viscosity

DOCS = Path(__file__).parents[1]
ALPHAS = (0.1, 0.3, 0.7)
NONE = np.zeros((0, 4))


def feel(alpha: float, times: np.ndarray, x: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """What is felt at some times of samples that come at others; NaN: the hand is not seen."""
    felt, found, k = Viscosity(alpha), [], 0
    for t in shown:
        while k < len(times) and times[k] <= t:
            felt.feel(float(times[k]), x[k : k + 1], NONE)
            k += 1
        found.append(felt.at(float(t))[0][0])
    return np.array(found)


def main() -> None:
    """Four panels: a step, a ramp, noise, a dropout."""
    rng = np.random.default_rng(1)
    times = np.arange(0.0, 1.6, 1.0 / 60.0) + rng.uniform(0.0, 0.004, 96)
    shown = np.arange(0.02, 1.58, 1.0 / 240.0)
    gone = np.where((times > 0.5) & (times < 0.95), np.nan, np.sin(4.0 * times))
    signals = {
        "a step": np.where(times < 0.3, 0.0, 1.0),
        "a ramp": np.clip(times - 0.3, 0.0, 0.9),
        "noise": rng.normal(scale=0.3, size=len(times)),
        "a hand that is not seen for half a second": gone,
    }
    figure = new_figure(10.0, 5.6, "What is felt of a hand, 60 samples a second")
    for k, (name, x) in enumerate(signals.items()):
        panel = figure.add_subplot(2, 2, k + 1)
        panel.plot(times, x, ".", color="0.6", markersize=3, label="hand")
        for alpha in ALPHAS:
            panel.plot(shown, feel(alpha, times, x, shown), linewidth=1.1, label=f"viscosity {alpha:g}")
        panel.set_title(name, fontsize=9, loc="left")
        finish_panel(panel, shown, has_legend=k == 0)
    write_bytes(DOCS / "pictures" / "viscosity.png", to_png(figure))


if __name__ == "__main__":
    main()
