"""Falls from all around: joints in their ranges, nothing through the floor, no energy out of nothing.

Two ways to fall: a body that stands is pushed until it falls, and is a ragdoll from then on; a ragdoll is dropped,
tilted, with spin. All figures are measured by code that shares nothing with what is measured: NumPy and SciPy
rotations, the numbers of the tree, of the shapes and of the limits.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from poise import Balance, Character, Free, Loose, Stage, load_character, load_clip
from poise.body.geometry.primitives import Box, Capsule, Shape
from poise.drivers.loose.loose import LET_GO
from poise.errors import PoiseError
from poise.motion.motion import Pose
from poise.stage.actor import Actor
from tools.sweeps.page import table

DATA = Path(os.environ.get("POISE_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
DIRECTIONS = 16
SECONDS, FPS = 5.0, 50.0  # watched after the push or the drop
MOST_BEYOND, MOST_UNDER, MOST_GROWTH = 3.0, 10.0, 0.005  # degrees, mm, share of m g h
PEOPLE: dict[str, Callable[[], Character]] = {
    "mix 1.75 m": lambda: Character.human(1.75, 75.0, preset="mix"),
    "full 1.75 m": lambda: Character.human(1.75, 75.0, preset="full"),
    "strength 1.65 m": lambda: Character.human(1.65, 60.0, preset="strength", sex="female"),
    "tracking 1.8 m": lambda: Character.human(1.8, 80.0, preset="tracking"),
    "child 1.1 m": lambda: Character.human(1.1, 18.0, age=5.0),
    "giant 2.2 m": lambda: Character.human(2.2, 180.0),
    "fat 1.6 m": lambda: Character.human(1.6, 140.0),
    "thin 1.9 m": lambda: Character.human(1.9, 52.0),
}
FILES = {"cmu, 31 joints": "bvh-cmu/13_11.bvh", "vrm, 71 joints": "vrm/*.vrm", "unreal": "gltf/manny*.gltf"}


ABOUT = (
    "A body that stands is pushed until it falls and is a ragdoll from then on, or a ragdoll is dropped from 0.3 of "
    f"its height, tilted by 23 degrees; {DIRECTIONS} directions each, {SECONDS:g} s watched, the worst of each. "
    f"Wanted: at rest no joint beyond its range by more than {MOST_BEYOND:g} degrees, nothing more than "
    f"{MOST_UNDER:g} mm under the floor or in itself; energy, of motion and height, never more than "
    f"{100 * MOST_GROWTH:g} % of m g h above what it was before. In itself: shapes that are to meet (not neighbours, "
    "and not what begins deep in one another); on the way, by how much more than when it began.\n\n"
    "![Three bodies dropped as ragdolls, by both engines](pictures/falls.png)"
)


@dataclass
class Fall:
    """One run. beyond: degrees at rest and at most on the way; under, inside: mm, likewise; growth: share of m g h."""

    body: str
    engine: str
    way: str
    angle: float
    fell: bool = False
    why: str = ""
    beyond: float = 0.0
    joint: str = ""
    beyond_ever: float = 0.0
    joint_ever: str = ""
    under: float = 0.0
    under_ever: float = 0.0
    inside: float = 0.0
    inside_ever: float = 0.0
    pair: str = ""
    pair_ever: str = ""
    growth: float = 0.0
    speed: float = 0.0

    @property
    def is_bad(self) -> bool:
        """Whether it misses an aim."""
        return bool(
            self.why or not self.fell or not self.beyond <= MOST_BEYOND or not self.under <= MOST_UNDER
            or not self.inside <= MOST_UNDER or not self.growth <= MOST_GROWTH
        )  # fmt: skip


class Watch:
    """A body looked at from outside."""

    def __init__(self, actor: Actor):
        self.actor, tree = actor, actor.body.tree
        self.parents, self.offsets, self.names = tree.parents.copy(), tree.offsets.copy(), tree.names
        self.masses, self.centers, self.inertias = tree.masses.copy(), tree.centers.copy(), tree.inertias.copy()
        limits = actor.character.limits
        self.known = [i for i, name in enumerate(self.names) if name in limits]
        known = [limits[self.names[i]] for i in self.known]
        self.zeros = tuple(
            Rotation.from_quat(np.array([getattr(each, name) for each in known]), scalar_first=True)
            for name in ("parent_zero", "child_zero")
        )
        self.lower, self.upper = (np.array([getattr(each, name) for each in known]) for name in ("lower", "upper"))
        self.scale = float(tree.masses.sum()) * 9.81 * actor.character.height
        bodies = [body for group in actor.stage.groups for body in group.scene.bodies]
        shapes = next(body.shapes for body in bodies if body.name == actor.name)
        self.solids = [(i, *list_points(shape)) for i, shape in shapes]
        self.pairs = list_meeting(actor, [i for i, _ in shapes])
        self.began = np.maximum(self.depths(), 0.0)

    def find_pose(self) -> tuple[np.ndarray, np.ndarray]:
        """R (J, 3, 3) and p (J, 3) in the world."""
        state = self.actor.body.state
        local = Rotation.from_quat(state.q, scalar_first=True).as_matrix()
        R, p = np.empty_like(local), np.empty((len(local), 3))
        for i, k in enumerate(self.parents):
            R[i] = local[i] if k < 0 else R[k] @ local[i]
            p[i] = state.root if k < 0 else p[k] + R[k] @ self.offsets[i]
        return R, p

    def energy(self) -> float:
        """J, of motion and of height."""
        state, (R, p) = self.actor.body.state, self.find_pose()
        om, v, total = np.empty_like(p), np.empty_like(p), 0.0
        for i, k in enumerate(self.parents):
            own = R[i] @ state.w[i]
            om[i] = own if k < 0 else om[k] + own
            v[i] = state.v if k < 0 else v[k] + np.cross(om[k], p[i] - p[k])
            arm = R[i] @ self.centers[i]
            speed = v[i] + np.cross(om[i], arm)
            spin = R[i].T @ om[i]
            total += 0.5 * self.masses[i] * speed @ speed + 0.5 * spin @ self.inertias[i] @ spin
            total += 9.81 * self.masses[i] * (p[i] + arm)[1]
        return float(total)

    def beyond(self) -> tuple[float, str]:
        """Degrees by which the worst joint is beyond its range, and which that is."""
        P, C = self.zeros
        E = P * Rotation.from_quat(self.actor.body.state.q[self.known], scalar_first=True) * C.inv()
        twist = E.as_quat() * [0.0, 1.0, 0.0, 1.0]
        twist[np.abs(twist).sum(axis=1) < 1e-9, 3] = 1.0
        angles = (E * Rotation.from_quat(twist).inv()).as_rotvec()
        angles[:, 1] = Rotation.from_quat(twist).as_rotvec()[:, 1]
        over = np.maximum(angles - self.upper, self.lower - angles)
        # A swing of more than half a turn is one the other way: an arm may go 188 degrees up and back.
        size = np.hypot(angles[:, 0], angles[:, 2])
        other = angles * (1.0 - 2.0 * math.pi / np.maximum(size, 1e-6))[:, None]
        other[:, 1] = angles[:, 1]
        again = np.maximum(other - self.upper, self.lower - other)
        is_less = again.max(axis=1) < over.max(axis=1)
        over[is_less] = again[is_less]
        k, axis = np.unravel_index(int(over.argmax()), over.shape)
        return max(0.0, math.degrees(over[k, axis])), f"{self.names[self.known[k]]} {'xyz'[axis]}"

    def under(self) -> float:
        """mm by which the lowest point of its shapes, or the lowest joint that has mass, is under the floor."""
        R, p = self.find_pose()
        lowest = min(float((p[i] + points @ R[i].T)[:, 1].min()) - r for i, points, r in self.solids)
        return -1000.0 * min(lowest, float(p[self.masses > 0.0, 1].min()))

    def depths(self) -> np.ndarray:
        """mm by which the pairs that are to meet are in one another; negative: they are not."""
        R, p = self.find_pose()
        placed = [(p[i] + points @ R[i].T, r) for i, points, r in self.solids]
        low = np.array([points.min(axis=0) - r for points, r in placed])
        high = np.array([points.max(axis=0) + r for points, r in placed])
        a, b = np.array(self.pairs, int).reshape(-1, 2).T
        found = np.full(len(self.pairs), -1.0)
        for k in np.flatnonzero(np.all((low[a] <= high[b]) & (low[b] <= high[a]), axis=1)):
            found[k] = 1000.0 * find_depth(*placed[a[k]], *placed[b[k]])
        return found

    def inside(self, is_more: bool = False) -> tuple[float, str]:
        """mm by which two shapes that are to meet are in one another, at most, and which those are.

        is_more  than when it began: arms of a stout body begin in its trunk
        """
        depths = self.depths() - (self.began if is_more else 0.0)
        if not len(depths) or depths.max() <= 0.0:
            return 0.0, ""
        a, b = self.pairs[int(depths.argmax())]
        return float(depths.max()), f"{self.names[self.solids[a][0]]} {self.names[self.solids[b][0]]}"


def list_points(shape: Shape) -> tuple[np.ndarray, float]:
    """A shape as the hull of some points, and how thick that is all around."""
    if isinstance(shape, Box):
        return shape.corners, 0.0
    if isinstance(shape, Capsule):
        return np.stack([shape.start, shape.end]), shape.radius
    return np.asarray(shape.center)[None], shape.radius


def list_meeting(actor: Actor, joints: list[int]) -> list[tuple[int, int]]:
    """Pairs of its shapes, by number, that are to meet: all but those that the scene keeps apart."""
    for group in actor.stage.groups:
        for k, body in enumerate(group.scene.bodies):
            if body.name == actor.name:
                apart = {frozenset(pair) for pair in group.scene.apart}
                return [
                    (a, b) for a in range(len(joints)) for b in range(a)
                    if joints[a] != joints[b] and frozenset(((k, joints[a]), (k, joints[b]))) not in apart
                ]  # fmt: skip
    return []


def find_depth(one: np.ndarray, r: float, other: np.ndarray, s: float) -> float:
    """m by which two hulls of points with a thickness are in one another; negative: at least so far apart.

    The least, over all directions, of how far they overlap along it. Two lines have their common perpendicular and the
    lines between their ends and the nearest points; where a box is one of them, its normals and the crossed edges
    besides (separating axes).
    """
    lines = [_list_edges(points) for points in (one, other)]
    directions = [np.cross(u, v) for u in lines[0] for v in lines[1]]
    directions += [np.cross(u, v) for edges in lines for u in edges for v in edges]
    for points, others in ((one, other), (other, one)):
        for u in _list_edges(others):
            # from each point straight to the line through each edge
            for base in others:
                arms = points - base
                directions += list(arms - np.outer(arms @ u, u))
    directions += [a - b for a in one for b in other]
    n = np.array(directions)
    size = np.linalg.norm(n, axis=1)
    n = n[size > 1e-9] / size[size > 1e-9, None]
    along, across = n @ one.T, n @ other.T
    overlap = np.minimum(along.max(axis=1) - across.min(axis=1), across.max(axis=1) - along.min(axis=1))
    return float(overlap.min()) + r + s


def _list_edges(points: np.ndarray) -> list[np.ndarray]:
    """The directions of the edges of a line, or of a box's eight corners; none of a point."""
    if len(points) == 1:
        return []
    edges = [points[1] - points[0]] if len(points) == 2 else [points[k] - points[0] for k in (1, 2, 4)]
    return [edge / max(float(np.linalg.norm(edge)), 1e-12) for edge in edges]


