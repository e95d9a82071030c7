"""Puppets that are let go, fall, lie, and are drawn up: bodies, poses, pushes, grounds, and taken back on the way down.

All figures are measured on poses, by code that shares nothing with what is measured: NumPy and SciPy rotations, the
numbers of the tree and of the shapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from poise import Character, Free, Puppet, PuppetLayer, Stage, load_mapping
from poise.drivers.loose.loose import LET_GO, Limp
from poise.drivers.puppet.player import PuppetPlayer
from poise.drivers.puppet.settings import FRAME
from poise.errors import PoiseError
from poise.puppetry.hands import HandsTake
from poise.stage.actor import Actor
from poise.world.ground.ground import Slope
from poise.world.ground.profile import Stairs
from poise.world.overlap import find_shapes
from tools.sweeps.fall_sweep import DATA, Watch, _load, list_points
from tools.sweeps.page import table

PAGE = Path(__file__).parents[3] / "docs" / "puppet-sweeps.md"
TITLE = """# Puppets over ranges

Written by `make sweep NAME=getup` and `NAME=treads`. Nothing is tuned between the rows of a table.
"""
FPS = round(1.0 / FRAME)
DOWN, UP = 4.5, 4.0  # s, that it is left to physics, and that it is watched after it was taken back
# Wanted: m/s and rad/s from one 120th of a second to the next, mm in the ground, s, m/s and rad/s of who lies, of m g h
MOST_JERK, MOST_TURN, MOST_DEEP, LONGEST, MOST_CREEP, MOST_GROWTH = 0.15, 6.0, 12.0, 3.0, 0.02, 0.01
BODIES: dict[str, Callable[[], Character]] = {
    "child 1.2 m, 24 kg": lambda: Character.human(1.2, 24.0),
    "adult 1.75 m, 75 kg": lambda: Character.human(1.75, 75.0),
    "tall 2.05 m, 120 kg": lambda: Character.human(2.05, 120.0),
    "fat 1.6 m, 140 kg": lambda: Character.human(1.6, 140.0),
    "thin 1.9 m, 52 kg": lambda: Character.human(1.9, 52.0),
    "strength 1.65 m, no toes": lambda: Character.human(1.65, 60.0, preset="strength"),
}
FILES = {"cmu file": "bvh-cmu/13_11.bvh", "vrm file": "vrm/*.vrm"}
GROUNDS: dict[str, Callable[[], Any]] = {
    "slope of 12 degrees": lambda: Slope(math.radians(12.0)),
    "stairs of 15 cm": lambda: Stairs(0.15, 0.35, 6, start=0.4),
}
PUSHES = {"": None, "ahead": (0.0, 1.0), "back": (0.0, -1.0), "left": (1.0, 0.0)}


def hold(legs: tuple[float, float], up: tuple[float, float], tip: float = 0.0) -> list[PuppetLayer]:
    """Hands that stay: degrees that both thighs are ahead, m that both hands are up, degrees that the trunk leans."""
    times = np.arange(0.0, 30.0, 0.1)

    def make(turns: np.ndarray, heights: tuple[float, float]) -> HandsTake:
        places = np.zeros((len(times), 2, 3))
        places[:, :, 1] = heights
        quats = Rotation.from_rotvec(np.radians(turns)).as_quat(scalar_first=True)
        return HandsTake(times, places, np.broadcast_to(quats, (len(times), 2, 4)), neutral=np.zeros((2, 3)))

    found = [PuppetLayer(load_mapping("legs"), make(np.array([[-legs[k], 0.0, 0.0] for k in range(2)]), up))]
    if tip:
        found.append(PuppetLayer(load_mapping("trunk"), make(np.array([[tip, 0.0, 0.0], [0.0, 0.0, 0.0]]), (0.0, 0.0))))
    return found


def walk() -> list[PuppetLayer]:
    """Hands that go up and down in turn."""
    times = np.arange(0.0, 30.0, 1.0 / 60.0)
    places, turns = np.zeros((len(times), 2, 3)), np.zeros((len(times), 2, 3))
    for hand in range(2):
        up = np.sin(4.0 * times + math.pi * hand)
        places[:, hand, 1], turns[:, hand, 0] = 0.05 + 0.05 * up, -0.45 * up
    quats = Rotation.from_rotvec(turns.reshape(-1, 3)).as_quat(scalar_first=True).reshape(len(times), 2, 4)
    return [PuppetLayer(load_mapping("legs"), HandsTake(times, places, quats, neutral=np.zeros((2, 3))))]


def hop() -> list[PuppetLayer]:
    """Hands that bend both knees and straighten them at once, 1.2 s after they began."""
    times = np.arange(0.0, 30.0, 1.0 / 120.0)

    def ease(u: np.ndarray) -> np.ndarray:
        u = np.clip(u, 0.0, 1.0)
        return np.asarray(u**3 * (10.0 - 15.0 * u + 6.0 * u * u))

    bend = ease((times - 0.2) / 0.6) - ease((times - 1.2) / 0.12)
    places, turns = np.zeros((len(times), 2, 3)), np.zeros((len(times), 2, 3))
    places[:, :, 1], turns[:, :, 0] = 0.16 * bend[:, None], -math.radians(40.0) * bend[:, None]
    quats = Rotation.from_rotvec(turns.reshape(-1, 3)).as_quat(scalar_first=True).reshape(len(times), 2, 4)
    return [PuppetLayer(load_mapping("legs"), HandsTake(times, places, quats, neutral=np.zeros((2, 3))))]


# Who plays it, and when it is let go, s.
POSES: dict[str, tuple[Callable[[], list[PuppetLayer]], float]] = {
    "standing": (lambda: hold((0.0, 0.0), (0.0, 0.0)), 0.5),
    "walking": (walk, 2.1),
    "one foot up": (lambda: hold((35.0, 0.0), (0.15, 0.0)), 0.5),
    "leaning": (lambda: hold((5.0, -5.0), (0.03, 0.0), 35.0), 0.8),
    "in a hop": (hop, 1.45),
}


@dataclass
class GetUp:
    """One run. jerk m/s, turned rad/s: from one 120th of a second to the next while it is taken back and drawn up."""

    body: str
    case: str
    why: str = ""
    growth: float = 0.0
    fell_under: float = 0.0
    lay_under: float = 0.0
    creep: float = 0.0
    jerk: float = 0.0
    turned: float = 0.0
    joint: str = ""
    deep: float = 0.0
    shape: str = ""
    seconds: float = math.inf
    up: bool = False
    flew: bool = False

    @property
    def is_bad(self) -> bool:
        """Whether it misses an aim."""
        return bool(
            self.why or not self.up or self.flew or not self.growth <= MOST_GROWTH or not self.jerk <= MOST_JERK
            or not self.turned <= MOST_TURN or not self.deep <= MOST_DEEP or not self.seconds <= LONGEST
            or not self.creep <= MOST_CREEP or not self.fell_under <= MOST_DEEP
        )  # fmt: skip


class Soles:
    """How deep the shapes of a body are in the ground, from its poses alone."""

    def __init__(self, character: Character, ground: Any):
        skeleton = character.skeleton
        self.parents, self.offsets, self.labels = skeleton.parents, skeleton.offsets, skeleton.labels
        self.solids = [(joint, *list_points(shape)) for joint, shape in find_shapes(character, True, True)]
        self.ground = ground

    def find(self, roots: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """(F, S) mm, of each shape in each frame, and the shapes' names."""
        local = Rotation.from_quat(turns.reshape(-1, 4), scalar_first=True).as_matrix().reshape(*turns.shape[:2], 3, 3)
        R, p = np.empty_like(local), np.empty((*turns.shape[:2], 3))
        for i, k in enumerate(self.parents):
            R[:, i] = local[:, i] if k < 0 else R[:, k] @ local[:, i]
            p[:, i] = roots if k < 0 else p[:, k] + R[:, k] @ self.offsets[i]
        found = []
        for joint, points, r in self.solids:
            at = p[:, joint, None] + points @ R[:, joint].transpose(0, 2, 1)
            found.append(-1000.0 * self._find_over(at, r).min(axis=1))
        return np.stack(found, axis=1), [self.labels[joint] for joint, _, _ in self.solids]

    def _find_over(self, at: np.ndarray, r: float) -> np.ndarray:
        """m, that balls of a radius about points are over the ground; what is in a riser is as deep as it is in it."""
        if self.ground is None:
            return np.asarray(at[..., 1] - r)
        h = 1e-3
        x, y, z = at[..., 0], at[..., 1], at[..., 2]
        height = self.ground.height_at
        slope = np.hypot((height(x + h, z) - height(x - h, z)), (height(x, z + h) - height(x, z - h))) / (2.0 * h)
        over = (y - height(x, z)) / np.sqrt(1.0 + np.where(slope < 1.0, slope, 0.0) ** 2) - r
        for way in np.linspace(0.0, 2.0 * math.pi, 8, endpoint=False):
            for far in (0.002, 0.005, 0.01, 0.02, 0.03):
                out = y - height(x + far * math.cos(way), z + far * math.sin(way)) - r
                over = np.where((over < -far) & (out > -far), -far, over)
        return np.asarray(over)


