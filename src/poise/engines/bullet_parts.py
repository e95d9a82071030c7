"""A step of Bullet in parts, where somebody falls fast.

Bullet looks at the beginning of a step: which shapes are near (by a tenth of their size, `bullet_world.AHEAD`), what
turning limbs do to one another. A landing changes both within it. A leg that is whipped to 30 rad/s in a step of 5 ms
turns on without the forces that go with such a turn, which gave 1.6 % of m g h at once, and hands and toes came down
where nothing was looked for, up to 45 mm deep. So a step is cut, each part as long as no point moves farther than FAR,

    h = FAR / (|v| + |om| r)        v of a joint, r from it to the farthest point of its shapes       [parts, eq 1]

and at least 1 / MOST of a step. Whoever is slower, or stands, is stepped as before, with the same bits.
"""

from __future__ import annotations

import numpy as np

from poise.body.shape import Box, Capsule, Shape
from poise.engines.bullet_body import HeldBody
from poise.engines.engine import Touches
from poise.engines.scene import GIVEN

# m. Of 11 bodies, dropped and pushed one way, the deepest was 6 mm in the floor; by whole steps of 5 ms it was 22.
FAR = 0.01
MOST = 16


class Parts:
    """How long the parts of a scene's steps are. falling: the bodies that it looks at; they have to be fresh."""

    def __init__(self, bodies: list[HeldBody]):
        self.falling = [held for held in bodies if held.body.is_hard and held.body.shapes]
        self._shapes = [_list_reaches(held.body.shapes) for held in self.falling]

    def find_length(self, left: float, dt: float) -> float:
        """s, of the next part of a step of dt of which some is left.   [parts, eq 1]"""
        from poise.dynamics.instant import move_bodies

        fastest = 0.0
        for held, (joints, far) in zip(self.falling, self._shapes, strict=True):
            om, v = np.zeros_like(held.p), np.zeros_like(held.p)
            w = held.state.w
            if held.given is not None:
                w = np.where((held.kind == GIVEN)[:, None], held.given[0], w)
            move_bodies(held.tree.parents, held.R, held.p, held.state.v, w, om, v)
            speeds = np.linalg.norm(v[joints], axis=1) + np.linalg.norm(om[joints], axis=1) * far
            fastest = max(fastest, float(speeds.max()))
        longest = max(FAR / max(fastest, 1e-9), dt / MOST)
        count = int(np.ceil(left / longest - 1e-9))  # of parts alike that would do for what is left
        return left if count <= 1 else left / count


def sum_touches(parts: list[tuple[float, Touches]]) -> Touches:
    """What touched a body in a step, of the shares of it that its parts are and what touched in each."""
    if len(parts) == 1:
        return parts[0][1]
    return Touches(
        np.concatenate([touched.joints for _, touched in parts]),
        np.concatenate([touched.points for _, touched in parts]),
        np.concatenate([share * touched.forces for share, touched in parts]),
        tuple(name for _, touched in parts for name in touched.others),
    )


def _list_reaches(shapes: tuple[tuple[int, Shape], ...]) -> tuple[np.ndarray, np.ndarray]:
    """(n,) the joint of each shape, and (n,) m from there to the shape's farthest point."""
    far = []
    for _, shape in shapes:
        if isinstance(shape, Box):
            far.append(np.linalg.norm(shape.corners, axis=1).max())
        elif isinstance(shape, Capsule):
            far.append(max(np.linalg.norm(shape.start), np.linalg.norm(shape.end)) + shape.radius)
        else:
            far.append(np.linalg.norm(shape.center) + shape.radius)
    return np.array([joint for joint, _ in shapes], int), np.array(far)
