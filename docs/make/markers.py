"""Makes the tables of docs/markers.md: how well joints are found from markers.

    .venv/bin/python docs/make/markers.py FOLDER

FOLDER has the recordings. Rewrites what is between the marks in docs/markers.md. The body whose joints are known is the
tests' (`tests/helpers/markers.py`), with 1 mm of noise and 5 % of every marker hidden.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

DOCS = Path(__file__).parents[1]
sys.path[:0] = [str(DOCS.parent / "tests"), str(Path(__file__).parent)]

from files import replace_between  # noqa: E402
from helpers.markers import (  # noqa: E402
    SETS,
    put_markers,
    spoil,
    walking_body,
)
from poise.files.formats.c3d.c3d import read_c3d  # noqa: E402
from poise.files.registry import load_clip, read_recording  # noqa: E402
from poise.motion.markers import fit_markers  # noqa: E402
from poise.spatial import rotation  # noqa: E402

STEMS = ("UpperLeg", "LowerLeg", "Foot", "UpperArm", "LowerArm", "Hand")
WORDS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
OPENSIM = (
    ("forces-walk3d/markers_walk.trc", "force-bvh/walk3d_ik_raw.bvh", 0),
    ("forces-gait10dof/subject01_walk.trc", "force-bvh/gait10dof_walk.bvh", 1),
)
PLUG_IN_GAIT = ("FEP", "FEO", "TIO", "CLO", "HUO", "RAO")


def rms(apart: np.ndarray) -> float:
    """mm, over frames and both sides, of (..., 3) m."""
    apart = apart.reshape(-1, apart.shape[-1])
    return 1000.0 * float(np.sqrt(np.nanmean(np.sum(apart**2, axis=-1))))


def format_row(name: str, values: list[float | None]) -> str:
    return f"| {name} | " + " | ".join("-" if v is None else f"{v:.0f}" for v in values) + " |"


def compare_sets() -> list[str]:
    """Every set on the body whose joints are known."""
    walk = walking_body()
    rows = [f"| set | markers | joints | {' | '.join(WORDS)} | head |", "|---|---|---|" + "---|" * (len(WORDS) + 1)]
    for seed, (name, labels) in enumerate(SETS.items()):
        motion = fit_markers(list(labels), walk.times, spoil(put_markers(walk, list(labels.values())), seed))

        def apart(*roles: str, clip=motion.clip) -> float | None:
            if not set(roles) <= set(clip.skeleton.names):
                return None
            pairs = [(clip.skeleton.index(role), walk.skeleton.index(role)) for role in roles]
            return rms(np.stack([clip.positions[:, a] - walk.positions[:, b] for a, b in pairs]))

        values = [apart("left" + stem, "right" + stem) for stem in STEMS]
        about = f"{name} | {len(labels)} | {len(motion.clip.skeleton)}"
        rows.append(format_row(about, [*values, apart("head")]))
    return rows


def compare_opensim(folder: Path) -> list[str]:
    """Beside OpenSim's inverse kinematics of the same markers."""
    rows = [f"| walk | {' | '.join(WORDS)} |", "|---|" + "---|" * len(WORDS)]
    turn = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), -0.5 * np.pi)
    for markers, joints, first in OPENSIM:
        motion, truth = read_recording(folder / markers).source.motion, load_clip(folder / joints)
        values: list[float | None] = []
        for stem in STEMS:
            roles = [side + stem for side in ("left", "right")]
            if not all(role in truth.skeleton.roles for role in roles):
                values.append(None)
                continue
            places = [truth.positions[:, truth.skeleton.index(truth.skeleton.roles[role])] for role in roles]
            ours = [rotation.rotate(turn, motion.centers[role]) for role in roles]
            values.append(rms(np.stack([a - b for a, b in zip(ours, places, strict=True)])[..., first:]))
        rows.append(format_row(markers.rpartition("/")[2], values))
    return rows


def compare_plug_in_gait(folder: Path) -> list[str]:
    """Beside the joint centres that Plug-in Gait has left in the file."""
    rows = [f"| file | {' | '.join(WORDS)} |", "|---|" + "---|" * len(WORDS)]
    to_z_up = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])
    for name in ("PiG_Motion3_FF", "Sample_Static"):
        file = read_c3d(folder / "c3d" / f"{name}.c3d").source
        values: list[float | None] = []
        for stem, label in zip(STEMS, PLUG_IN_GAIT, strict=True):
            pairs = [
                file.motion.centers[side + stem] @ to_z_up - file.markers[:, file.labels.index(letter + label)]
                for side, letter in (("left", "L"), ("right", "R"))
                if letter + label in file.labels
            ]
            values.append(rms(np.stack(pairs)) if pairs else None)
        rows.append(format_row(f"{name}.c3d", values))
    return rows


def main(folder: Path) -> None:
    """All tables."""
    page = DOCS / "markers.md"
    replace_between(page, "sets", compare_sets())
    replace_between(page, "opensim", compare_opensim(folder))
    replace_between(page, "plug-in-gait", compare_plug_in_gait(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
