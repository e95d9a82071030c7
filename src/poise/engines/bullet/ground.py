"""The ground in Bullet: planes, boxes, and a mesh of a height map's triangles.

Bullet's fixed bodies have no velocity that a contact would feel. A ground that moves is a very heavy one, whose place
and velocity are written before every step.

Meshes are built from lists that are used again.

pybullet (3.2.7) never lets go of the lists of points and faces that it is given, nor of the points and numbers in them:
every world that was built on a map of 40 by 40 heights took 87 kB for good. So there is one of each list in a process,
as long as the largest mesh yet, and what is in it is written over.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

import numpy as np

from poise.body.geometry.primitives import Box
from poise.engines.bullet.world import BulletWorld
from poise.spatial import rotation
from poise.world.ground.ground import FAR, Ground, Plane
from poise.world.ground.height_map import HeightMap
from poise.world.ground.moving import MovingGround

NAME = "ground"
_MASS = 1e7  # kg
_CELLS = 200  # along a side of a mesh: it takes no more than 131 072 points
_TILT = 1e-5  # rad
_DEPTH = 10.0  # m, of the slab that a plane is where it moves
_UP = np.array([0.0, 1.0, 0.0])


def add_ground(world: BulletWorld, ground: Ground) -> None:
    """All pieces of a ground into a world."""
    for piece in (part for each in ground.pieces() for part in _cut(each)):
        shape, at, turn = _add_piece(world, piece, ground.moves)
        mass = _MASS if ground.moves else 0.0
        uid = world.bullet.createMultiBody(
            mass, shape, basePosition=at, baseOrientation=turn, physicsClientId=world.client
        )
        world.set_dynamics(uid, -1, None, world.ground_mask)
        world.names[uid, -1] = NAME
        world.ground.append(int(uid))


def find_corners_down(world: BulletWorld) -> None:
    """Find all corners of soles that are on the ground before the first step.

    Bullet finds one point of a box on a plane at a time, the deepest: on one corner each, feet went in by 10 mm in the
    first steps, and slid. The ground is tilted by next to nothing, one way after the other, and put back.
    """
    bullet, options = world.bullet, {"physicsClientId": world.client}
    homes = [(uid, *bullet.getBasePositionAndOrientation(uid, **options)) for uid in world.ground]
    for x, z in ((1, 1), (1, -1), (-1, -1), (-1, 1), (0, 0)):
        for uid, at, turn in homes:
            tilt = [0.5 * _TILT * x, 0.0, 0.5 * _TILT * z, 1.0]
            turned = bullet.multiplyTransforms([0.0, 0.0, 0.0], tilt, [0.0, 0.0, 0.0], turn)[1] if x else turn
            bullet.resetBasePositionAndOrientation(uid, at, turned, **options)
        if homes:
            with world.looking():
                bullet.performCollisionDetection(**options)


def _cut(piece: Plane | Box | Ground) -> list[Plane | Box | Ground]:
    """A height map in pieces of which Bullet takes each; anything else as it is."""
    if isinstance(piece, HeightMap) and np.ptp(piece.heights) == 0.0:
        return []  # the plane round it is all there is
    if not isinstance(piece, HeightMap) or max(piece.heights.shape) <= _CELLS + 1:
        return [piece]
    rows, columns = (range(0, size - 1, _CELLS) for size in piece.heights.shape)
    x, z = piece.corner or (0.0, 0.0)
    return [
        dataclasses.replace(
            piece, heights=piece.heights[r : r + _CELLS + 1, c : c + _CELLS + 1],
            corner=(x + c * piece.spacing, z + r * piece.spacing),
        )
        for r in rows
        for c in columns
    ]  # fmt: skip


def _add_piece(world: BulletWorld, piece: Plane | Box | Ground, moves: bool) -> tuple[int, Any, list[float]]:
    """Shape, place and turn (xyzw)."""
    bullet, options = world.bullet, {"physicsClientId": world.client}
    here = [0.0, 0.0, 0.0, 1.0]
    if isinstance(piece, HeightMap):
        return add_mesh(bullet, world.client, *_triangles(piece)), [0.0, 0.0, 0.0], here
    if isinstance(piece, Plane) and not moves:
        normal = [float(a) for a in piece.normal]
        return int(bullet.createCollisionShape(bullet.GEOM_PLANE, planeNormal=normal, **options)), piece.point, here
    if isinstance(piece, Plane):
        half = np.array([FAR, _DEPTH, FAR])
        piece = Box(piece.point - _DEPTH * piece.normal, half, rotation.between(_UP, piece.normal))
    assert isinstance(piece, Box)
    shape = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=piece.half.tolist(), **options)
    w, x, y, z = (float(a) for a in piece.turn)
    return int(shape), piece.center, [x, y, z, w]


def _triangles(piece: HeightMap) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) m and faces (m, 3) of a map, two triangles a cell, seen from above counter-clockwise."""
    rows, columns = piece.heights.shape
    corner = piece.corner or (0.0, 0.0)
    x, z = np.meshgrid(
        corner[0] + piece.spacing * np.arange(columns), corner[1] + piece.spacing * np.arange(rows), indexing="xy"
    )
    points = np.stack([x, piece.height + piece.heights, z], axis=-1).reshape(-1, 3)
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    b, c, d = a + 1, a + columns, a + columns + 1
    return points, np.concatenate([np.stack([a, d, b], axis=1), np.stack([a, c, d], axis=1)])