def fall(character: Character, body: str, engine: str, way: str, angle: float, dt: float = 0.005) -> Fall:
    """One fall, watched."""
    found = Fall(body, engine, way, round(math.degrees(angle)))
    try:
        _fall(character, found, angle, dt)
    except PoiseError as error:
        found.why = str(error)[:100]
    return found


def _fall(character: Character, found: Fall, angle: float, dt: float) -> None:
    stage = Stage(engine=found.engine, dt=dt, couple="exact" if found.engine == "mujoco" else "paper")
    actor = stage.add(character, name="actor")
    toward = np.array([math.sin(angle), 0.0, math.cos(angle)])
    if found.way == "push":
        actor.drive("legs", Balance())
        chest = next(role for role in ("chest", "spine", "hips") if role in character.skeleton.roles)
        stage.advance(round(0.2 / dt))
        actor.push(chest, 1.2 * actor.body.tree.mass / 0.3 * toward, 0.3)
        while actor.fallen is None and stage.time < 6.0:
            stage.step()
        if actor.fallen is None:
            return
        let_go(actor)
        stage.advance(round(LET_GO / dt))
    else:
        stage.build()
        state = actor.body.state
        tilt = Rotation.from_rotvec(0.4 * np.cross([0.0, 1.0, 0.0], toward))
        turned = (tilt * Rotation.from_quat(state.q[0], scalar_first=True)).as_quat(scalar_first=True)
        pose = Pose(state.root + [0.0, 0.3 * character.height, 0.0], np.concatenate([turned[None], state.q[1:]]))
        stage = Stage(engine=found.engine, dt=dt, couple="exact" if found.engine == "mujoco" else "paper")
        actor = stage.add(character, name="actor", pose=pose)
        let_go(actor)
    found.fell = True
    stage.build()
    watch = Watch(actor)
    least = watch.energy()
    for _ in range(round(SECONDS * FPS)):
        stage.advance(round(1.0 / FPS / dt))
        now = watch.energy()
        found.growth = max(found.growth, (now - least) / watch.scale)
        least = min(least, now)
        beyond, who = watch.beyond()
        if beyond > found.beyond_ever:
            found.beyond_ever, found.joint_ever = beyond, who
        found.under_ever = max(found.under_ever, watch.under())
        inside, pair = watch.inside(is_more=True)
        if inside > found.inside_ever:
            found.inside_ever, found.pair_ever = inside, pair
    found.beyond, found.joint = watch.beyond()
    found.under = watch.under()
    found.inside, found.pair = watch.inside()
    found.speed = float(np.abs(actor.body.state.w).max())


