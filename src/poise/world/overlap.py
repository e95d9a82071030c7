"""Overlap of shapes, of a prop and a body, and of a body with itself: which, and how deep.

Shapes are lines with a thickness.

A capsule is a line, a sphere a point; a box is up to three lines side by side, as thick as its shortest edge.

A prop in a body: boxes as they are, capsules and spheres as lines with a thickness.

A body in itself: the shapes that touch things, frame by frame.

Two segments pierce one another where they are deeper in than `DEEP` of the thinner one's radius. Neighbours never do,
nor what overlaps anyway in the rest pose (`find_neighbours`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.body.geometry.primitives import Box, Capsule, Shape, Sphere
from poise.body.geometry.soles import build_footing
from poise.body.skeleton import remembered
from poise.dynamics.kinematics import compute_world_pose
from poise.dynamics.tree import build_tree
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.parts import find_runs
from poise.motion.samples.tracks import stand_pose
from poise.spatial import rotation
from poise.world.collision_shapes import build_bulk
from poise.world.foot_boxes import split_footing

# Of the thinner one's radius: two shapes that are farther in one another than this are not pushed apart. Things that
# lie on one another are in by a few hundredths; a hand that a clip has in a hip is in by its whole radius.
DEEP = 0.3
# Of the thinner one's radius: two segments with a third between them, such as the chest and the head, that are nearer
# than this do not touch, or a bent back would be stiff.
_NEAR = 0.5
_ACROSS = 3  # lines that a box becomes


@dataclass(frozen=True, eq=False)
class Lines:
    """N lines with a thickness: start and end (N, 3) m, radius (N,) m, and the joint (N,) whose body each is on."""

    start: np.ndarray
    end: np.ndarray
    radius: np.ndarray
    joint: np.ndarray

    def placed(self, R: np.ndarray, p: np.ndarray) -> Lines:
        """Those of a body in the world, from its matrices R (J, 3, 3) and places p (J, 3) m."""
        turn, at = R[self.joint], p[self.joint]
        start, end = (at + np.matmul(turn, x[:, :, None])[:, :, 0] for x in (self.start, self.end))
        return Lines(start, end, self.radius, self.joint)


def build_lines(shapes: Iterable[tuple[int, Shape]]) -> Lines:
    """Lines of shapes in the frames of their joints."""
    rows: list[tuple[np.ndarray, np.ndarray, float, int]] = []
    for joint, shape in shapes:
        rows += [(start, end, radius, joint) for start, end, radius in _list_lines(shape)]
    start, end = (np.array([row[k] for row in rows], float).reshape(-1, 3) for k in (0, 1))
    return Lines(start, end, np.array([row[2] for row in rows], float), np.array([row[3] for row in rows], int))


def _list_lines(shape: Shape) -> list[tuple[np.ndarray, np.ndarray, float]]:
    if isinstance(shape, Sphere):
        return [(shape.center, shape.center, shape.radius)]
    if isinstance(shape, Capsule):
        return [(shape.start, shape.end, shape.radius)]
    short, middle, long = np.argsort(shape.half, kind="stable")
    radius, axes = float(shape.half[short]), rotation.to_matrix(shape.turn)
    along = (shape.half[long] - radius) * axes[:, long]
    aside = (shape.half[middle] - radius) * axes[:, middle]
    middles = [shape.center + share * aside for share in np.linspace(-1.0, 1.0, _ACROSS)]
    return [(at - along, at + along, radius) for at in middles]


def find_depths(a: Lines, b: Lines) -> np.ndarray:
    """(N, M) m, by how much each line of one is inside each of the other; negative: how far they are apart."""
    return a.radius[:, None] + b.radius[None, :] - find_distances(a, b)


def find_distances(a: Lines, b: Lines) -> np.ndarray:
    """(N, M) m between the middle lines of each: the nearest points of two line segments.

    With p + s u and q + t v, 0 <= s, t <= 1, and w = p - q: s from both lines without ends, t from s, then s from t
    where t was beyond an end.
    """
    u, v = (a.end - a.start)[:, None], (b.end - b.start)[None, :]
    w = a.start[:, None] - b.start[None, :]
    uu, vv, uv = _dot(u, u), _dot(v, v), _dot(u, v)
    uw, vw = _dot(u, w), _dot(v, w)
    across = uu * vv - uv * uv
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.where(across > 1e-12 * uu * vv, (uv * vw - vv * uw) / across, 0.0)
        s = np.clip(np.where(np.isfinite(s), s, 0.0), 0.0, 1.0)
        t = np.where(vv > 0.0, (uv * s + vw) / vv, 0.0)
        t = np.clip(t, 0.0, 1.0)
        s = np.clip(np.where(uu > 0.0, (uv * t - uw) / uu, 0.0), 0.0, 1.0)
    return np.asarray(np.linalg.norm(w + s[..., None] * u - t[..., None] * v, axis=-1))


def _dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(np.sum(x * y, axis=-1))


def find_depth(shape: Shape, point: np.ndarray) -> tuple[float, np.ndarray]:
    """How deep (m; negative: how far off) a point (3,) m is in a shape, and the way out of it there, (3,) unit."""
    if isinstance(shape, Box):
        turn = rotation.to_matrix(shape.turn)
        seen = turn.T @ (point - shape.center)
        beyond = np.abs(seen) - shape.half
        if np.all(beyond <= 0.0):
            k = int(np.argmax(beyond))
            return float(-beyond[k]), turn[:, k] * (1.0 if seen[k] >= 0.0 else -1.0)
        away = np.maximum(beyond, 0.0) * np.where(seen >= 0.0, 1.0, -1.0)
        far = float(np.linalg.norm(away))
        return -far, turn @ away / far
    near = shape.center if isinstance(shape, Sphere) else _find_nearest(shape, point)
    away = point - near
    far = float(np.linalg.norm(away))
    return shape.radius - far, away / far if far > 0.0 else np.array([0.0, 1.0, 0.0])


def _find_nearest(shape: Capsule, point: np.ndarray) -> np.ndarray:
    """(3,) m, the point of a capsule's middle line nearest to another."""
    along = shape.end - shape.start
    share = float(np.clip((point - shape.start) @ along / max(along @ along, 1e-12), 0.0, 1.0))
    return np.asarray(shape.start + share * along)


