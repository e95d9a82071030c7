"""Both arms swing hard: the mixed body's hips answer them, the animated one's do not.   [mix, fig 6]"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import gestures
from poise.demos.shared.show import run_beside_animated, save_show

HEIGHT, MASS, SECONDS = 1.78, 75.0, 6.0


def run(folder: Path) -> dict[str, Any]:
    """Write the arm swing's files; see `show`."""
    character = poise.Character.human(HEIGHT, MASS, preset="mix")
    gesture = gestures.arm_swing(rate=1.0, amplitude=100.0)
    _, take, shots, figures = run_beside_animated(character, gesture, SECONDS)
    figures["hips_travel_mm"] = 1000.0 * float(np.ptp(take.actor("mixed").root[:, 2]))
    # From the side, where arms that go forward are seen.
    return save_show(folder, "armswing", shots, figures, shots[-1], azimuth=-1.1)