def let_go(actor: Actor) -> None:
    """Have it be a ragdoll."""
    actor.drive("root", Free())
    actor.drive("body", Loose(stiffness=0.0, damping=0.3))


def load_people() -> dict[str, Callable[[], Character]]:
    """Ten bodies and more: presets, a child, a giant, a fat and a thin one, and those of files."""
    people = dict(PEOPLE)
    for name, pattern in FILES.items():
        paths = sorted(DATA.glob(pattern))
        if paths:
            people[name] = lambda path=paths[0]: _load(path)  # type: ignore[misc]
    return people


def _load(path: Path) -> Character:
    if path.suffix in (".bvh", ".npz"):
        return Character.from_skeleton(load_clip(path).skeleton)
    return load_character(path)


def run(job: tuple[str, str, str, int]) -> Fall:
    """A job of the sweep, in a process of its own."""
    name, engine, way, k = job
    return fall(load_people()[name](), name, engine, way, 2.0 * math.pi * k / DIRECTIONS)


def sweep(workers: int = 2, every: int = 1) -> tuple[str, int]:
    """Every body, engine, way and direction; every: so many directions are gone on by."""
    jobs = [
        (name, engine, way, k)
        for engine in ("mujoco", "bullet") for name in load_people() for way in ("push", "drop")
        for k in range(0, DIRECTIONS, every)
    ]  # fmt: skip
    with ProcessPoolExecutor(workers) as pool:
        falls = list(pool.map(run, jobs))
    text, bad = report(falls)
    return f"{ABOUT}\n\n{text}", bad


