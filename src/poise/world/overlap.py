"""Which shapes are inside one another, and how deep: shapes as lines with a thickness.

A capsule is a line, a sphere a point; a box is up to three lines side by side, as thick as its shortest edge.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.body.shape import Box, Capsule, Shape, Sphere
from poise.body.structure import remembered
from poise.dynamics.tree import build_tree
from poise.dynamics.world import compute_world_pose
from poise.errors import InputError
from poise.motion.own.tracks import stand_pose
from poise.spatial import rotation
from poise.world.bulk import build_bulk
from poise.world.footing import build_footing, split_footing

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