class BulletCarrier:
    """Moves a ground that moves."""

    def __init__(self, world: BulletWorld, ground: MovingGround, pieces: list[int], gravity: np.ndarray):
        self._world, self._ground = world, ground
        self._gravity = np.asarray(gravity, float)
        self._homes = []
        for uid in pieces:
            at, turn = world.bullet.getBasePositionAndOrientation(uid, physicsClientId=world.client)
            self._homes.append((uid, np.array(at), turn))

    def place(self, t: float, h: float) -> None:
        """Put the ground where it is at time t (s), with what takes it through the next h seconds."""
        bullet, options = self._world.bullet, {"physicsClientId": self._world.client}
        shift, speed = self._ground.shift(t), self._ground.speed(t)
        force = _MASS * ((self._ground.speed(t + h) - speed) / h - self._gravity)
        for uid, home, turn in self._homes:
            at = home + shift
            bullet.resetBasePositionAndOrientation(uid, at, turn, **options)
            bullet.resetBaseVelocity(uid, speed, [0.0, 0.0, 0.0], **options)
            bullet.applyExternalForce(uid, -1, force, at, bullet.WORLD_FRAME, **options)


_ALONE = threading.Lock()
_vertices: list[list[float]] = []  # as they are given, and all that ever were
_all_vertices: list[list[float]] = []
_indices: list[int] = []
_all_indices: list[int] = []


def add_mesh(bullet: Any, client: int, points: np.ndarray, faces: np.ndarray) -> int:
    """Bullet's id of a shape that is the triangles `faces` (m, 3) of some points (n, 3) m."""
    with _ALONE:
        _all_vertices.extend([0.0, 0.0, 0.0] for _ in range(len(_all_vertices), len(points)))
        _all_indices.extend(range(len(_all_indices), len(points)))
        for vertex, point in zip(_all_vertices, points.tolist(), strict=False):
            vertex[:] = point
        _vertices[:] = _all_vertices[: len(points)]
        _indices[:] = [_all_indices[k] for k in faces.ravel().tolist()]
        flag = bullet.GEOM_FORCE_CONCAVE_TRIMESH
        return int(
            bullet.createCollisionShape(
                bullet.GEOM_MESH, vertices=_vertices, indices=_indices, flags=flag, physicsClientId=client
            )
        )
