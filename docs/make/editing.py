"""Makes the pictures and the figures of docs/editing.md.

    .venv/bin/python docs/make/editing.py FOLDER

FOLDER holds bvh-cmu/. Recipes are those of the page itself. Places are measured by SciPy's rotations.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import poise
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.files import read_clip
from poise.files.output import write_bytes
from poise.jobs.edit.job import EditFound
from poise.motion import Clip, Offset, apply_offsets, find_point, samples
from poise.motion.edits.sequence import Segment, join_segments, measure_jumps
from poise.pictures.image import save_png
from poise.pictures.picture import FIGURE_COLORS, DrawnBody, Picture, frame_picture, render_picture
from poise.pictures.plot_style import LINE_COLORS, finish_panel, new_figure, to_png

DOCS = Path(__file__).parents[1]
PAGE, PICTURES = DOCS / "editing.md", DOCS / "pictures"
HEADING = "## Figures\n"
RECORDINGS = {"02_05, punches": "02_05", "111_02, bows": "111_02", "13_11, jumps": "13_11"}


def find_world(clip: Clip, t: float, joint: str, point: str = "palm") -> np.ndarray:
    """(3,) m, a point of a joint, by SciPy."""
    pose, skeleton = clip.pose(t), clip.skeleton
    turns, places = [], []
    for i, parent in enumerate(skeleton.parents):
        own = Rotation.from_quat(pose.rotations[i], scalar_first=True)
        turns.append(own if parent < 0 else turns[parent] * own)
        places.append(pose.root if parent < 0 else places[parent] + turns[parent].apply(np.array(skeleton.offsets[i])))
    i = skeleton.index(joint)
    return np.asarray(places[i] + turns[i].apply(find_point(skeleton, joint, point)))


def follow(text: str) -> EditFound:
    """A recipe of the page."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recipe.toml"
        path.write_text(text)
        return poise.edit(path)


def plot_transition(recipe: str) -> None:
    """The right hand through the last join: both motions, and what comes out. As fig 5 of the paper."""
    found = follow(recipe)
    actor = found.actors[0]
    join = actor.arranged.joins[-1]
    assert join.alone is not None
    clip, hand = actor.arranged.clip, actor.clip.skeleton.index("rightHand")
    figure = new_figure(8.0, 3.2, "")
    panel = figure.subplots()
    near = (clip.times > join.time - 0.6) & (clip.times < join.time + 0.6)
    panel.plot(clip.times[near], clip.positions[near, hand, 1], color=LINE_COLORS[6], lw=2.4, label="result")
    for each, name, color in zip(join.alone, (join.before, join.after), LINE_COLORS, strict=False):
        panel.plot(each.times, each.positions[:, hand, 1], "--", color=color, label=name)
    for side in (-0.5, 0.5):
        panel.axvline(join.time + side * join.transition, color="#777777", lw=0.8)
    panel.set_xlabel("s")
    panel.set_ylabel("height of the right wrist, m")
    finish_panel(panel, clip.times[near])
    write_bytes(PICTURES / "edit-transition.png", to_png(figure))


def plot_offset(recipe: str) -> None:
    """How far the palm is from its place, before and after."""
    found = follow(recipe)
    actor = found.actors[0]
    offset = actor.bent.met[0].offset
    place, times = offset.find_place(offset.time), np.arange(0.6, 1.9, 1 / 120)
    figure = new_figure(8.0, 3.2, "")
    panel = figure.subplots()
    for clip, name, color in ((actor.arranged.clip, "as it was", 0), (actor.bent.clip, "with the offset", 1)):
        off = [1e3 * np.linalg.norm(find_world(clip, t, offset.joint) - place) for t in times]
        panel.plot(times, off, color=LINE_COLORS[color], label=name)
    panel.axvspan(offset.time - offset.before, offset.time + offset.after, color="#000000", alpha=0.06, label="window")
    panel.set_ylim(0.0, None)
    panel.set_xlabel("s")
    panel.set_ylabel("palm from its place, mm")
    finish_panel(panel, times)
    write_bytes(PICTURES / "edit-offset.png", to_png(figure))


