"""Makes the pictures and the figures of docs/pose.md: poses, one leg, bodies, and clips that are balanced.

    .venv/bin/python docs/make/pose.py

Places, centres of mass and margins are computed here, by SciPy's rotations and Qhull, from the poses alone.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import poise
from poise.body.geometry.soles import build_footing, find_soles
from poise.demos.balance import onleg, physiques
from poise.jobs.balance.solve import balance_clip
from poise.jobs.pose.standing import STEPS, PoseGoals, StandingSolver
from poise.jobs.retarget import Target
from poise.jobs.shared.body import LoadedBody
from poise.jobs.shared.pictures import draw_body, mark_balance
from poise.motion import samples
from poise.motion.contacts.contacts import find_contacts
from poise.pictures.image import save_png
from poise.pictures.picture import Picture, frame_picture, place_side_by_side, render_picture
from poise.world.foot_boxes import find_corners

PAGE = Path(__file__).parents[1] / "pose.md"
PICTURES = Path(__file__).parents[1] / "pictures"
HEADING = "## Figures\n"
TARGETS, SEED = 200, 1
POSES = {
    "reach": PoseGoals({"rightHand": np.array([0.4, 1.2, 0.3])}, "left"),
    "too far": PoseGoals({"rightHand": np.array([-0.2, 1.2, 1.5])}, "right"),
    "low": PoseGoals({"rightHand": np.array([-0.2, 0.15, 0.5])}),
    "crouch": PoseGoals({}, crouch=0.4),
    "up": PoseGoals({"leftHand": np.array([0.5, 1.85, 0.3])}, look=np.array([1.0, 2.2, 0.6])),
    "kick": PoseGoals({"rightFoot": np.array([-0.6, 0.7, 0.2])}, "left"),
}


def place(body, root, rotations):  # type: ignore[no-untyped-def]
    """Orientations, places and centre of mass of a pose."""
    turns, places = [], []
    for i, parent in enumerate(body.skeleton.parents):
        turn = Rotation.from_quat(rotations[i], scalar_first=True)
        turns.append(turn if parent < 0 else turns[parent] * turn)
        bone = body.skeleton.offsets[i].copy()
        places.append(np.array(root) if parent < 0 else places[parent] + turns[parent].apply(bone))
    weights = [(body.skeleton.index(s.joint), s.inertia) for s in body.segments]
    moment = sum(s.mass * (places[i] + turns[i].apply(np.array(s.center))) for i, s in weights)
    return turns, np.array(places), moment / sum(s.mass for _, s in weights)


def margin(body, root, rotations, feet=(0, 1)):  # type: ignore[no-untyped-def]
    """m, how far the centre of mass is inside the soles of some feet."""
    turns, places, center = place(body, root, rotations)
    corners = []
    for side, (sole, box) in enumerate(zip(find_soles(body.skeleton), build_footing(body.skeleton), strict=True)):
        if side in feet:
            corners.append((places[sole.foot] + turns[sole.foot].apply(find_corners(box)))[:, [0, 2]])
    hull = ConvexHull(np.concatenate(corners))
    return float(-(hull.equations[:, :2] @ center[[0, 2]] + hull.equations[:, 2]).max())


def lean(clip: poise.Clip, degrees: float, axis: tuple[float, float, float]) -> poise.Clip:
    """A clip whose body is turned about the middle of its ankles, its feet left flat."""
    turn = Rotation.from_rotvec(np.radians(degrees) * np.array(axis))
    places, world = clip.world
    feet = [clip.skeleton.index(side + "Foot") for side in ("left", "right")]
    pivot, rotations = places[:, feet].mean(axis=1), clip.rotations.copy()
    rotations[:, 0] = (turn * Rotation.from_quat(rotations[:, 0], scalar_first=True)).as_quat(scalar_first=True)
    for foot in feet:
        shin = turn * Rotation.from_quat(world[:, clip.skeleton.parents[foot]], scalar_first=True)
        flat = Rotation.from_quat(world[:, foot], scalar_first=True)
        rotations[:, foot] = (shin.inv() * flat).as_quat(scalar_first=True)
    return clip.replace(root=pivot + turn.apply(clip.root - pivot), rotations=rotations)


def draw_poses(body: poise.Character) -> None:
    """A row of poses."""
    standing, drawn, loaded = StandingSolver(body), [], LoadedBody(body, Target(body.skeleton))
    for name, wanted in POSES.items():
        way = standing.go(wanted, np.linspace(0.0, 1.0, STEPS + 1)[1:].tolist())
        clip = poise.Clip(body.skeleton, np.zeros(1), way.root[-1:], way.rotations[-1:])
        drawn.append(draw_body(clip, loaded, mark_balance(clip, loaded, way.down[-1:], wanted.reach.values()), name))
    draw_row(drawn, PICTURES / "pose.png", (1440, 420), 0.6)


def draw_row(drawn, path: Path, size: tuple[int, int], azimuth: float, times=(0.0,)) -> None:  # type: ignore[no-untyped-def]
    """Bodies side by side, a row a moment."""
    picture = Picture(place_side_by_side(drawn, azimuth=azimuth))
    view = frame_picture(picture, np.array(times), size, azimuth=azimuth)
    rows = [render_picture(picture, t, size, view, caption="" if len(times) == 1 else None) for t in times]
    save_png(path, np.concatenate(rows))


def draw_balance(body: poise.Character) -> None:
    """A clip, leaned, and balanced in both ways."""
    clip = samples.wave(body.skeleton)
    leaned = lean(clip, 20.0, (1.0, 0.0, 0.0))
    shown = {
        "clip": clip, "leaned by 20 degrees": leaned, "balanced": balance_clip(leaned, body).clip,
        "hands kept": balance_clip(leaned, body, keep="hands").clip,
    }  # fmt: skip
    loaded = LoadedBody(body, Target(body.skeleton))
    drawn = [
        draw_body(each, loaded, mark_balance(each, loaded, find_contacts(each).foot), name)
        for name, each in shown.items()
    ]
    draw_row(drawn, PICTURES / "pose-balance.png", (1200, 420), 1.2, (1.2,))


def measure_targets(body: poise.Character) -> list[str]:
    """Random targets of the right hand, on two feet and on one."""
    rng, standing = np.random.default_rng(SEED), StandingSolver(body)
    steps, hand = np.linspace(0.0, 1.0, STEPS + 1)[1:].tolist(), body.skeleton.index("rightHand")
    rows = [
        "| stand | targets | reached to 1 mm | others: median, farthest | least margin | a solve |",
        "|---|---|---|---|---|---|",
    ]
    for stand, feet in (("both", (0, 1)), ("left", (0,))):
        errors, margins, took = [], [], []
        for _ in range(TARGETS // 2):
            target = rng.uniform([-0.9, 0.1, -0.3], [0.5, 1.9, 1.0])
            way = standing.go(PoseGoals({"rightHand": target}, stand), steps)
            _, places, _ = place(body, way.root[-1], way.rotations[-1])
            errors.append(np.linalg.norm(places[hand] - target))
            margins.append(margin(body, way.root[-1], way.rotations[-1], feet))
            took.append(np.median(way.microseconds))
        off = np.array([e for e in errors if e >= 1e-3])
        missed = f"{100 * np.median(off):.0f} cm, {100 * off.max():.0f} cm" if len(off) else "none"
        rows.append(
            f"| {stand} | {len(errors)} | {len(errors) - len(off)} | {missed} | {100 * min(margins):.1f} cm | "
            f"{np.median(took) / 1000:.1f} ms |"
        )
    return rows


def measure_balance(body: poise.Character) -> list[str]:
    """Clips that lean, and what was done to them."""
    rows = [
        "| clip | leans | least margin before | after | largest change | hands moved | feet moved |",
        "|---|---|---|---|---|---|---|",
    ]
    ways = {"ahead": (1.0, 0.0, 0.0), "back": (-1.0, 0.0, 0.0), "aside": (0.0, 0.0, 1.0)}
    for name in ("idle", "wave", "squat"):
        clip = getattr(samples, name)(body.skeleton).pick(slice(None, None, 4))
        for degrees in (0, 5, 10, 15, 20):
            for way, axis in ways.items():
                if degrees == 0 and way != "ahead":
                    continue
                leaned = lean(clip, degrees, axis)
                found = balance_clip(leaned, body).clip
                before, after = (
                    min(margin(body, each.root[f], each.rotations[f]) for f in range(0, len(each), 3))
                    for each in (leaned, found)
                )
                turned = [
                    (
                        Rotation.from_quat(a, scalar_first=True).inv() * Rotation.from_quat(b, scalar_first=True)
                    ).magnitude()
                    for a, b in zip(leaned.rotations, found.rotations, strict=True)
                ]
                apart = np.linalg.norm(found.positions - leaned.positions, axis=-1)
                index = body.skeleton.index
                hands = apart[:, [index("leftHand"), index("rightHand")]].max()
                feet = apart[:, [index("leftFoot"), index("rightFoot")]].max()
                rows.append(
                    f"| {name} | {degrees}° {way if degrees else ''} | {100 * before:.1f} cm | {100 * after:.1f} cm | "
                    f"{np.degrees(np.max(turned)):.1f}° | {100 * hands:.0f} cm | {1e6 * feet:.1f} µm |"
                )
    return rows


def main() -> None:
    """Make all of it."""
    body = poise.Character.human(1.75, 75.0)
    draw_poses(body)
    draw_balance(body)
    with tempfile.TemporaryDirectory() as name:
        for demo, picture in ((onleg, "onleg"), (onleg, "onleg-center"), (physiques, "physiques")):
            if not (Path(name) / f"{picture}.png").exists():
                demo.run(Path(name))
            shutil.copyfile(Path(name) / f"{picture}.png", PICTURES / f"pose-{picture}.png")
    text = PAGE.read_text(encoding="utf-8")
    start = text.index(HEADING) + len(HEADING)
    parts = [
        "", "By `docs/make/pose.py`: places, centres of mass and margins by SciPy and Qhull, from the poses alone.", "",
        "Targets of the right hand, drawn at random from a box around a body of 1.75 m, some of them out of reach:", "",
        *measure_targets(body), "",
        "Poise's own clips, turned about their ankles with their feet left flat. What leans and still stands is left "
        "as it was:",
        "", *measure_balance(body), "",
    ]  # fmt: skip
    PAGE.write_text(text[:start] + "\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
