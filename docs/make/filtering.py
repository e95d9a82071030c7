"""Makes the tables and the picture of docs/filtering.md:

    PYTHONPATH=tests python docs/make/filtering.py [FOLDER OF REAL RECORDINGS]

Tables go between `<!-- name -->` and `<!-- end -->` in the page. Without the recordings the tables of measured walks
stay as they are. Takes about three minutes on one core.
"""

from __future__ import annotations

import csv
import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
from filtering_motions import MOTIONS, noise, sample
from filtering_rivals import challis, cross_validation, smoothing_spline_acceleration, winter
from scipy import signal

from oracles.differences import three_point
from poise import rotation
from poise.spatial.cutoff import choose_cutoff
from poise.spatial.derivative import position_derivatives, rotation_derivatives
from poise.spatial.filter import CORRECTION, lowpass, lowpass_rotations

DOCS = Path(__file__).parents[1]
RATES = (24, 30, 60, 120, 240)
# Errors below half a percent of gravity do not matter to anybody: a regret is (error + SLACK) / (least error + SLACK).
SLACK = 0.05


def rms(e: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(e))))


def acceleration(x: np.ndarray, rate: float) -> np.ndarray:
    return position_derivatives(x, np.arange(len(x)) / rate).acceleration


def cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.2g}" if abs(value) < 10 else f"{value:.0f}"


