"""Generated files converted to every format, their joints against code that is none of Poise's."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from helpers.files.bvh_twins import AXES, plain_bvh
from helpers.files.gltf import Reference
from poise.errors import PoiseError
from poise.files.formats.usd import read_usd_positions
from poise.files.reading.pipeline import interpret
from poise.files.registry import read_recording
from poise.files.writing.writing import keep_as, write_clean
from tools.sweeps.page import table
from tools.sweeps.reading_cases import UNTOLD, Case, list_bvh, list_gltf

PAGE = Path(__file__).parents[3] / "docs" / "reading-sweep.md"
SUFFIXES = (".bvh", ".glb", ".npz", *((".usda",) if importlib.util.find_spec("pxr") else ()))
AIM = 1e-4  # m
UPRIGHT = {up: turn.T for up, turn in AXES.items()} | {"-Z": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])}
TITLE = """# Reading, over ranges

Written by `make sweep NAME=reading`. Generated files of one walk, or of one person who moves, are converted to every
format. Off is the largest distance of any joint in any frame of what was written from where the source has it, both
told by code that is none of Poise's (in `tests/helpers/files`; USD by UsdSkel), after the scale and the
up axis that Poise reports. Claimed apart is the largest difference between that and the `max_joint_error_m` that `poise
convert` prints. Wanted: at most 0.1 mm both, and no joint lost.

One row is open and not counted: BVH files in which only the joints that carry the travel have position channels, and
these are displacements from the OFFSET. No bone tells that they are, and Blender takes them as replacing it. The figure
takes Blender's way there; where the reader guesses displacements, it is right about these files and the figure warns.
"""


@dataclass(frozen=True)
class Outcome:
    """off m, told m: what was measured and what was claimed; lost: joints of the person that are not in the file."""

    off: float
    told: float
    lost: tuple[str, ...]


def check(case: Case, suffix: str, folder: Path, keep: bool = False) -> Outcome:
    """Convert one file, and measure."""
    source = case.write(folder)
    reading = interpret(read_recording(source), whole=True)
    output = folder / f"out{suffix}"
    written = keep_as(reading, output) if keep else write_clean(reading, output)
    turn = reading.scale * UPRIGHT[reading.up].T
    names = reading.clip.skeleton.names
    found = {k: v @ turn for k, v in case.find_places(output).items()} if keep else read_places(output, names)
    expected = case.find_places(source)
    off = max(float(np.linalg.norm(found[name] - expected[name] @ turn, axis=-1).max()) for name in names)
    assert written.error is not None
    return Outcome(off, written.error, written.left_out)


def read_places(path: Path, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Joint -> (F, 3) m in a file that was written, by other code than Poise's."""
    if path.suffix == ".bvh":
        return plain_bvh(path.read_text())
    if path.suffix == ".glb":
        reference = Reference(path)
        samplers = reference.json["animations"][0]["samplers"]
        keys = max((reference.array(sampler["input"])[:, 0] for sampler in samplers), key=len)
        places = np.array([reference.positions(names, 0, t) for t in keys])
    elif path.suffix == ".npz":
        places = _read_npz(path)
    else:
        places = read_usd_positions(path)
    return {name: places[:, j] for j, name in enumerate(names)}


def _read_npz(path: Path) -> np.ndarray:
    """By SciPy's rotations."""
    from scipy.spatial.transform import Rotation

    with np.load(path) as file:
        parents, offsets, root, turns = (file[name] for name in ("parents", "offsets", "root", "rotations"))
        shifts = file["shifts"] if "shifts" in file.files else np.zeros((*turns.shape[:2], 3))
    places, frames = np.empty((*turns.shape[:2], 3)), {}
    for j, parent in enumerate(parents):
        own = Rotation.from_quat(turns[:, j], scalar_first=True)
        frames[j] = own if parent < 0 else frames[parent] * own
        places[:, j] = root if parent < 0 else places[:, parent] + frames[parent].apply(offsets[j] + shifts[:, j])
    return places


def list_cases() -> Iterator[tuple[str, str, Case]]:
    """(what is varied, name, case) of everything."""
    yield from list_bvh()
    yield from list_gltf()


def sweep() -> tuple[str, int]:
    """Text of the section, and how many aims were missed: the open row's are not counted."""
    rows: dict[str, list[tuple[str, str, Outcome | str]]] = {}
    for group, name, case in list_cases():
        for suffix in SUFFIXES:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    outcome: Outcome | str = check(case, suffix, Path(folder))
                except (PoiseError, KeyError, AssertionError) as error:
                    outcome = f"{type(error).__name__}: {error}"
            rows.setdefault(group, []).append((name, suffix, outcome))
            if _misses(outcome):
                print(f"{group}, {name}, {suffix}: {outcome}", flush=True)
    missed = sum(_misses(outcome) for group, found in rows.items() if group != UNTOLD for *_, outcome in found)
    return _format_section(rows), missed


def _misses(outcome: Outcome | str) -> bool:
    if isinstance(outcome, str):
        return True
    return outcome.off > AIM or abs(outcome.off - outcome.told) > AIM or bool(set(outcome.lost) - {"Ball"})


def _format_section(rows: dict[str, list[tuple[str, str, Outcome | str]]]) -> str:
    lines = []
    for group, found in rows.items():
        good = [outcome for *_, outcome in found if isinstance(outcome, Outcome)]
        by_suffix = {
            suffix: max((o.off for _, s, o in found if s == suffix and isinstance(o, Outcome)), default=np.nan)
            for suffix in SUFFIXES
        }
        apart = max((abs(outcome.off - outcome.told) for outcome in good), default=np.nan)
        bad = sum(_misses(outcome) for *_, outcome in found)
        shown = (f"{1e6 * by_suffix[suffix]:.2g}" for suffix in SUFFIXES)
        group = f"{group} (open)" if group == UNTOLD else group
        lines.append((group, len({name for name, *_ in found}), *shown, f"{1e6 * apart:.2g}", bad))
    head = ("varied", "files", *(f"off in {suffix}, um" for suffix in SUFFIXES), "claimed apart, um", "missed")
    failures = [
        f"- {group}, {name}, {suffix}: {outcome}"
        for group, found in rows.items()
        for name, suffix, outcome in found
        if _misses(outcome) and group != UNTOLD
    ]
    return "\n".join([table(head, lines), "", *failures])