def find_deep(a: Lines, b: Lines, least: float | None = None) -> set[tuple[int, int]]:
    """Joints of two bodies whose shapes are deep in one another, or by more than `least` m."""
    limits = DEEP * np.minimum(a.radius[:, None], b.radius[None, :]) if least is None else least
    deep = find_depths(a, b) > limits
    i, j = np.nonzero(deep)
    return set(zip(a.joint[i].tolist(), b.joint[j].tolist(), strict=True))


@remembered
def find_shapes(character: Character, is_whole: bool = True, bends_toes: bool = False) -> tuple[tuple[int, Shape], ...]:
    """What of a body touches things: boxes under its feet, and where `is_whole` the bulk of everything else.

    One without feet has none of those boxes. With `bends_toes` the front of each is the toes' own.
    """
    skeleton = character.skeleton
    try:
        left, right = build_footing(skeleton)
    except InputError:
        return tuple(build_bulk(character).items()) if is_whole else ()
    feet = skeleton.index("leftFoot"), skeleton.index("rightFoot")
    soles: tuple[tuple[int, Shape], ...] = ((feet[0], left), (feet[1], right))
    if bends_toes:
        soles = split_footing(skeleton)
    if not is_whole:
        return soles
    below = {i for foot in feet for i in skeleton.descendants(foot)}
    return (*soles, *((i, shape) for i, shape in build_bulk(character).items() if i not in below))


@remembered
def find_lines(character: Character) -> Lines:
    """The lines of all of a body's shapes."""
    return build_lines(find_shapes(character))