def table(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *([cell(v) for v in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def draw(
    name: str, seconds: float, rate: float, kind: str, size: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """A noisy recording and the true acceleration."""
    rng = np.random.default_rng([seed, rate, int(10 * seconds), len(name)])
    x, a = sample(name, seconds, rate, rng)
    return (x + noise(kind, x.shape, rate, size, rng) if size else x), a


def by_cutoff() -> str:
    """Error of the acceleration against the cut-off, over rates: a walk and a run with 1 mm of white noise, m/s2."""
    cutoffs = (3, 4, 6, 8, 10, 15, 20)
    rows = []
    for name in ("walking", "running"):
        for rate in RATES:
            clips = [draw(name, 6, rate, "white", 1e-3, seed) for seed in range(3)]
            cells: list[object] = [f"{name}, {rate} Hz"]
            for cutoff in (*cutoffs, None):
                if cutoff is not None and cutoff >= rate / 2:
                    cells.append("")
                    continue
                cells.append(
                    rms(np.concatenate([acceleration(lowpass(x, rate, cutoff or np.inf), rate) - a for x, a in clips]))
                )
            chosen = [choose_cutoff(x, rate).hz for x, _ in clips]
            cells.append(f"{np.median(chosen):.1f} Hz")
            cells.append(
                rms(
                    np.concatenate(
                        [acceleration(lowpass(x, rate, c), rate) - a for (x, a), c in zip(clips, chosen, strict=True)]
                    )
                )
            )
            rows.append(cells)
    return table(["", *(f"{c} Hz" for c in cutoffs), "none", "chosen", "its error"], rows)


def reflected(x: np.ndarray, rate: float, cutoff: float, method: str) -> np.ndarray:
    corner = rate / np.pi * np.arctan(np.tan(np.pi * cutoff / rate) / CORRECTION)
    b, a = signal.butter(2, corner, fs=rate)
    if method == "gust":
        return signal.filtfilt(b, a, x, axis=0, method="gust")
    return signal.filtfilt(b, a, x, axis=0, padtype=method, padlen=min(len(x) - 1, int(3 * rate / cutoff)))


def ends() -> str:
    """Error of the acceleration within half a period of the cut-off from an end, over that in the middle."""
    ways = {
        "raw start, as in the paper": lambda x, r, c: _as_printed(x, r, c),
        "even reflection": lambda x, r, c: reflected(x, r, c, "even"),
        "Gustafsson": lambda x, r, c: reflected(x, r, c, "gust"),
        "odd reflection": lambda x, r, c: reflected(x, r, c, "odd"),
        "fitted parabola (here)": lowpass,
    }
    rows = []
    for label, way in ways.items():
        cells: list[object] = [label]
        for size in (1e-4, 1e-3, 4e-3):
            ratios = []
            for name, cutoff in (("walking", 6), ("gesturing", 6), ("jumping", 10), ("running", 12)):
                for rate in (60, 120):
                    for seed in range(6):
                        x, a = draw(name, 2.5, rate, "white", size, seed)
                        e = acceleration(way(x, rate, cutoff), rate) - a
                        n = int(np.ceil(0.5 * rate / cutoff))
                        ratios.append(rms(np.concatenate([e[:n], e[-n:]])) / rms(e[3 * n : -3 * n]))
            cells.append(float(np.sqrt(np.mean(np.square(ratios)))))
        rows.append(cells)
    return table(["ends", "0.1 mm", "1 mm", "4 mm"], rows)


def _as_printed(x: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Both passes of eq 10, each starting on two raw samples."""
    corner = rate / np.pi * np.arctan(np.tan(np.pi * cutoff / rate) / CORRECTION)
    b, a = signal.butter(2, corner, fs=rate)
    for _ in range(2):
        y = x.copy()
        start = [signal.lfiltic(b, a, x[1::-1, c], x[1::-1, c]) for c in range(x.shape[1])]
        y[2:] = signal.lfilter(b, a, x[2:], axis=0, zi=np.stack(start, axis=1))[0]
        x = y[::-1]
    return x


def _tumble(t: np.ndarray, speed: float = 2.0) -> np.ndarray:
    turn = rotation.from_axis_angle(np.array([1.0, 2.0, -1.0]), speed * t)
    swing = rotation.from_axis_angle(np.array([0.0, 1.0, 0.3]), 1.2 * np.sin(2 * np.pi * 1.1 * t))
    return rotation.multiply(
        turn, rotation.multiply(swing, rotation.exp(0.5 * np.sin(2 * np.pi * 2.3 * t)[:, None] * [1.0, 0, 0]))
    )


def _rates(t: np.ndarray, speed: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity and acceleration of the tumble, from steps small enough to be exact to seven digits."""
    h = 1e-3
    near = np.stack([_tumble(t + k * h, speed) for k in range(-3, 4)])
    steps = rotation.log(
        rotation.multiply(rotation.conjugate(near[3]), near)
    )  # rotation vectors about the present pose
    first = (steps[6] - 9 * steps[5] + 45 * steps[4] - 45 * steps[2] + 9 * steps[1] - steps[0]) / (60 * h)
    second = (2 * steps[6] - 27 * steps[5] + 270 * steps[4] + 270 * steps[2] - 27 * steps[1] + 2 * steps[0]) / (
        180 * h * h
    )
    return first, second


def derivatives() -> str:
    """Largest error over a clip without noise, ends included."""
    rows = []
    for rate in RATES:
        t = np.arange(int(3 * rate)) / rate
        q, (w, a) = _tumble(t), _rates(t)
        paper, spline = three_point(q, 1 / rate), rotation_derivatives(q, t)
        cells = [(d.velocity - w, d.acceleration - a) for d in (paper, spline)]
        rows.append([f"{rate} Hz", *(float(np.abs(e).max()) for pair in cells for e in pair)])
    head = [
        "rate",
        "three points: velocity rad/s",
        "acceleration rad/s2",
        "spline: velocity rad/s",
        "acceleration rad/s2",
    ]
    return table(head, rows)


def rotations() -> str:
    """Components against rotation vectors about a running mean: RMS error of angular acceleration in rad/s2."""
    rows = []
    rate, cutoff = 120, 6.0
    t = np.arange(4 * rate) / rate
    middle = slice(rate // 3, -rate // 3)
    for speed in (2, 6, 15):
        a = _rates(t, speed)[1]
        cells: list[object] = [f"{speed} rad/s"]
        for size in (0.002, 0.02, 0.1):
            errors: dict[int, list[float]] = {0: [], 1: [], 2: []}
            for seed in range(6):
                rng = np.random.default_rng(seed)
                q = rotation.multiply(_tumble(t, speed), rotation.exp(size * rng.standard_normal((len(t), 3))))
                q = rotation.make_continuous(q)
                window = np.ones(round(rate / cutoff)) / round(rate / cutoff)
                mean = lowpass(np.apply_along_axis(np.convolve, 0, q, window, "same"), rate, cutoff)
                unit = rotation.normalize(mean)
                away = rotation.log(rotation.multiply(rotation.conjugate(unit), q))
                for i, smooth in enumerate(
                    (
                        lowpass_rotations(q, rate, cutoff),
                        rotation.normalize(mean + lowpass(q - mean, rate, cutoff)),
                        rotation.multiply(unit, rotation.exp(lowpass(away, rate, cutoff))),
                    )
                ):
                    errors[i].append(rms((rotation_derivatives(smooth, t).acceleration - a)[middle]))
            cells += [float(np.mean(errors[i])) for i in range(3)]
        rows.append(cells)
    ways = ("components", "twice", "about mean")
    return table(["turning at", *(f"{w}, {s} rad" for s in (0.002, 0.02, 0.1) for w in ways)], rows)


@cache
def benchmark() -> list[tuple[tuple, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Recordings with the error that every cut-off would give: (case, x, a, cut-offs, errors)."""
    noises = [("white", s) for s in (0.0, 1e-5, 1e-4, 1e-3, 5e-3)] + [("slow", 3e-4), ("slow", 2e-3), ("capture", 2e-4)]
    out = []
    for name in MOTIONS:
        for rate in RATES:
            for seconds in (1.0, 4.0, 20.0) if rate < 240 else (1.0, 4.0):
                for kind, size in noises:
                    x, a = draw(name, seconds, rate, kind, size)
                    cutoffs = np.geomspace(1, rate / 2, 36)
                    errors = np.array([rms(acceleration(lowpass(x, rate, c), rate) - a) for c in cutoffs])
                    out.append(((name, rate, seconds, kind, size), x, a, cutoffs, errors))
    return out


METHODS = {
    "no filter": lambda x, rate: rate / 2,
    "6 Hz always": lambda x, rate: 6.0,
    "Winter's residuals": winter,
    "Challis' autocorrelation": challis,
    "cross-validation of the filter": cross_validation,
    "this, from 4 Hz": lambda x, rate: choose_cutoff(x, rate, 4.0).hz,
    "**this, from 3 Hz (default)**": lambda x, rate: choose_cutoff(x, rate).hz,
    "this, from 1 Hz": lambda x, rate: choose_cutoff(x, rate, 1.0).hz,
}
GROUPS = {
    "all": lambda c: True,
    "clean": lambda c: c[4] == 0,
    "white noise": lambda c: c[3] == "white" and c[4] > 0,
    "slow noise": lambda c: c[3] == "slow",
    "capture noise": lambda c: c[3] == "capture",
    "standing": lambda c: c[0] == "standing",
    "moving": lambda c: c[0] != "standing",
}


def regret() -> str:
    """Error over the least error of any cut-off: geometric mean / 95 % / worst."""
    cases = benchmark()
    regrets = {}
    for label, choose in METHODS.items():
        found = []
        for (_, rate, *_), x, _, cutoffs, errors in cases:
            e = np.exp(np.interp(np.log(choose(x, rate)), np.log(cutoffs), np.log(errors)))
            found.append((e + SLACK) / (errors.min() + SLACK))
        regrets[label] = np.array(found)
    spline = [rms(smoothing_spline_acceleration(x, case[1]) - a) for case, x, a, _, _ in cases]
    regrets["quintic smoothing spline, cross-validated"] = np.array(
        [(e + SLACK) / (errors.min() + SLACK) for e, (*_, errors) in zip(spline, cases, strict=True)]
    )
    rows = []
    for label, values in regrets.items():
        row: list[object] = [label]
        for inside in GROUPS.values():
            r = values[[inside(case) for case, *_ in cases]]
            row.append(f"{np.exp(np.log(r).mean()):.2f} / {np.quantile(r, 0.95):.1f} / {r.max():.1f}")
        rows.append(row)
    return table(["method", *GROUPS], rows)


def _plates(folder: Path, trial: str) -> tuple:
    """A trial's clip, Poise's body of the subject's mass, and a function: cut-off -> RMS force error, % body weight."""
    from poise.body.character import Character
    from poise.files import load_clip
    from poise.motion.forces.forces import compute_forces

    path = folder / "force-bvh" / f"{trial}.bvh"
    mass = json.loads(path.with_suffix(".json").read_text())["subject_mass_kg"]
    with (path.parent / f"{trial}_grf.csv").open(newline="") as file:
        plates = list(csv.DictReader(file))
    force = np.array([[float(row[f"total_f{axis}"]) for axis in "xyz"] for row in plates])
    valid = np.array([row["valid"] == "1" for row in plates])
    clip = load_clip(path)
    character = Character.from_skeleton(clip.skeleton, mass=mass)

    def forces(cutoff: float | None) -> tuple:
        found = compute_forces(clip, character, cutoff)
        return 100 * rms((found.reaction.force - force)[valid]) / (mass * 9.81), found

    return forces, clip


def measured(folder: Path) -> str:
    """Force from motion against force plates, RMS of the three axes in % of body weight, with Poise's own body."""
    rows = []
    for trial in ("walk3d_ik_raw", "walk3d_ik", "walk3d_raw", "walk3d"):
        forces, _ = _plates(folder, trial)
        chosen, found = forces(None)
        errors = [forces(c)[0] for c in (3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, np.inf)]
        rows.append([trial, *errors, f"{found.cutoff:.1f} Hz", chosen])
    return table(["trial", *(f"{c} Hz" for c in (3, 4, 5, 6, 8, 10, 15)), "none", "chosen", "its error"], rows)


def rules(folder: Path) -> str:
    """What each rule chooses for the centre of mass of the raw walk, and the force error that follows."""
    forces, clip = _plates(folder, "walk3d_ik_raw")
    center = forces(None)[1].center
    rows = []
    for label, choose in METHODS.items():
        cutoff = choose(center, clip.fps)
        rows.append([label, f"{cutoff:.1f} Hz", forces(cutoff)[0]])
    return table(["method", "cut-off", "error, % of body weight"], rows)


def picture(path: Path) -> None:
    """Left: error against cut-off for three recordings, with the choices. Right: error near the start."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    shown = [
        ("walking", "white", 1e-3),
        ("running", "white", 1e-3),
        ("walking", "capture", 2e-4),
        ("standing", "white", 1e-3),
    ]
    for name, kind, size in shown:
        x, a = draw(name, 6, 120, kind, size)
        cutoffs = np.geomspace(1.5, 60, 60)
        errors = [rms(acceleration(lowpass(x, 120, c), 120) - a) for c in cutoffs]
        (line,) = left.loglog(cutoffs, errors, label=f"{name}, {kind} noise of {1e3 * size:g} mm")
        chosen = choose_cutoff(x, 120).hz
        left.plot(chosen, np.interp(chosen, cutoffs, errors), "o", color=line.get_color(), markersize=9)
    left.set(
        xlabel="cut-off, Hz",
        ylabel="error of the acceleration, m/s²",
        title="error against cut-off at 120 Hz (dots: chosen)",
    )
    left.set_xticks([2, 3, 5, 10, 20, 50], ["2", "3", "5", "10", "20", "50"])
    left.minorticks_off()
    left.legend(frameon=False, fontsize=9)
    ways = {
        "as printed": (_as_printed, "C3:"),
        "odd reflection": (lambda x, r, c: reflected(x, r, c, "odd"), "C1--"),
        "fitted parabola (here)": (lowpass, "C0-"),
    }
    clips = [draw(name, 2.5, 120, "white", 5e-4, seed) for name in ("walking", "jumping") for seed in range(30)]
    for label, (way, style) in ways.items():
        errors = np.concatenate([acceleration(way(x, 120, 8), 120) - a for x, a in clips], axis=1)
        right.semilogy(np.arange(len(errors)) / 120, np.sqrt(np.mean(errors**2, axis=1)), style, label=label)
    right.set(xlim=(0, 0.4), xlabel="time from the start, s", ylabel="error of the acceleration, m/s²")
    right.set_title("the start of 60 walks and jumps, 0.5 mm, cut-off 8 Hz")
    right.legend(frameon=False, fontsize=9)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    page = DOCS / "filtering.md"
    makers = {
        "by-cutoff": by_cutoff,
        "ends": ends,
        "derivatives": derivatives,
        "rotations": rotations,
        "regret": regret,
    }
    if len(sys.argv) > 1:
        makers["measured"] = lambda: measured(Path(sys.argv[1]))
        makers["rules"] = lambda: rules(Path(sys.argv[1]))
    text = page.read_text(encoding="utf-8")
    for name, make in makers.items():
        made = make()
        before, place, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        if not end:
            raise SystemExit(f"{page.name} has no place for the table '{name}'")
        text = f"{before}{place}{made}\n{end}{after}"
        print(f"{name}\n{made}\n")
    page.write_text(text, encoding="utf-8")
    picture(DOCS / "pictures" / "filtering.png")


if __name__ == "__main__":
    main()
