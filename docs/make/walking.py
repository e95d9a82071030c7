"""Pictures and the table of docs/walking.md: python docs/make/walking.py"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.image import imread
from scipy.spatial.transform import Rotation

import poise
from poise.demos import DEMOS
from poise.pictures.image import save_png
from poise.pictures.plot_style import LINE_COLORS, finish_panel, new_figure, to_png
from poise.walking.start import start_walk

HERE = Path(__file__).resolve().parents[1]
NAMES = ("stairs", "slope", "rough", "moving", "bodies")
KEYS = {
    "steps": "steps", "fell": "fell", "com_margin_m": "margin, mm", "foot_error_mm": "planted feet move, mm",
    "swing_depth_mm": "swing under the ground, mm", "sole_gap_mm": "sole to ground, mm",
    "peak_joint_acceleration_rad_s2": "joint, rad/s²",
}  # fmt: skip


def copy_smaller(source: Path, target: Path, most: int = 1_000_000) -> None:
    """A picture in at most so many bytes: every so many pixels become one."""
    pixels = np.round(255.0 * imread(source)[..., :3])
    for by in range(1, 9):
        high, wide = (side // by * by for side in pixels.shape[:2])
        blocks = pixels[:high, :wide].reshape(high // by, by, wide // by, by, 3)
        save_png(target, np.round(blocks.mean(axis=(1, 3))).astype(np.uint8))
        if target.stat().st_size <= most:
            return


def draw_upright(steps: int = 50) -> str:
    """The same walk with its height led and with none: figure 10 of the balance paper; a line of figures."""
    body, lines = poise.Character.human(1.75, 75), []
    figure = new_figure(9.0, 5.0, "")
    high, bent = figure.subplots(2, 1, sharex=True)
    knee = body.skeleton.index("leftLowerLeg")
    for k, (name, weight) in enumerate({"led": None, "not led": 0.0}.items()):
        poser = start_walk(body, None, steps)
        if weight is not None:
            poser.follower.center_weight[1] = weight
        poser.walker.reach(1e9)
        times = np.arange(0.0, poser.walker.end, 0.02)
        found = poser.frames(times)
        turns = [Rotation.from_quat(found.rotations[:, i], scalar_first=True) for i in range(len(body.skeleton))]
        angle = np.degrees(turns[knee].magnitude())
        spins = np.stack([(turn[:-1].inv() * turn[1:]).as_rotvec() for turn in turns[1:]], axis=1) / 0.02
        hardest = np.linalg.norm(np.diff(spins, axis=0), axis=-1).max() / 0.02
        first, last = (found.root[at, 1].mean() for at in (slice(200, 400), slice(-400, -200)))
        lines.append(
            f"{name}: hips at {first:.3f} m after 4 s and at {last:.3f} m 8 s before the end, knee {angle.min():.0f} "
            f"to {angle.max():.0f} degrees, joints {hardest:.0f} rad/s2 at the most"
        )
        high.plot(times, found.root[:, 1], color=LINE_COLORS[k], lw=0.9, label=name)
        bent.plot(times, angle, color=LINE_COLORS[k], lw=0.7, label=name)
    high.set(ylabel="hips over the ground, m")
    bent.set(ylabel="left knee bent, degrees", xlabel="s")
    for panel in (high, bent):
        finish_panel(panel, times)
    (HERE / "pictures" / "walk-upright.png").write_bytes(to_png(figure))
    return "; ".join(lines)


def main() -> None:
    """Run the demos, take their pictures, and write what they came to."""
    print(draw_upright())
    with tempfile.TemporaryDirectory() as folder:
        found = {name: DEMOS[name].load()(Path(folder)) for name in NAMES}
        for name in ("stairs", "rough", "bodies"):
            copy_smaller(Path(folder) / f"{name}.png", HERE / "pictures" / f"walk-{name}.png")
        shutil.copy(Path(folder) / "stairs-center.png", HERE / "pictures" / "walk-stairs-center.png")
    rows = {name: values for name, values in found.items() if name != "bodies"}
    rows |= {f"body: {name}": values for name, values in found["bodies"]["bodies"].items()}
    text = ["| walk | " + " | ".join(KEYS.values()) + " |", "|---" * (len(KEYS) + 1) + "|"]
    text += [
        f"| {name} | " + " | ".join(format_figure(key, values[key]) for key in KEYS) + " |"
        for name, values in rows.items()
    ]
    page = HERE / "walking.md"
    before, rest = page.read_text().split("<!-- figures -->\n")
    after = rest.split("<!-- /figures -->")[1]
    page.write_text(f"{before}<!-- figures -->\n" + "\n".join(text) + f"\n<!-- /figures -->{after}")


def format_figure(key: str, value: Any) -> str:
    """A figure as the table has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key == "com_margin_m":
        return f"{1000.0 * value:.1f}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