@remembered
def find_neighbours(character: Character) -> frozenset[tuple[int, int]]:
    """Pairs (i, j), i < j, of joints whose bodies never touch: those that hang together, and those that overlap anyway.

    What overlaps in the rest pose and in the pose that it stands in is there by the shapes' simplicity: a shoulder in
    the trunk, thighs in one another at the top. And what all but overlaps with one segment between.
    """
    parents = character.skeleton.parents
    pairs = {(int(parent), i) for i, parent in enumerate(parents) if parent >= 0}
    over = {(int(parents[parent]), i) for parent, i in pairs if parents[parent] >= 0}
    skeleton = character.skeleton
    rest = rotation.identity((len(skeleton),))
    found = [_find_overlaps(character, np.zeros(3), rest, over)]
    try:
        pose = stand_pose(skeleton)
        found.append(_find_overlaps(character, pose.root, pose.rotations, over))
    except InputError:
        pass  # it is no human: the rest pose is all there is
    return frozenset(pairs | set.intersection(*found))


def _find_overlaps(
    character: Character, root: np.ndarray, rotations: np.ndarray, over: set[tuple[int, int]]
) -> set[tuple[int, int]]:
    pose = compute_world_pose(build_tree(character), root, rotations)
    lines = find_lines(character).placed(pose.turns, pose.joints)
    depths, joints = find_depths(lines, lines), lines.joint
    near = depths > -_NEAR * np.minimum(lines.radius[:, None], lines.radius[None, :])
    pairs = {(int(joints[i]), int(joints[j])) for i, j in zip(*np.nonzero(near), strict=True)}
    inside = {(int(joints[i]), int(joints[j])) for i, j in zip(*np.nonzero(depths > 0.0), strict=True)}
    return {pair for pair in inside | (pairs & over) if pair[0] < pair[1]}


_ALONG = np.linspace(0.0, 1.0, 7)[:, None]  # points of a capsule that are looked for in a box


def place_shape(shape: Shape, turn: np.ndarray, place: np.ndarray) -> Shape:
    """A shape where its frame is: turned (4,) and at a place (3,) m."""

    def at(x: np.ndarray) -> np.ndarray:
        return np.asarray(place + rotation.rotate(turn, x))

    if isinstance(shape, Sphere):
        return Sphere(at(shape.center), shape.radius)
    if isinstance(shape, Capsule):
        return Capsule(at(shape.start), at(shape.end), shape.radius)
    return Box(at(shape.center), shape.half, rotation.multiply(turn, shape.turn))


def find_overlap(a: Shape, b: Shape) -> float:
    """m, how deep two shapes are in one another; negative: apart by at least about so much."""
    if not isinstance(a, Box) and not isinstance(b, Box):
        return float(find_depths(build_lines([(0, a)]), build_lines([(0, b)]))[0, 0])
    deepest = -np.inf
    for box, other in ((a, b), (b, a)):
        if isinstance(box, Box):
            points, radius = _list_points(other)
            deepest = max(deepest, *(find_depth(box, point)[0] + radius for point in points))
    return float(deepest)


def find_deep_joints(
    prop: Iterable[Shape], body: Iterable[tuple[int, Shape]], R: np.ndarray, p: np.ndarray
) -> dict[int, float]:
    """Joints of a body in whose shapes those of a prop are deep, and how deep (m).

    prop  shapes in the world;  body (joint, shape in the joint's frame);  R (J, 3, 3), p (J, 3) m
    """
    found: dict[int, float] = {}
    things = [(shape, *_find_ball(shape)) for shape in prop]
    for joint, own in body:
        placed = place_shape(own, rotation.from_matrix(R[joint]), p[joint])
        middle, reach = _find_ball(placed)
        for shape, its_middle, its_reach in things:
            if np.sum((middle - its_middle) ** 2) > (reach + its_reach) ** 2:
                continue
            depth = find_overlap(placed, shape)
            if depth > DEEP * min(_thickness(placed), _thickness(shape)):
                found[joint] = max(depth, found.get(joint, 0.0))
    return found


