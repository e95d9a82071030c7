"""What a simulated body of Bullet's carries that is given: its inertia, as links whose masses are rewritten every step.

See `bullet_locked_kernels` for how a rigid piece becomes four links.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.engines.scene import GIVEN, SceneBody
from poise.spatial import rotation

# Directions of the four links from the joint of their carrier.
CORNERS = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]) / np.sqrt(3.0)
_SLACK = 1.001  # of what is reached: a mass at the very edge is none
_LEAST = 0.01  # m, that something reaches at least


def find_carriers(body: SceneBody) -> dict[int, float]:
    """How far (m) the corners have to be of each simulated body that carries something given, where that is locked."""
    if not body.is_locked:
        return {}
    reach = np.zeros(len(body.tree))
    for i in range(len(body.tree) - 1, 0, -1):
        if body.joints[i].kind == GIVEN:
            tree, parent = body.tree, int(body.tree.parents[i])
            own = max(float(np.linalg.norm(tree.centers[i])), reach[i])
            reach[parent] = max(reach[parent], own + float(np.linalg.norm(tree.offsets[i])))
    carries = {int(body.tree.parents[i]) for i, joint in enumerate(body.joints) if i and joint.kind == GIVEN}
    # the largest ball inside a tetrahedron reaches a third as far as its corners
    return {
        i: 3.0 * _SLACK * max(float(reach[i]), _LEAST) for i in sorted(carries) if body.joints[i].kind != GIVEN
    }  # fmt: skip


def list_turns() -> list[np.ndarray]:
    """Axes of the four links, wxyz."""
    return [rotation.identity(), *(rotation.from_axis_angle(axis, 0.25 * np.pi) for axis in np.eye(3))]


class Locked:
    """The links of one body that stand for what is given.

    links   by joint of their carrier: Bullet's id of the multibody, the first link's number, and how far corners are
    """

    def __init__(self, body: SceneBody):
        self._tree, self._kind = body.tree, np.array([joint.kind for joint in body.joints])
        self.links: dict[int, tuple[int, int, float]] = {}
        self._sums = np.zeros((len(body.tree), 13))
        self._sent: dict[int, np.ndarray] = {}
        self._masses, self._moments = np.zeros(4), np.zeros((4, 3))

    def send(self, bullet: Any, client: int, q: np.ndarray) -> None:
        """Have Bullet's links be what is given, at joint rotations q (J, 4)."""
        if not self.links:
            return
        from poise.engines.bullet_locked_kernels import add_up, spread

        tree = self._tree
        add_up(self._kind, tree.parents, tree.offsets, tree.masses, tree.centers, tree.inertias, q, self._sums)
        for joint, (uid, first, reach) in self.links.items():
            row = self._sums[joint]
            if joint in self._sent and np.array_equal(self._sent[joint], row):
                continue
            self._sent[joint] = row.copy()
            spread(row, reach, self._masses, self._moments)
            pairs = zip(self._masses.tolist(), self._moments.tolist(), strict=True)
            for k, (mass, moments) in enumerate(pairs):
                bullet.changeDynamics(
                    uid, first + k, mass=mass, localInertiaDiagonal=moments, physicsClientId=client
                )  # fmt: skip
