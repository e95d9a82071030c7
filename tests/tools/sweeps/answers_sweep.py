"""What people's bodies do beside what Poise's do on the same arms, measured by `answers` from the written files alone.

Each recording's arms move on its own body, which stands in the recording's mean pose: `Balance` and `Kinematic` arms.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from helpers.recordings import data_folder
from oracles import answers
from poise import Balance, Character, Clip, Counterpoise, Kinematic, Stage, load_clip
from poise.motion.motion import Pose
from tools.sweeps.page import table

PAGE = Path(__file__).parents[3] / "docs" / "answering-arms.md"
CLIPS = ("27_02", "28_01", "30_01", "15_08", "18_08")
ADDED = 10  # frames at the start of CMU's files that hold a T-pose, or come out of one
# What each row is made with: the stage, the balance, and the trunk if it is not as by default.
SETTINGS: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]] = {
    "Poise": ({}, {}, {}),
    "neither hold nor leans": ({}, {"hold": 0.0, "counter_lean": 0.0}, {"spine": 0.0, "pelvis": 0.0}),
    "without coupling": ({"gain": 0.0}, {}, {}),
}
POINTS = ("center", "hips", "neck", "head")
# What Poise aims at, from 0.5 to 4 Hz: gains as of nine recorded people and how near, the correlation with the person
# whose arms they are, lags in ms.
GAINS = {"center": (0.0, 0.15), "hips": (-0.9, 0.25), "neck": (-1.7, 0.25), "head": (-1.9, 0.25)}
WITH_PERSON = {"hips": 0.7, "neck": 0.8, "head": 0.7}
LATEST = 30.0
KEYS = {"gain": "gain:", "with_person": "with the person:", "lag_ms": "lag, ms:"}


def read_title() -> str:
    """What stands on the page before its first section."""
    return PAGE.read_text(encoding="utf-8").split("\n## ")[0].rstrip() + "\n"


def sweep() -> tuple[str, int]:
    """The section of the page, and how many aims were missed."""
    folder = data_folder()
    if folder is None:
        return "Not run: there are no recordings here; set POISE_DATA to a folder that has them.", 1
    paths = [folder / "bvh-cmu" / f"{name}.bvh" for name in CLIPS]
    people = [answers.read_motion(path) for path in paths]
    found = {"people": [answers.measure(person) for person in people]}
    falls = dict.fromkeys(SETTINGS, 0)
    with tempfile.TemporaryDirectory() as name:
        for label, settings in SETTINGS.items():
            found[label] = []
            for path, person in zip(paths, people, strict=True):
                fell = answer(path, Path(name) / path.name, *settings)
                falls[label] += fell
                found[label].append(answers.measure(answers.read_motion(Path(name) / path.name), person))
    text = [
        f"Medians over CMU's {', '.join(CLIPS)}. Falls: {', '.join(f'{label} {n}' for label, n in falls.items())}.",
        *(part for band in answers.BANDS for part in ("", *report(found, band))),
    ]
    return "\n".join(text), count_missed(found) + falls["Poise"]


def answer(
    path: Path, out: Path, stage_settings: Mapping[str, Any], balance: Mapping[str, Any], trunk: Mapping[str, Any]
) -> bool:
    """Write what a body does in answer to a recording's arms; whether it fell."""
    clip = put_thorax_back(load_clip(path))
    stage = Stage(**stage_settings)
    actor = stage.add(Character.from_skeleton(clip.skeleton), pose=find_mean_pose(clip))
    actor.drive("legs", Balance(**balance))
    if trunk:
        actor.drive("trunk", Counterpoise(**trunk))
    actor.drive("arms", Kinematic(clip))
    take = stage.run(float(clip.times[-1]), times=clip.times[1:])
    take.save(out)
    return take.fell_at() is not None


def put_thorax_back(clip: Clip) -> Clip:
    """The clip on a body with the thorax that CMU's files have lost, as `answers` reads them: what it measures is then
    what was simulated."""
    skeleton = clip.skeleton
    whole = answers.restore_thorax(list(skeleton.names), list(skeleton.parents), skeleton.offsets.tolist())
    return clip.replace(skeleton=skeleton.replace(offsets=np.array(whole)))


def find_mean_pose(clip: Clip) -> Pose:
    """The mean of a clip's root and of its joints' rotations, after the added T-pose."""
    turns = clip.rotations[ADDED:]
    turns = np.where(np.sum(turns * turns[len(turns) // 2], axis=-1, keepdims=True) < 0.0, -turns, turns)
    mean = turns.mean(axis=0)
    return Pose(clip.root[ADDED:].mean(axis=0), mean / np.linalg.norm(mean, axis=-1, keepdims=True))


def report(found: Mapping[str, list[dict[str, Any]]], band: str) -> list[str]:
    """The table of one band of frequencies."""
    low, high = answers.BANDS[band]
    keys = {"gain": (POINTS, "+.2f"), "with_person": (POINTS[1:], "+.2f")}
    if band == "beat":
        keys["lag_ms"] = (POINTS[1:], "+.0f")
    head = [
        f"{low:g} to {high:g} Hz",
        *(f"{KEYS[key]} {point}" for key, (points, _) in keys.items() for point in points),
    ]
    rows = [
        [
            label,
            *(say(median(runs, band, each, key), form) for key, (points, form) in keys.items() for each in points),
        ]
        for label, runs in found.items()
    ]
    return [table(head, rows)]


def median(runs: list[dict[str, Any]], band: str, point: str, key: str) -> float | None:
    """Over the recordings in which it is known."""
    known = [run[band][point][key] for run in runs if run[band][point].get(key) is not None]
    return float(np.median(known)) if known else None


def say(value: float | None, form: str) -> str:
    """A figure as the table has it."""
    return "-" if value is None else format(value, form)


def count_missed(found: Mapping[str, list[dict[str, Any]]]) -> int:
    """How many of the aims are missed, of those above."""
    missed = 0
    for point, (aim, near) in GAINS.items():
        gain = median(found["Poise"], "beat", point, "gain")
        missed += gain is None or abs(gain - aim) > near
    for point, least in WITH_PERSON.items():
        missed += (median(found["Poise"], "beat", point, "with_person") or 0.0) < least
        lag = median(found["Poise"], "beat", point, "lag_ms")
        missed += lag is None or abs(lag) > LATEST
    return missed