def draw_pattycake(recipe: str) -> list[str]:
    """Two children where hands meet, without offsets and with them; and how far the hands are apart."""
    rows, pictures = [], []
    for speed in (1.0, 1.33):
        said = re.sub(r"speed = [0-9.]+", f"speed = {speed}", recipe)
        for text, name in ((said[: said.index("[[offsets]]")], "without offsets"), (said, "with offsets")):
            found = follow(text)
            clips, at = found.clips, 1.0 / speed
            pairs = (("rightHand", "leftHand"), ("leftHand", "rightHand"))
            apart = [
                1e3 * float(np.linalg.norm(find_world(clips["anna"], t, a) - find_world(clips["ben"], t, b)))
                for t in np.array([0.33333, 1.0, 1.66667, 2.33333]) / speed
                for a, b in pairs
            ]
            rows.append(
                f"| patty cake at {100 * speed:.0f} %, {name}: palms apart where they meet, at most | "
                f"{max(apart):.3g} mm |"
            )
            if speed == 1.0:
                bodies = []
                for k, actor in enumerate(found.actors):
                    skin = build_skin(actor.clip.skeleton, build_mannequin(actor.clip.skeleton, actor.character.mass))
                    bodies.append(DrawnBody(actor.clip, skin, FIGURE_COLORS[k]))
                picture = Picture(bodies)
                view = frame_picture(picture, np.array([at]), (520, 420), azimuth=-1.35, elevation=0.2)
                pictures.append(render_picture(picture, at, (520, 420), view, caption=name))
    save_png(PICTURES / "edit-pattycake.png", np.concatenate(pictures, axis=1))
    return rows


