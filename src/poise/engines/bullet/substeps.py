"""Substeps of Bullet, for fast bodies and props.

Bullet looks at the beginning of a step: which shapes are near (by a tenth of their size,
`engines/bullet/world.py:AHEAD`), what turning limbs do to one another. A landing changes both within it. A leg that is
whipped to 30 rad/s in a step of 5 ms turns on without the forces that go with such a turn, which gave 1.6 % of m g h at
once, and hands and toes came down where nothing was looked for, up to 45 mm deep. So a step is cut, each part as long
as no point moves farther than FAR,

    h = FAR / (|v| + |om| r)        v of a joint, r from it to the farthest point of its shapes       [parts, eq 1]

and at least 1 / MOST of a step. Of a body that falls this looks at all segments, of one that stands at those that
touch something: Bullet finds one corner of a foot on a floor in a step, about which the foot turns the others down.
Standing on ice, at 7.5 ms, feet that lost their hold turned at 130 rad/s, and were 0.6 m under the floor after 2 s.

A body that floats, with GIVEN segments that are bodies of their own, is held together
by constraints, and the smaller it is the sooner its legs answer: there a part is no longer than

    h = LONG sqrt(l / g)            l: m, from its root to its farthest segment, along its bones      [parts, eq 2]

With whole steps of 10 ms a child of 0.5 m who stood had feet that shook at 300 rad/s. Everybody else who is slow, or
stands, is stepped as before, with the same bits.

A free prop that is about to hit something ends a part where it is there: Bullet finds contacts no farther ahead than
by a fiftieth of a shape's size, and a box that fell 0.85 m was 50 mm in the floor after a step of 10 ms.

    h = max(g, CLOSE) / u           g: m, the gap;  u: m/s, at which the prop closes it               [parts, eq 3]
"""

from __future__ import annotations

import numpy as np

from poise.body.geometry.primitives import Box, Capsule, Shape
from poise.dynamics.tree import find_weight_per_mass
from poise.engines.bullet.model import BulletBody
from poise.engines.bullet.world import BulletWorld, principal, wxyz
from poise.engines.engine import BodyContacts
from poise.engines.scene import FREE, GIVEN, Scene
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia

# m. Of 11 bodies, dropped and pushed one way, the deepest was 6 mm in the floor; by whole steps of 5 ms it was 22.
FAR = 0.01
MAX_SUBSTEPS = 16
# By 2 parts in 10 ms a child of 0.5 m still shook, by 3 none did (10 bodies, 8 ways to drive them): 6.5 ms for adults.
LONG = 0.0186
CLOSE = 0.001  # m, by which a prop may miss what it hits
MOST_HITS = 64  # parts of a step in which a prop hits something, at most