def report(falls: list[Fall]) -> tuple[str, int]:
    """A row for every body, engine and way: the worst of all directions."""
    rows = []
    for key in dict.fromkeys((each.body, each.engine, each.way) for each in falls):
        group = [each for each in falls if (each.body, each.engine, each.way) == key]
        broken, bad = sum(bool(each.why) for each in group), sum(each.is_bad for each in group)
        rest, ever = max(group, key=lambda f: f.beyond), max(group, key=lambda f: f.beyond_ever)
        rows.append((
            *key, f"{rest.beyond:.1f} {rest.joint}", f"{ever.beyond_ever:.0f} {ever.joint_ever}",
            f"{max(f.under for f in group):.1f}", f"{max(f.under_ever for f in group):.1f}",
            f"{max(f.inside for f in group):.1f}", f"{max(f.inside_ever for f in group):.1f}",
            f"{100 * max(f.growth for f in group):.2f}", f"{max(f.speed for f in group):.2f}", str(broken), str(bad),
        ))  # fmt: skip
    head = (
        "body", "engine", "way", "beyond at rest, °", "on the way, °", "under at rest, mm", "on the way, mm",
        "in itself at rest, mm", "on the way, mm", "energy grew, % of m g h", "rad/s at the end", "broken", "missed",
    )  # fmt: skip
    return table(head, rows), sum(each.is_bad for each in falls)
