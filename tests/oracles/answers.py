"""How a standing body answers its arms, from the positions in BVH files alone: gains, correlations and lags.

    python tests/oracles/answers.py RECORDED.bvh [RESULT.bvh] [--load SHARE] [--json]

It shares no code with Poise: its own reader of BVH, its own forward kinematics, its own table of masses.

r          m, the arms' shift: the mass of both arms over the body's times the place of the arms' centre of mass as seen
           from the chest, in the chest's own axes at their mean orientation. Nothing but the arms' own joints moves it.
x          m, the forward place of the centre of mass, hips, neck or head. Forward is level, across the line through
           both hip joints, averaged over the clip.
gain       <x r> / <r r>, both within a band of frequencies: mm of x for each mm of r. A statue with moving arms
           has 1 for the centre of mass and 0 elsewhere
lag        ms by which x comes after -r: where their correlation is largest, within a quarter of a second; none if
           it still grows there
with_person  correlation of x in the result with x in the recording

All bands are cut by a Fourier transform with soft edges, which shifts nothing in time. The first frames of CMU's files
hold a T-pose that was added to the recording; they are left out, and so is all but the longest stretch in which both
feet stay where they are. The thorax that those files have lost is put back.

Heads in CMU's files hang on two joints of the neck, of which the upper bends forward as the lower bends back. `head`
is the head joint; `head_on_neck` is where it would be if the neck were one bone that its lower joint turns.

Medians of CMU's 27_02, 28_01, 30_01, 15_08 and 18_08, 0.5 to 4 Hz: gains of centre of mass, hips, neck, head and
head on neck +0.03 -0.95 -1.73 -1.20 -1.74; lags of hips and neck -33 and -9 ms; r is 2.4 mm RMS.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

BANDS = {"beat": (0.5, 4.0), "slow": (0.1, 0.5)}  # Hz
POINTS = ("center", "hips", "neck", "head", "head_on_neck")
LEAST_SHIFT = 0.0005  # m RMS: below it a gain says nothing
LONGEST_LAG = 0.25  # s
PLANTED = 0.06  # m: a foot that gets farther from where it mostly is has stepped
CMU_UNIT = 0.0254 / 0.45  # m, of CMU's files

# Share of the body's mass, and the centre from the first joint to the second as a share of the way between them.
# W. T. Dempster (1955), Space requirements of the seated operator, WADC-TR-55-159, as in D. A. Winter (2009),
# Biomechanics and Motor Control of Human Movement, 4th ed., table 4.1. Winter's trunk goes from the greater trochanters
# to the shoulders with its centre half-way, his head from C7 to the ear with its centre at the ear.
LIMBS = (
    ("UpperArm", "LowerArm", 0.028, 0.436),
    ("LowerArm", "Hand", 0.016, 0.430),
    ("UpperLeg", "LowerLeg", 0.100, 0.433),
    ("LowerLeg", "Foot", 0.0465, 0.433),
    ("Foot", "Toes", 0.0145, 0.500),
)
HAND, TRUNK, HEAD = 0.006, 0.497, 0.081  # mass of a hand, of the trunk, of head and neck
HAND_REACH = 0.4  # of the forearm's length: from the wrist to the centre of a hand (0.506 of the way to the knuckles)

# The names that a joint may have: VRM's, which Poise writes for its own bodies, then those of CMU's files.
NAMES = {
    "hips": ("hips", "Hips"), "chest": ("upperChest", "chest", "Spine1", "spine"), "neck": ("neck", "Neck"),
    "head": ("head", "Head"),
}  # fmt: skip
_LIMB_NAMES = {
    "UpperArm": "Arm", "LowerArm": "ForeArm", "Hand": "Hand", "UpperLeg": "UpLeg", "LowerLeg": "Leg", "Foot": "Foot",
    "Toes": "ToeBase",
}  # fmt: skip
SIDES = {"left": "Left", "right": "Right"}
for _side, _Side in SIDES.items():
    NAMES |= {_side + limb: (_side + limb, _Side + limb, _Side + cmu) for limb, cmu in _LIMB_NAMES.items()}


@dataclass
class Bvh:
    """Joints by name, with parents, offsets and channels, and the frames (F, channels)."""

    names: list[str]
    parents: list[int]
    offsets: list[list[float]]
    channels: list[list[str]]
    frames: np.ndarray
    period: float


def read_bvh(path: str | Path) -> Bvh:
    """Read a BVH file. End sites have no name, and are left out."""
    words = Path(path).read_text().split()
    names, parents, offsets, channels = [], [], [], []
    stack: list[int] = []
    at = 0
    while words[at].upper() != "MOTION":
        word = words[at].upper()
        if word in ("ROOT", "JOINT", "END"):
            parents.append(stack[-1] if stack else -1)
            names.append("" if word == "END" else words[at + 1])
            offsets.append([0.0] * 3)
            channels.append([])
            at += 1
        elif word == "{":
            stack.append(len(names) - 1)
        elif word == "}":
            stack.pop()
        elif word == "OFFSET":
            offsets[stack[-1]] = [float(x) for x in words[at + 1 : at + 4]]
            at += 3
        elif word == "CHANNELS":
            count = int(words[at + 1])
            channels[stack[-1]] = words[at + 2 : at + 2 + count]
            at += 1 + count
        at += 1
    count, period = int(words[at + 2]), float(words[at + 5])
    frames = np.array(words[at + 6 :], float).reshape(count, -1)
    return Bvh(names, parents, restore_thorax(names, parents, offsets), channels, frames, period)


def restore_thorax(names: list[str], parents: list[int], offsets: list[list[float]]) -> list[list[float]]:
    """Return the offsets with a thorax as long as the spine below it, where CMU's conversion to BVH has lost it."""
    if "Spine1" not in names:
        return offsets
    chest = names.index("Spine1")
    above = [i for i, parent in enumerate(parents) if parent == chest]
    is_lost = all(not any(offsets[i]) for i in above)
    return [offsets[chest] if is_lost and i in above else offset for i, offset in enumerate(offsets)]