def measure_offsets() -> list[str]:
    """Random places for hands and feet of random bodies, and how long they take."""
    rng, misses, took, turned = np.random.default_rng(1), [], [], []
    for k in range(1000):
        if k % 50 == 0:
            body = poise.Character.human(rng.uniform(1.2, 2.0), None, preset=["full", "tracking", "mix"][k // 50 % 3])
            clip = samples.squat(body.skeleton, 2.0, 30.0)
        joint = ["leftHand", "rightHand", "leftFoot", "rightFoot"][k % 4]
        t = float(rng.uniform(0.2, 1.8))
        point = "palm" if joint.endswith("Hand") else "ball"
        was = find_world(clip, t, joint, point)
        top = find_world(clip, t, joint.replace("Hand", "UpperArm").replace("Foot", "UpperLeg"), "joint")
        place = was + 0.15 * (top - was) + rng.uniform(-0.05, 0.05, 3)
        begin = time.perf_counter()
        done = apply_offsets(clip, [Offset(joint, t, place, point)], body.limits)
        took.append(time.perf_counter() - begin)
        misses.append(1e3 * float(np.linalg.norm(find_world(done.clip, t, joint, point) - place)))
        turned.append(float(np.degrees(done.met[0].turned)))
    met = np.array(misses) < 1.0
    kept = np.array(turned) < 0.1
    return [
        f"| 1000 random places for hands and feet of 20 bodies: met within 1 mm | {met.sum()} |",
        "| ... of these turned as before, within 0.1 degrees; ranges of wrist and ankle do not let the others | "
        f"{(met & kept).sum()} |",
        f"| ... farthest off of those that are met | {np.array(misses)[met].max():.2g} mm |",
        f"| an offset, median | {1e3 * np.median(took):.0f} ms |",
    ]


def measure_transitions() -> list[str]:
    """Every pair of Poise's own motions, joined at random cuts; jumps by differences at 240 frames a second."""
    body = poise.Character.human()
    rng = np.random.default_rng(2)
    clips = {
        "walk": samples.walk(body.skeleton, 5.0, 60.0), "wave": samples.wave(body.skeleton, 4.0, 30.0),
        "squat": samples.squat(body.skeleton, 4.0, 120.0), "jump": samples.jump(body.skeleton, 3.0, 60.0),
        "clap": poise.gestures.GestureMotion(poise.gestures.clap(1.5), body.skeleton).sample(4.0, 60.0),
        "conduct": poise.gestures.GestureMotion(poise.gestures.conduct(), body.skeleton).sample(4.0, 25.0),
    }  # fmt: skip
    worst = {240.0: [0.0, 0.0], 960.0: [0.0, 0.0]}
    count = 0
    for a in clips.values():
        for b in clips.values():
            ends = rng.uniform(0.9, 2.5, 2)
            count += 1
            for fps, most in worst.items():
                done = join_segments([Segment(a, ends[0] - 0.8, ends[0]), Segment(b, ends[1], ends[1] + 0.5)], 0.4, fps)
                times = done.clip.times
                inside = np.abs(times - done.joins[0].time) < 0.25
                for k, jumps in enumerate(measure_jumps(times, done.clip.positions)):
                    most[k] = max(most[k], float(jumps[inside].max()))
    rows = []
    for fps, (place, speed) in worst.items():
        rows.append(
            f"| {count} pairs of motions, transitions of 0.4 s: largest jump at {fps:.0f} frames a second | "
            f"{1e3 * place:.2g} mm, {speed:.2g} m/s |"
        )
    return rows


def measure_claps() -> list[str]:
    """Claps in random order, each from palms together to palms together."""
    body = poise.Character.human()
    clip = poise.gestures.GestureMotion(poise.gestures.clap(1.5), body.skeleton).sample(6.0, 120.0)
    order = np.random.default_rng(2).permutation(np.repeat(np.arange(1, 8), 2))
    done = join_segments([Segment(clip, i / 1.5, (i + 1) / 1.5) for i in order], 0.1, 120.0)
    speeds = [measure_jumps(each.times, each.positions)[1].max() for each in (done.clip, clip)]
    return [
        f"| {len(order)} claps in random order: joints apart at the cuts, at most | "
        f"{1e3 * max(join.gap for join in done.joins):.2g} mm |",
        f"| ... largest jump of speed at 120 frames a second, and in the clip itself | "
        f"{speeds[0]:.2g} m/s, {speeds[1]:.2g} m/s |",
    ]


def measure_samples(folder: Path) -> list[str]:
    """Recordings thinned to 15-25 Hz at random, and how far they are from the full rate."""
    rows = []
    for name, file in RECORDINGS.items():
        whole = read_clip(folder / "bvh-cmu" / f"{file}.bvh").clip
        gaps = np.random.default_rng(0).uniform(1 / 25, 1 / 15, len(whole))
        at = np.concatenate([[0.0], np.cumsum(gaps)])
        keep = np.unique(np.searchsorted(whole.times, at[at <= whole.duration]))
        thin = whole.pick(np.append(keep[keep < len(whole) - 1], len(whole) - 1))
        cells = [name, f"{len(thin)} of {len(whole)}"]
        for how in ("slerp", "spline"):
            places = whole.skeleton.pose(*thin.pose(whole.times, how))[0]
            off = 1e3 * np.linalg.norm(places - whole.positions, axis=-1)
            hand = places[:, whole.skeleton.index("rightHand")]
            change = np.linalg.norm(np.diff(hand, 2, axis=0), axis=-1) * whole.fps
            cells += [f"{np.sqrt(np.mean(off**2)):.2f}", f"{np.percentile(off, 99.9):.1f}", f"{change.max():.2f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def main(folder: Path) -> None:
    text = PAGE.read_text()
    single, pair = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[:2]
    plot_transition(single)
    plot_offset(single)
    rows = [*draw_pattycake(pair), *measure_offsets(), *measure_transitions(), *measure_claps()]
    lines = [
        "", "| what | measured |", "|---|---|", *rows, "",
        "What is left of a jump of speed is what the acceleration does in a frame: it goes with the frames.", "",
        "Recordings thinned to 15-25 Hz, uneven, beside their own 120 Hz: RMS over all joints and frames, the worst of",
        "a thousand, and the largest change of the right hand's velocity from one frame to the next.", "",
        "| recording | samples | slerp, mm | worst, mm | jump, m/s | spline, mm | worst, mm | jump, m/s |",
        "|---|---|---|---|---|---|---|---|", *measure_samples(folder), "",
    ]  # fmt: skip
    before, _, after = text.partition(HEADING)
    rest = after[after.index("\n## ") :] if "\n## " in after else ""
    PAGE.write_text(before + HEADING + "\n".join(lines) + rest)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