def _list_points(shape: Shape) -> tuple[np.ndarray, float]:
    """Points (n, 3) m of a shape, and how thick it is about them (m)."""
    if isinstance(shape, Sphere):
        return shape.center[None], shape.radius
    if isinstance(shape, Capsule):
        return shape.start + _ALONG * (shape.end - shape.start), shape.radius
    return np.concatenate([shape.corners, shape.center[None]]), 0.0


def _find_ball(shape: Shape) -> tuple[np.ndarray, float]:
    """A ball around a shape: its middle (3,) m and radius (m)."""
    if isinstance(shape, Capsule):
        return 0.5 * (shape.start + shape.end), 0.5 * shape.length + shape.radius
    return shape.center, float(np.linalg.norm(shape.half)) if isinstance(shape, Box) else shape.radius


def _thickness(shape: Shape) -> float:
    return float(np.min(shape.half)) if isinstance(shape, Box) else float(shape.radius)


_DEEPER = 0.01  # m that a motion is deeper in itself than those that it was made of, before it is its own fault


@dataclass(frozen=True)
class Piercing:
    """Two segments in one another.

    start, end  s, from when to when;  time: s, where it is worst
    joints      names of the two
    depth       m, at worst
    """

    start: float
    end: float
    time: float
    joints: tuple[str, str]
    depth: float


def find_piercings(character: Character, clip: Clip, beside: Sequence[Clip] = ()) -> list[Piercing]:
    """Where a clip of a character's joints goes through itself, the deepest first.

    beside  motions of the same frames that it was made of: what is as deep in one of these is not told
    """
    joints, depths, limits = measure_depths(character, clip)
    bad = depths > limits
    for other in beside:
        bad &= depths > measure_depths(character, other)[1] + _DEEPER
    found = []
    for pair in np.flatnonzero(bad.any(axis=0)):
        for first, last in find_runs(bad[:, pair]):
            worst = int(first + np.argmax(depths[first : last + 1, pair]))
            a, b = (character.skeleton.labels[int(i)] for i in joints[pair])
            start, end, time = (float(clip.times[i]) for i in (first, last, worst))
            found.append(Piercing(start, end, time, (a, b), float(depths[worst, pair])))
    return sorted(found, key=lambda each: -each.depth)


def measure_depths(character: Character, clip: Clip) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of joints (P, 2), how deep their segments are in one another (F, P) m, and how deep is too deep (P,) m.

    Negative depths say how far they are apart.
    """
    lines, apart = find_lines(character), find_neighbours(character)
    owners = np.unique(lines.joint)
    joints = np.array([(i, j) for k, i in enumerate(owners) for j in owners[k + 1 :] if (i, j) not in apart], int)
    joints = joints.reshape(-1, 2)
    of = {(int(i), int(j)): k for k, (i, j) in enumerate(joints)}
    # Each pair of lines, and the pair of joints that it is of; a joint may have several lines.
    rows = [(a, b, k) for a in range(len(lines.joint)) for b in range(len(lines.joint))
            if (k := of.get((int(lines.joint[a]), int(lines.joint[b])))) is not None]  # fmt: skip
    first, second, owner = np.array(rows, int).reshape(-1, 3).T
    limits = np.full(len(joints), np.inf)
    np.minimum.at(limits, owner, DEEP * np.minimum(lines.radius[first], lines.radius[second]))
    positions, turns = clip.world
    axes = rotation.to_matrix(turns)
    depths = np.full((len(clip), len(joints)), -np.inf)
    for frame in range(len(clip)):
        placed = lines.placed(axes[frame], positions[frame])
        np.maximum.at(depths[frame], owner, find_depths(placed, placed)[first, second])
    return joints, depths, limits


def describe_piercing(piercing: Piercing) -> str:
    """It, in a sentence."""
    a, b = piercing.joints
    return (
        f"{a} goes through {b} from {piercing.start:.2f} s to {piercing.end:.2f} s, at worst by "
        f"{1e3 * piercing.depth:.0f} mm at {piercing.time:.2f} s"
    )