def place_joints(bvh: Bvh) -> tuple[dict[str, np.ndarray], dict[str, Rotation]]:
    """Where every joint is, (F, 3) in the file's unit, and how it is turned."""
    column = 0
    places, turns = [], []
    for i, channels in enumerate(bvh.channels):
        values = bvh.frames[:, column : column + len(channels)]
        column += len(channels)
        offset = np.tile(bvh.offsets[i], (len(bvh.frames), 1))
        axes, angles = "", []
        for name, value in zip(channels, values.T, strict=True):
            if name.lower().endswith("position"):
                offset[:, "xyz".index(name[0].lower())] = value
            else:
                axes += name[0].upper()
                angles.append(value)
        turn = Rotation.from_euler(axes, np.stack(angles, axis=1), degrees=True) if axes else None
        parent = bvh.parents[i]
        if parent < 0:
            places.append(offset)
            turns.append(turn)
        else:
            places.append(places[parent] + turns[parent].apply(offset))
            turns.append(turns[parent] if turn is None else turns[parent] * turn)
    named = [i for i, name in enumerate(bvh.names) if name]
    return {bvh.names[i]: places[i] for i in named}, {bvh.names[i]: turns[i] for i in named}


@dataclass
class Motion:
    """Forward places (F,) m of the points, and the arms' shift r (F,) m; times (F,) s."""

    times: np.ndarray
    shift: np.ndarray
    points: dict[str, np.ndarray]