class Substeps:
    """How long the parts of a scene's steps are. watched: the bodies that it looks at; they have to be fresh."""

    def __init__(self, bodies: list[BulletBody], world: BulletWorld, scene: Scene):
        self._world = world
        self._loose = [
            (world.props[prop.name], prop.inertia, *_list_points(prop.shapes))
            for prop in scene.props
            if scene.touch.is_hard and prop.touches and prop.shapes and prop.inertia is not None and prop.hinge is None
        ]
        numbers = {index: held for index, held in enumerate(bodies) if held.body.shapes}
        self.watched = list(numbers.values())
        self._shapes = [(index, *_list_reaches(held.body.shapes)) for index, held in numbers.items()]
        gravity = find_weight_per_mass(scene.gravity)
        moved = [held for held in bodies if held.is_moved and held.kind[0] == FREE]
        self._longest = min((LONG * float(np.sqrt(_find_length(held) / gravity)) for held in moved), default=np.inf)

    def find_length(self, left: float, dt: float) -> float:
        """s, of the next part of a step of dt of which some is left.   [parts, eq 1 and 2]"""
        from poise.dynamics.body_kernels import move_bodies

        fastest, touching = 0.0, {self._world.owners.get(link) for link in self._world.out.touching}
        for held, (index, joints, far) in zip(self.watched, self._shapes, strict=True):
            om, v = np.zeros_like(held.p), np.zeros_like(held.p)
            w = held.state.w
            if held.given is not None:
                w = np.where((held.kind == GIVEN)[:, None], held.given[0], w)
            move_bodies(held.tree.parents, held.R, held.p, held.state.v, w, om, v)
            speeds = np.linalg.norm(v[joints], axis=1) + np.linalg.norm(om[joints], axis=1) * far
            if not held.body.is_hard:
                speeds = speeds[[held.kind[i] != GIVEN and (index, i) in touching for i in joints.tolist()]]
            fastest = max(fastest, float(speeds.max(initial=0.0)))
        longest = max(min(FAR / max(fastest, 1e-9), self._longest), dt / MAX_SUBSTEPS)
        longest = min(longest, max(self._find_hit(left), dt / MOST_HITS))
        count = int(np.ceil(left / longest - 1e-9))  # of parts alike that would do for what is left
        return left if count <= 1 else left / count

    def _find_hit(self, left: float) -> float:
        """s, until the first free prop is where it hits something within the time that is left.   [parts, eq 3]

        Whatever is near is taken for a plane, at its nearest place: all of a prop that slaps down is seen so.
        """
        bullet, options = self._world.bullet, {"physicsClientId": self._world.client}
        soonest = np.inf
        for uid, inertia, points, radii in self._loose:
            v, om = (np.array(x) for x in bullet.getBaseVelocity(uid, **options))
            far = float((np.linalg.norm(points - inertia.center, axis=1) + radii).max())
            reach = left * float(np.linalg.norm(v) + np.linalg.norm(om) * far)
            if reach <= CLOSE:
                continue
            at, turn = bullet.getBasePositionAndOrientation(uid, **options)
            room = far + reach
            near = bullet.getOverlappingObjects(np.array(at) - room, np.array(at) + room, **options) or ()
            levers = (points - inertia.center) @ (rotation.to_matrix(wxyz(turn)) @ _axes(inertia).T).T
            speeds = v + np.cross(om, levers)
            for other in sorted({each for each, _ in near} - {uid}):
                for point in bullet.getClosestPoints(uid, other, reach, **options):
                    gaps = np.maximum((levers + at - point[6]) @ point[7] - radii, 0.0)
                    closing = -speeds @ point[7]
                    hits = closing * left > gaps + CLOSE
                    soonest = min(soonest, float((np.maximum(gaps[hits], CLOSE) / closing[hits]).min(initial=np.inf)))
        return soonest


def sum_touches(parts: list[tuple[float, BodyContacts]]) -> BodyContacts:
    """Return the contacts of a body in a step, from those of its substeps and their fractions of the step."""
    if len(parts) == 1:
        return parts[0][1]
    return BodyContacts(
        np.concatenate([touched.joints for _, touched in parts]),
        np.concatenate([touched.points for _, touched in parts]),
        np.concatenate([share * touched.forces for share, touched in parts]),
        tuple(name for _, touched in parts for name in touched.others),
    )


def _find_length(held: BulletBody) -> float:
    """m, from the root of a body to its farthest segment with mass, along its bones."""
    far = np.zeros(len(held.tree))
    for i in range(1, len(far)):
        far[i] = far[held.tree.parents[i]] + np.linalg.norm(held.tree.offsets[i])
    return float(far[held.tree.masses > 0.0].max(initial=0.0))


def _axes(inertia: RigidInertia) -> np.ndarray:
    """(3, 3) the principal axes, which Bullet turns, in those of the prop."""
    return np.asarray(rotation.to_matrix(principal(inertia)[0]))


def _list_points(shapes: tuple[Shape, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) m, corners, ends and middles of shapes, and (n,) m, the radius about each."""
    points, radii = [], []
    for shape in shapes:
        if isinstance(shape, Box):
            points.append(shape.corners)
        elif isinstance(shape, Capsule):
            points.append(np.stack([shape.start, shape.end]))
        else:
            points.append(shape.center[None])
        radii.append(np.full(len(points[-1]), 0.0 if isinstance(shape, Box) else shape.radius))
    return np.concatenate(points), np.concatenate(radii)


def _list_reaches(shapes: tuple[tuple[int, Shape], ...]) -> tuple[np.ndarray, np.ndarray]:
    """(n,) the joint of each shape, and (n,) m from there to the shape's farthest point."""
    far = []
    for _, shape in shapes:
        points, radii = _list_points((shape,))
        far.append((np.linalg.norm(points, axis=1) + radii).max())
    return np.array([joint for joint, _ in shapes], int), np.array(far)
