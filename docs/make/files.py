"""Makes the tables of docs/files.md: what `poise info` finds in every file of a folder of recordings.

    .venv/bin/python docs/make/files.py FOLDER

Rewrites what is between the marks in docs/files.md. Files that no reader takes are left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise.body.role_finding.guess import guess_roles
from poise.body.roles import ARM_STEMS, LEG_STEMS, sided
from poise.files.reading.pipeline import Reading, interpret
from poise.files.registry import find_format, read_recording
from poise.jobs.info import describe

DOCS = Path(__file__).parents[1]
# A folder of models, not motions.
SKIPPED = ("mjcf",)
MAIN = ("hips", "spine", "head", *sided(LEG_STEMS[:3]), *sided(ARM_STEMS[1:]))
TRIALS = 5


def info_row(name: str, reading: Reading) -> str:
    """One file as a row."""
    found = describe(reading)
    stature = "-" if found["stature_m"] is None else f"{found['stature_m']:.2f}"
    odd = (each.kind for each in (*reading.findings, *reading.observations) if each.origin is None)
    kinds = ", ".join(dict.fromkeys(odd)) or "-"
    return (
        f"| {name} | {found['format']} | {found['joints']} | {found['frames']} | {found['fps']:.4g} | "
        f"{100 * found['scale_to_m']:.4g} | {found['up']} | {stature} | {len(found['roles'])} | "
        f"{found['confidence']:.2f} | {kinds} |"
    )


def scramble(skeleton: poise.Skeleton, rng: np.random.Generator) -> tuple[poise.Skeleton, dict[str, str]]:
    """The same tree with meaningless names and children in another order, and each new name's own."""
    order, waiting = [], [0]
    while waiting:
        order.append(waiting.pop())
        waiting += rng.permutation(skeleton.children(order[-1])).astype(int).tolist()
    new = {old: i for i, old in enumerate(order)}
    parents = [-1 if skeleton.parents[old] < 0 else new[int(skeleton.parents[old])] for old in order]
    names = [f"x{word}" for word in rng.choice(10**6, len(order), replace=False)]
    nameless = poise.Skeleton(
        tuple(names), np.array(parents), skeleton.offsets[order], np.asarray(skeleton.tips)[order]
    )
    return nameless, {name: skeleton.names[old] for name, old in zip(names, order, strict=True)}


def count_hits(reading: Reading, rng: np.random.Generator) -> tuple[int, int]:
    """How many of a file's main roles its shape alone gives back, without names, and how many there are."""
    clip = reading.recording.clip
    skeleton, poses = clip.skeleton, clip.positions[np.linspace(0, len(clip) - 1, min(len(clip), 16)).astype(int)]
    truth = {role: reading.clip.skeleton.roles[role] for role in MAIN if role in reading.clip.skeleton.roles}
    hits = 0
    for _ in range(TRIALS):
        nameless, own = scramble(skeleton, rng)
        order = [skeleton.names.index(own[name]) for name in nameless.names]
        found = guess_roles(nameless, None, poses[:, order]).roles
        hits += sum(own.get(found.get(role, "")) == joint for role, joint in truth.items())
    return hits, TRIALS * len(truth)


def replace_between(path: Path, mark: str, lines: list[str]) -> None:
    """Put lines between `<!-- mark -->` and `<!-- /mark -->`."""
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(f"<!-- {mark} -->\n")
    _, after = rest.split(f"<!-- /{mark} -->")
    path.write_text(before + f"<!-- {mark} -->\n" + "\n".join(lines) + f"\n<!-- /{mark} -->" + after, encoding="utf-8")


def compare_takes(folder: Path) -> list[str]:
    """One take in three formats, role by role: RMS distance in mm of BVH and of C3D from AMC."""
    amc, bvh, c3d = (
        poise.load_clip(folder / name) for name in ("asf-amc-cmu/02_05.amc", "bvh-cmu/02_05.bvh", "c3d/cmu_02_05.c3d")
    )
    rows = ["| joint | BVH from AMC, mm | C3D from AMC, mm |", "|---|---|---|"]
    for role in MAIN:
        places = []
        for clip in (amc, bvh, c3d):
            places.append(clip.positions[:, clip.skeleton.index(role)])
        # The laboratory's axes: (x, y, z) of the AMC are (y, z, x) of the C3D, which is (-z, y, x) once it is Y up.
        places[2] = places[2][:, [2, 1, 0]] * [-1, 1, 1]
        far = [1000 * np.sqrt(np.mean(np.sum((place - places[0]) ** 2, axis=-1))) for place in places[1:]]
        rows.append(f"| {role} | {far[0]:.1f} | {far[1]:.0f} |")
    return rows


def main(folder: Path) -> None:
    """All files of a folder and of those in it."""
    rows = [
        "| file | format | joints | frames | Hz | cm a unit | up | stature m | roles | confidence | warnings |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    hits: dict[str, list[int]] = {}
    rng = np.random.default_rng(0)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        entry = find_format(path) if path.is_file() and not name.startswith(SKIPPED) and path.stem != "README" else None
        if entry is None or entry.read is None:
            continue
        try:
            reading = interpret(read_recording(path))
        except poise.PoiseError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        rows.append(info_row(name, reading))
        hit, count = count_hits(reading, rng)
        kind = hits.setdefault(name.split("/")[0], [0, 0, 0])
        hits[name.split("/")[0]] = [kind[0] + 1, kind[1] + hit, kind[2] + count]
    replace_between(DOCS / "files.md", "info", rows)
    table = ["| folder | files | roles sought | found |", "|---|---|---|---|"]
    table += [
        f"| {k} | {files} | {count} | {100 * hit / count:.1f} % |" for k, (files, hit, count) in hits.items() if count
    ]
    replace_between(DOCS / "files.md", "shape", table)
    replace_between(DOCS / "files.md", "takes", compare_takes(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
