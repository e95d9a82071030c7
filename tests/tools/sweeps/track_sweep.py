"""Random clips tracked with random gains at random steps, for a moment each: nothing may become non-finite or whirl.

Clips are smooth, noisy, jerked from pose to pose, flipped by half turns or with spikes of one frame, at 12 to 240
frames a second; on bodies of all sizes and presets, on a root that is fixed, animated, free or over legs that balance;
with pushes, and with springs that give way. What is refused must be so by a sentence.
"""

from __future__ import annotations

import json
import math
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

from poise import Balance, Character, Free, InputError, Kinematic, Pose, SolveError, Stage, Track
from poise.drivers.track.track import HIGHEST, LAWS, LOWEST
from poise.motion.clip import Clip
from poise.motion.parts import part_joints
from poise.spatial import rotation
from poise.world.contact_settings import ContactSettings
from tools.sweeps.page import table

PAGE = Path(__file__).parents[3] / "docs" / "tracking-sweep.md"
TITLE = """# Tracking over ranges

Written by `make sweep NAME=track`.
"""
KINDS = ("smooth", "noisy", "jerked", "flipped", "spiked")
BASES = ("fixed", "kinematic", "free", "balance")
STEPS = (0.001, 0.002, 0.005, 0.01)
SECONDS = 0.3
# rad/s: nothing that follows a clip turns as fast, unless the clip itself does, springs pull it from half a turn away,
# by pi sqrt(s), or it is light and pushed, or thrown on by a limb that is stopped: see `find_pushed`, `find_thrown`.
FASTEST = 400.0


@cache
def make_body(number: int) -> Character:
    """One of two dozen bodies."""
    rng = np.random.default_rng(number)
    height = float(rng.uniform(0.6, 2.4))
    mass = float(rng.uniform(14.0, 34.0)) * height**2
    return Character.human(height, mass, preset=("mix", "strength", "tracking", "full")[number % 4])


def make_clip(rng: np.random.Generator, character: Character, kind: str) -> Clip:
    """A clip of `SECONDS`, or a little more, of all joints."""
    fps = float(rng.choice([12.0, 15.0, 25.0, 30.0, 60.0, 120.0, 240.0]))
    t = np.arange(max(4, math.ceil(SECONDS * fps) + 2)) / fps
    skeleton = character.skeleton
    j, f = len(skeleton), len(t)
    axis = rng.normal(size=(j, 3))
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    size, hz, phase = rng.uniform(0.0, 1.2, j), rng.uniform(0.2, 6.0, j), rng.uniform(0.0, 6.3, j)
    angles = size * np.sin(2.0 * math.pi * hz * t[:, None] + phase)
    if kind == "noisy":
        angles += rng.normal(scale=0.05, size=(f, j))
    if kind == "jerked":
        angles = rng.uniform(-1.5, 1.5, (f, j))
    if kind == "flipped":
        angles += math.pi * (rng.random((f, j)) < 0.1)
    if kind == "spiked":
        angles += 2.0 * (rng.random((f, j)) < 0.02)
    turns = rotation.make_continuous(rotation.exp(angles[..., None] * axis))
    legs = part_joints(skeleton, "legs")
    still = Stage().add(character).pose(0.0)
    turns[:, [0, *legs]] = still.rotations[[0, *legs]]
    wander = 0.1 * np.sin(2.0 * math.pi * rng.uniform(0.2, 2.0, 3) * t[:, None])
    return Clip(skeleton, t, still.root + wander * [1.0, 0.3, 1.0], turns)


def find_fastest(clip: Clip) -> float:
    """rad/s, of any joint from frame to frame."""
    steps = rotation.log(rotation.multiply(rotation.conjugate(clip.rotations[:-1]), clip.rotations[1:]))
    return float(np.linalg.norm(steps, axis=-1).max() * clip.fps)


def find_pushed(body: Character, joint: str, force: float) -> float:
    """rad/s, of a segment that is pushed half a turn round its joint by a constant force: w^2 = 2 pi F / (m r)."""
    mass, lever = weigh(body, joint)
    return math.sqrt(2.0 * math.pi * force / max(mass * lever, 1e-9))


def find_thrown(body: Character, speeds: np.ndarray) -> np.ndarray:
    """(J,) rad/s, of hands, feet and heads that go on when the limb before them is stopped; speeds (J,) m/s of joints.

    They are slow by themselves: how fast their joint is, the limb before them says, which is judged without this.
    """
    found, parents = np.zeros(len(speeds)), set(body.skeleton.parents)
    for segment in body.segments:
        i = body.skeleton.index(segment.joint)
        if i not in parents:
            found[i] = 1.5 * speeds[i] / max(weigh(body, segment.joint)[1], 1e-3)
    return found


def weigh(body: Character, joint: str) -> tuple[float, float]:
    """kg of a segment, and m from its joint to its centre."""
    for segment in body.segments:
        if body.skeleton.index(segment.joint) == body.skeleton.index(joint):
            return segment.inertia.mass, float(np.linalg.norm(segment.inertia.center))
    return 0.0, 0.0


