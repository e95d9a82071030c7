"""Makes the tables and the picture of docs/anchored.md: walks on an anchored root, over grounds, bodies and recordings.

    PYTHONPATH=tests .venv/bin/python docs/make/anchored.py FOLDER

FOLDER holds bvh-cmu/ and force-bvh/. Rewrites what is between the marks in docs/anchored.md. Everything is measured by
the forward kinematics of tests/helpers/anchored_root.py, which are not the driver's.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import poise
from helpers.anchored_root import GROUNDS, Walked, Walker
from poise import rotation
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.body.geometry.soles import leg_length
from poise.motion.root import root_at_hips
from poise.motion.samples import jump, walk
from poise.pictures.image import save_png
from poise.pictures.items import DrawnProp
from poise.pictures.picture import DrawnBody, Picture, frame_picture, render_picture
from poise.pictures.raster import Theme

DOCS = Path(__file__).parents[1]
RECORDINGS = ("bvh-cmu/07_01.bvh", "bvh-cmu/02_05.bvh", "force-bvh/walk3d.bvh", "force-bvh/hamner_run_raw.bvh")
SHOWN, CELL = ("flat", "up 10", "down 10", "steps up", "steps down"), (180, 270)
TIMES = np.linspace(1.3, 3.4, 8)


def row(name: str, ground: str, walker: Walker, walked: Walked) -> str:
    """Figures of one walk; heights only while it walks, and against where that support rests on level ground."""
    player, hands = walker.player, walked.handovers
    stances = [s for s in walked.stances() if walked.chosen[s[0]] < len(player.selector.supports.names)]
    off = np.abs(walked.over - np.append(player.selector.plan.lifts, np.nan)[walked.chosen])
    first, last = (hands[0].t, hands[-1].t + 0.5)
    off = off[(walked.times > first) & (walked.times < last) & np.isfinite(off)]
    cells = [
        f"{len(hands)}",
        f"{max(h.gaps[0] for h in hands):.0e}",
        f"{max(h.gaps[1] for h in hands):.0e}",
        f"{max(h.blow for h in hands):.2g}",
        f"{1e3 * np.median([walked.slide(*s) for s in stances]):.2f}",
        f"{1e3 * max(walked.slide(*s) for s in stances):.2f}",
        f"{1e3 * off.mean():.1f}",
        f"{1e3 * off.max():.0f}",
        f"{100 * (off < 0.005).mean():.0f}",
        f"{np.abs(walked.a).max():.0f}",
    ]
    return f"| {name} | {ground} | {' | '.join(cells)} |"


def measure(name: str, character: poise.Character, clip: poise.Clip, ground: str, cutoff: float | None = np.inf) -> str:
    """One walk."""
    walker = Walker(character, clip, poise.Anchored(clip, cutoff=cutoff, ground=GROUNDS[ground]), cutoff=cutoff)
    return row(name, ground, walker, walker.run(min(clip.duration, 6.0), GROUNDS[ground]))


def build_ground(name: str) -> list[DrawnProp]:
    """A ground to be seen, 1 m broad."""
    straight = rotation.identity()
    if name.startswith("steps"):
        tops = [0.1 * k * (1 if name.endswith("up") else -1) for k in range(-1, 6)]
        return [
            DrawnProp(
                poise.Box(np.array([0.0, 0.5 * top - 0.6, k - 0.75]), np.array([0.5, 0.5 * top + 0.6, 0.5]), straight)
            )
            for k, top in enumerate(tops)
        ]
    if name == "flat":
        return []
    slope = np.radians(10.0 if name.startswith("up") else -10.0)
    turn = rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), -slope)
    place = np.array([0.0, 2.0 * np.tan(slope), 2.0]) + rotation.rotate(turn, np.array([0.0, -0.05, 0.0]))
    return [DrawnProp(poise.Box(np.zeros(3), np.array([0.5, 0.05, 3.5]), straight), np.concatenate([place, turn]))]


def draw(name: str, character: poise.Character, clip: poise.Clip) -> np.ndarray:
    """Moments of a walk, by a stage."""
    stage = poise.Stage()
    actor = stage.add(character, pose=clip.pose(0.0))
    actor.drive(list(character.skeleton.names[1:]), poise.Kinematic(clip))
    actor.drive("root", poise.Anchored(clip, ground=GROUNDS[name]))
    take = stage.run(clip.duration, fps=100.0)
    walked = poise.Clip(clip.skeleton, take.times, take.actor().root, take.actor().rotations, name)
    skin = build_skin(character.skeleton, build_mannequin(character.skeleton, character.mass))
    look = replace(Theme(), has_ground=name == "flat")
    cells = []
    for t in TIMES.tolist():
        alone = Picture([DrawnBody(walked, skin)], look=look)
        view = frame_picture(alone, np.array([t - 0.01, t, t + 0.01]), CELL, False, np.pi / 2 - 0.25, 0.08)
        cells.append(
            render_picture(replace(alone, items=build_ground(name)), t, CELL, view, caption=f"{name} {t:.1f} s")
        )
    return np.concatenate(cells, axis=1)


def main(folder: Path) -> None:
    human = poise.Character.human(1.75, 75.0)
    clip = walk(human.skeleton, 6.0, 60.0)
    rows = [measure("walk, 1.2 m/s", human, clip, ground) for ground in GROUNDS]
    for stature in (1.2, 1.95):
        body = poise.Character.human(stature, 75.0 * (stature / 1.75) ** 3)
        swift = np.sqrt(leg_length(body.skeleton, "left") / leg_length(human.skeleton, "left"))
        for speed in (0.6 * swift, 1.4 * swift):
            slow = walk(body.skeleton, 6.0, 60.0, speed=speed)
            rows.append(measure(f"{stature:g} m tall, {speed:.1f} m/s", body, slow, "steps up"))
    rows += [measure("jump", human, jump(human.skeleton), ground) for ground in ("flat", "up 10")]
    for name in RECORDINGS:
        body = root_at_hips(poise.load_clip(folder / name)).body
        rows += [
            measure(name, poise.Character.from_skeleton(body.skeleton), body, ground, None)
            for ground in ("flat", "up 5")
        ]
    page = DOCS / "anchored.md"
    text = page.read_text(encoding="utf-8")
    head = re.search(r"<!-- figures -->\n((?:\|.*\n){2})", text)
    assert head is not None
    table = head[1] + "\n".join(rows) + "\n"
    text = re.sub(r"(<!-- figures -->\n).*?(<!-- end -->)", lambda m: m[1] + table + m[2], text, flags=re.S)
    page.write_text(text, encoding="utf-8")
    sheet = np.concatenate([draw(name, human, walk(human.skeleton, 5.0, 60.0)) for name in SHOWN])
    save_png(DOCS / "pictures" / "anchored.png", sheet)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