def read_motion(path: str | Path, load: float = 0.0) -> Motion:
    """Read a motion. load: kg in each hand over the body's mass."""
    bvh = read_bvh(path)
    places, turns = place_joints(bvh)
    found = {role: next((name for name in names if name in places), None) for role, names in NAMES.items()}
    lost = [role for role in NAMES if found[role] is None and role not in ("neck", "leftToes", "rightToes")]
    if lost:
        raise SystemExit(f"{path} has no {', '.join(lost)}; its joints are {', '.join(places)}.")
    unit = CMU_UNIT if np.ptp(np.array([places[found["head"]][0], places[found["leftFoot"]][0]])[:, 1]) > 5 else 1.0
    stretch = find_planted(places, [places[found[side + "Foot"]] for side in SIDES], unit)
    at = {role: unit * places[name][stretch] for role, name in found.items() if name is not None}
    for role, instead in (("neck", "chest"), ("leftToes", "leftFoot"), ("rightToes", "rightFoot")):
        at.setdefault(role, at[instead])
    chest = turns[found["chest"]][stretch]

    masses, centers = [], []
    arms, arm_mass = np.zeros_like(at["hips"]), 0.0
    for side in SIDES:
        for near, far, mass, share in LIMBS:
            center = at[side + near] + share * (at[side + far] - at[side + near])
            masses.append(mass)
            centers.append(center)
            if near.endswith("Arm"):
                arms, arm_mass = arms + mass * center, arm_mass + mass
        forearm = at[side + "Hand"] - at[side + "LowerArm"]
        hand = at[side + "Hand"] + HAND_REACH * forearm
        masses.append(HAND + load)
        centers.append(hand)
        arms, arm_mass = arms + (HAND + load) * hand, arm_mass + HAND + load
    middle = [(at["left" + joint] + at["right" + joint]) / 2 for joint in ("UpperLeg", "UpperArm")]
    masses += [TRUNK, HEAD]
    centers += [(middle[0] + middle[1]) / 2, at["head"]]
    total = sum(masses)
    center = sum(m * c for m, c in zip(masses, centers, strict=True)) / total

    across = (at["leftUpperLeg"] - at["rightUpperLeg"]).mean(axis=0)
    forward = np.cross([across[0], 0.0, across[2]], [0.0, 1.0, 0.0])
    forward /= np.linalg.norm(forward)
    seen = chest.inv().apply(arms / arm_mass - at["chest"])
    shift = arm_mass / total * chest.mean().apply(seen) @ forward
    points = {"center": center, **{name: at[name] for name in ("hips", "neck", "head")}}
    points["head_on_neck"] = at["neck"] + _find_rigid_neck(bvh, found, turns, unit)[stretch]
    return Motion(
        bvh.period * np.arange(stretch.start, stretch.stop), shift, {name: x @ forward for name, x in points.items()}
    )


def _find_rigid_neck(bvh: Bvh, found: dict[str, str | None], turns: dict[str, Rotation], unit: float) -> np.ndarray:
    """(F, 3) m from the neck to the head, by the rest pose turned with the neck; from the chest if there is no neck."""
    neck, joint = bvh.names.index(found["neck"] or found["chest"]), bvh.names.index(found["head"])
    offset = np.zeros(3)
    while joint not in (neck, -1):
        offset += bvh.offsets[joint]
        joint = bvh.parents[joint]
    return unit * turns[bvh.names[neck]].apply(offset)


def find_planted(places: dict[str, np.ndarray], feet: list[np.ndarray], unit: float) -> slice:
    """Return the longest stretch of frames in which both feet stay where they mostly are, after any added T-pose.

    A T-pose that was added ends with a jump of some joint, in the first second, far larger than any other.
    """
    stacked = np.stack(list(places.values()), axis=1)
    jumps = np.linalg.norm(np.diff(stacked, axis=0), axis=-1).max(axis=1)
    early = int(np.argmax(jumps[:120]))
    start = early + 1 if jumps[early] > 4.0 * np.delete(jumps, early).max() else 0
    off = np.stack([np.linalg.norm(foot - np.median(foot[start:], axis=0), axis=1) for foot in feet])
    stays = (unit * off < PLANTED).all(axis=0)
    stays[:start] = False
    edges = np.flatnonzero(np.diff(np.concatenate([[0], stays.astype(int), [0]]))).reshape(-1, 2)
    first, end = max(edges, key=lambda edge: edge[1] - edge[0])
    return slice(int(first), int(end))