def get_up(character: Character, body: str, pose: str, push: str, ground: str = "", back: float = DOWN) -> GetUp:
    """One fall and what follows, watched. back: s after it was let go, when it is taken back."""
    words = [pose, *(f"pushed {push}" for _ in "x" if push), *([ground] if ground else [])]
    found = GetUp(body, ", ".join([*words, *(f"taken back after {back:g} s" for _ in "x" if back < DOWN)]))
    try:
        _get_up(character, found, pose, push, ground, back)
    except PoiseError as error:
        found.why = str(error)[:100]
    return found


def _get_up(character: Character, found: GetUp, pose: str, push: str, ground: str, back: float) -> None:
    under = GROUNDS[ground]() if ground else None
    stage = Stage(dt=FRAME / 2) if under is None else Stage(dt=FRAME / 2, ground=under)
    actor = stage.add(character, name="actor")
    layers, begin = POSES[pose][0](), POSES[pose][1]
    actor.drive("body", Puppet(layers))
    stage.advance(2 * round(begin * FPS))
    actor.drive("root", Free())
    actor.drive("body", Limp())
    way = PUSHES[push]
    if way is not None:
        chest = next(role for role in ("chest", "spine", "hips") if role in character.skeleton.roles)
        actor.push(chest, 0.8 * character.mass / 0.2 * np.array([way[0], 0.0, way[1]]), 0.2)
    stage.advance(1)
    watch, soles = Watch(actor), Soles(character, under)
    poses: list[tuple[np.ndarray, np.ndarray]] = []
    least, hushed = math.inf, max(LET_GO, 0.2 if way is not None else 0.0)
    for k in range(round(back * FPS)):
        stage.advance(2)
        state = actor.body.state
        poses.append((state.root.copy(), state.q.copy()))
        if k / FPS > hushed:
            now = watch.energy()
            found.growth = max(found.growth, (now - least) / watch.scale)
            least = min(least, now)
    depths, _ = soles.find(*map(np.array, zip(*poses, strict=True)))
    found.fell_under, found.lay_under = float(depths.max()), float(depths[-1].max())
    if back >= DOWN:
        found.creep = float(np.linalg.norm(poses[-1][0] - poses[-FPS // 4][0])) * 4.0
    poses = poses[-4:]
    # hands that stay: what those that move do to it is theirs
    actor.drive("body", Puppet(hold((0.0, 0.0), (0.0, 0.0)) if pose in ("walking", "in a hop") else layers))
    stage.build()
    _watch(actor, found, soles, poses)


def _watch(actor: Actor, found: GetUp, soles: Soles, poses: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """See how it is drawn up."""
    player = next(each for each in actor.players if isinstance(each, PuppetPlayer))
    drawn, count = player.get_up is not None, len(poses)
    for k in range(round(UP * FPS)):
        actor.stage.advance(2)
        now = actor.pose()
        poses.append((now.root, now.rotations))
        found.flew |= player.flight.is_up and not found.case.startswith("in a hop")
        is_up = player.get_up is None or player.get_up.is_up
        if is_up and found.seconds == math.inf:
            found.seconds = k / FPS
    roots, turns = map(np.array, zip(*poses, strict=True))
    last = count + round((found.seconds + 1.3) * FPS) if drawn and math.isfinite(found.seconds) else len(roots)
    v = np.diff(roots, axis=0)[:last] * FPS
    step = Rotation.from_quat(turns[:-1].reshape(-1, 4), scalar_first=True).inv() * Rotation.from_quat(
        turns[1:].reshape(-1, 4), scalar_first=True
    )
    w = step.as_rotvec().reshape(len(turns) - 1, -1, 3)[:last] * FPS
    found.jerk = float(np.linalg.norm(np.diff(v, axis=0), axis=1).max())
    jumps = np.linalg.norm(np.diff(w, axis=0), axis=2)
    found.turned = float(jumps.max())
    found.joint = soles.labels[int(jumps.max(axis=0).argmax())]
    depths, names = soles.find(roots[count:last], turns[count:last])
    found.deep, found.shape = float(depths.max()), names[int(depths.max(axis=0).argmax())]
    up = Rotation.from_quat(turns[-1, 0], scalar_first=True).apply([0.0, 1.0, 0.0])[1]
    found.up = bool(player.feet.stands.any() and player.get_up is None and up > 0.8)


def list_bodies() -> dict[str, Callable[[], Character]]:
    """Made ones, and those of files where they are there."""
    people = dict(BODIES)
    for name, pattern in FILES.items():
        paths = sorted(DATA.glob(pattern))
        if paths:
            people[name] = lambda path=paths[0]: _load(path)  # type: ignore[misc]
    return people


def list_jobs() -> list[tuple[str, str, str, str, float]]:
    """Body, pose, push, ground, and when it is taken back."""
    names = list(list_bodies())
    few = ("", "back")
    jobs = [
        (name, pose, push, "", DOWN)
        for name in names for pose in POSES for push in (PUSHES if name in names[:3] else few)
    ]  # fmt: skip
    jobs += [
        (name, pose, push, ground, DOWN)
        for name in names[:3] for ground in GROUNDS for pose in ("standing", "walking") for push in few
    ]  # fmt: skip
    jobs += [
        (name, pose, "ahead", "", back)
        for name in names[:3] for pose in ("standing", "walking") for back in (0.1, 0.2, 0.35, 0.5, 1.0)
    ]  # fmt: skip
    return jobs


def run(job: tuple[str, str, str, str, float]) -> GetUp:
    """A job of the sweep, in a process of its own."""
    name, pose, push, ground, back = job
    return get_up(list_bodies()[name](), name, pose, push, ground, back)


def sweep(workers: int = 2, every: int = 1) -> tuple[str, int]:
    """All of them; every: so many jobs are gone on by."""
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(run, list_jobs()[::every]))
    text, bad = report(found)
    return f"{ABOUT}\n\n{text}", bad


ABOUT = (
    f"A puppet is let go while hands play it, pushed at the chest or not, lies after {DOWN:g} s, and is taken back; or "
    "it is taken back while it falls. The worst of each row, whose runs are other poses and pushes. Wanted: energy "
    f"never grows by more than {100 * MOST_GROWTH:g} % of m g h; while it is drawn up, and for 1.3 s after, from one "
    f"120th of a second to the next the root's velocity changes by {MOST_JERK:g} m/s and joints' by {MOST_TURN:g} "
    f"rad/s at most, no shape is more than {MOST_DEEP:g} mm in the ground; it is up within {LONGEST:g} s, on its "
    "feet, upright, and never in the air. Who is taken back on the way down hits the ground as he falls: of those only "
    "the end, the ground and the time count."
)


def report(runs: list[GetUp]) -> tuple[str, int]:
    """A row for every body and kind of case: the worst of its runs."""
    rows, missed = [], 0
    for key in dict.fromkeys((each.body, _kind(each)) for each in runs):
        group = [each for each in runs if (each.body, _kind(each)) == key]
        caught = "taken back" in key[1]
        bad = sum(bool(f.why or not f.up or f.deep > 2 * MOST_DEEP) if caught else f.is_bad for f in group)
        missed += bad
        turned, deep = max(group, key=lambda f: f.turned), max(group, key=lambda f: f.deep)
        rows.append((
            *key, str(len(group)), f"{100 * max(f.growth for f in group):.2f}",
            f"{max(f.fell_under for f in group):.1f}",
            f"{1000 * max(f.creep for f in group):.1f}", f"{max(f.jerk for f in group):.3f}",
            f"{turned.turned:.1f} {turned.joint}", f"{deep.deep:.1f} {deep.shape}",
            f"{min(f.seconds for f in group):.1f} to {max(f.seconds for f in group):.1f}",
            str(sum(f.up for f in group)), str(sum(f.flew for f in group)), str(bad),
        ))  # fmt: skip
    head = (
        "body", "case", "runs", "energy grew, %", "in the ground as it fell, mm", "mm/s at rest", "root, m/s",
        "joint, rad/s", "in the ground, mm", "s to be up", "up", "in the air", "missed",
    )  # fmt: skip
    return table(head, rows), missed


def _kind(found: GetUp) -> str:
    words = found.case.split(", ")
    if "taken back" in words[-1]:
        return words[-1]
    return words[-1] if words[-1] in GROUNDS else words[0]