def run(seed: int) -> dict[str, object]:
    """One moment of one body."""
    rng = np.random.default_rng(seed)
    body, kind, base = make_body(int(rng.integers(24))), str(rng.choice(KINDS)), str(rng.choice(BASES))
    clip = make_clip(rng, body, kind)
    dt, engine = float(rng.choice(STEPS)), "bullet" if rng.random() < 0.1 else "mujoco"
    stiffness = float(10.0 ** rng.uniform(math.log10(LOWEST), math.log10(HIGHEST)))
    damping, law, give = float(rng.uniform(0.0, 3.0)), str(rng.choice(LAWS)), float(rng.choice([0.0, rng.random()]))
    row: dict[str, object] = {
        "seed": seed, "kind": kind, "base": base, "dt": dt, "engine": engine, "law": law, "stiffness": stiffness,
        "outcome": "well",
    }  # fmt: skip
    try:
        stage = Stage(engine, dt, touch=ContactSettings(itself=bool(rng.random() < 0.3)))
        pose = Pose(clip.root[0].copy(), clip.rotations[0].copy()) if rng.random() < 0.8 else None
        actor = stage.add(body, pose=pose)
        if base == "kinematic":
            legs = [body.skeleton.names[i] for i in (0, *part_joints(body.skeleton, "legs"))]
            actor.drive(legs, Kinematic(clip))
        elif base == "free":
            actor.drive("root", Free())
        elif base == "balance":
            actor.drive("legs", Balance())
        part = str(rng.choice(["upperBody", "arms", "leftArm", "trunk"])) if base != "free" else "body"
        actor.drive(part, Track(clip, stiffness, damping, law=law, give=give))
        explained = np.full(len(body.skeleton), max(FASTEST, 1.5 * find_fastest(clip), math.pi * math.sqrt(stiffness)))
        if rng.random() < 0.4:
            force = rng.normal(scale=300.0, size=3)
            joint = str(rng.choice(["leftHand", "head", "spine"]))
            actor.push(joint, force, 0.05, float(rng.uniform(0.0, 0.2)))
            i = body.skeleton.index(joint)
            explained[i] = max(explained[i], find_pushed(body, joint, float(np.linalg.norm(force))))
        fastest, tops, speeds = 0.0, np.zeros(len(explained)), np.zeros(len(explained))
        for _ in range(math.ceil(SECONDS / dt / 10)):
            stage.advance(10)
            state = actor.body.state
            if not all(np.isfinite(x).all() for x in (state.root, state.q, state.v, state.w)):
                row["outcome"] = "not finite"
                return row
            fastest = max(fastest, float(np.abs(state.w).max()))
            actor.body.update()
            tops = np.maximum(tops, np.abs(state.w).max(axis=1))
            speeds = np.maximum(speeds, np.linalg.norm(actor.body.v, axis=1))
        row["fastest"] = fastest
        if (tops > np.maximum(explained, find_thrown(body, speeds))).any():
            row["outcome"] = "whirled"
    except InputError as error:
        row |= {"outcome": "refused", "why": str(error)}
    except SolveError as error:
        row |= {"outcome": "not finite", "why": str(error)[:200]}
    return row


def sweep(minutes: float = 10.0, count: int = 10_000, log: Path | None = None) -> tuple[str, int]:
    """As many runs as there is time for; a row each into `log`, from which an earlier sweep is gone on with."""
    rows: list[dict[str, object]] = []
    if log is not None and log.exists():
        rows = [json.loads(line) for line in log.read_text().splitlines()]
    end = time.monotonic() + 60.0 * minutes
    while len(rows) < count and time.monotonic() < end:
        rows.append(run(len(rows)))
        if log is not None:
            with log.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    return describe(rows)


def describe(rows: list[dict[str, object]]) -> tuple[str, int]:
    """The section, and how many runs did not go well."""
    bad = [row for row in rows if row["outcome"] in ("not finite", "whirled")]
    refused = [row for row in rows if row["outcome"] == "refused"]

    def split(key: str) -> list[tuple[object, ...]]:
        found: list[tuple[object, ...]] = []
        for value in sorted({row[key] for row in rows}, key=str):
            mine = [row for row in rows if row[key] == value]
            tops = [float(row["fastest"]) for row in mine if "fastest" in row]  # type: ignore[arg-type]
            high = f"{np.percentile(tops, 99):.0f}" if tops else ""
            found.append((value, len(mine), sum(row in bad for row in mine), high))
        return found

    heads = {"kind": "clip", "base": "on", "law": "law", "dt": "step, s", "engine": "engine"}
    tables = [table((head, "runs", "missed", "rad/s, 99 of 100 below"), split(key)) for key, head in heads.items()]
    text = [
        f"{len(rows)} runs of {SECONDS:g} s, stiffness {LOWEST:g} to {HIGHEST:g} 1/s2, damping 0 to 3: {len(bad)}"
        f" became non-finite, or turned faster than {FASTEST:g} rad/s, their clips, their springs, a push on a light"
        " hand and a limb that is stopped could make them;"
        f" {len(refused)} were refused in a sentence.",
        *(f"\n{each}" for each in tables),
        *(f"- seed {row['seed']}: {row['outcome']}, {row.get('why', row.get('fastest'))}" for row in bad[:20]),
    ]
    return "\n".join(text), len(bad)


if __name__ == "__main__":
    text, bad = sweep(float(sys.argv[1]), log=Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    print(text)
    sys.exit(1 if bad else 0)