def cut_band(values: np.ndarray, period: float, band: tuple[float, float]) -> np.ndarray:
    """Return what a signal (F,) has in a band of frequencies. Its ends are mirrored and turned over before."""
    n = len(values)
    even = np.concatenate([2 * values[0] - values[:0:-1], values, 2 * values[-1] - values[-2::-1]])
    even = even - np.linspace(even[0], even[-1], len(even))
    hertz = np.fft.rfftfreq(len(even), period)
    low, high = band
    with np.errstate(divide="ignore"):
        gain = 1.0 / ((1.0 + (low / np.maximum(hertz, 1e-12)) ** 8) * (1.0 + (hertz / high) ** 8))
    out = np.fft.irfft(gain * np.fft.rfft(even), len(even))
    return out[n - 1 : 2 * n - 1]


def find_lag(x: np.ndarray, behind: np.ndarray, period: float) -> float | None:
    """Return s by which x (F,) comes after another signal: where their correlation is largest; None at the ends."""
    reach = math.ceil(LONGEST_LAG / period)
    lags = np.arange(-reach, reach + 1)
    n = len(x)
    pairs = [(x[max(k, 0) : n + min(k, 0)], behind[max(-k, 0) : n - max(k, 0)]) for k in lags]
    scores = np.array([a @ b / math.sqrt((a @ a) * (b @ b)) if a.any() else 0.0 for a, b in pairs])
    k = int(np.argmax(scores))
    if not 0 < k < len(lags) - 1:
        return None
    left, mid, right = scores[k - 1 : k + 2]
    return period * float(lags[k] + 0.5 * (left - right) / (left - 2 * mid + right))


def correlate(a: np.ndarray, b: np.ndarray) -> float | None:
    """Return the correlation of two signals (F,) without their means; None where one does not move."""
    if min(np.ptp(a), np.ptp(b)) < 1e-9:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def line_up(motion: Motion, person: Motion) -> tuple[slice, slice]:
    """Return the frames of a result and of its recording that belong together: those in which the arms do the same."""
    period = float(person.times[1] - person.times[0])
    ours, theirs = (cut_band(each.shift, period, BANDS["beat"]) for each in (motion, person))
    ahead = int(np.argmax(np.correlate(theirs, ours, "full"))) - (len(ours) - 1)
    first, last = max(ahead, 0), min(ahead + len(ours), len(theirs))
    return slice(first - ahead, last - ahead), slice(first, last)


def measure(motion: Motion, person: Motion | None = None) -> dict[str, dict[str, dict[str, float | None]]]:
    """Gains, correlations with r, lags (ms) and RMS (mm) of all points, in both bands; with a person's, if given."""
    period = float(motion.times[1] - motion.times[0])
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    for band, hertz in BANDS.items():
        r = cut_band(motion.shift, period, hertz)
        rms = float(np.sqrt(np.mean(r**2)))
        is_known = rms >= LEAST_SHIFT
        rows = found[band] = {"r": {"rms_mm": 1e3 * rms}}
        for name in POINTS:
            x = cut_band(motion.points[name], period, hertz)
            lag = find_lag(x, -r, period) if is_known else None
            rows[name] = {
                "gain": float(x @ r / (r @ r)) if is_known else None,
                "correlation": correlate(x, r),
                "lag_ms": None if lag is None else 1e3 * lag,
                "rms_mm": 1e3 * float(np.sqrt(np.mean(x**2))),
            }
            if person is not None:
                ours, theirs = line_up(motion, person)
                own = cut_band(person.points[name], period, hertz)
                rows[name]["with_person"] = correlate(x[ours], own[theirs])
    return found


def main() -> None:
    """Print what a recorded person, or a result on that person's arms, does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recorded", type=Path)
    parser.add_argument("result", type=Path, nargs="?")
    parser.add_argument("--load", type=float, default=0.0, help="kg in each hand over the body's mass")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    person = read_motion(args.recorded)
    found = measure(person) if args.result is None else measure(read_motion(args.result, args.load), person)
    if args.json:
        print(json.dumps(found))
        return
    for band, rows in found.items():
        print(f"{band}: r {rows['r']['rms_mm']:.2f} mm RMS")
        for name in POINTS:
            print(
                f"  {name:13}"
                + "".join(
                    f"{key} {'none' if value is None else format(value, '+.2f'):>7}   "
                    for key, value in rows[name].items()
                )
            )


if __name__ == "__main__":
    main()
