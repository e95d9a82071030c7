"""A body in a page's scene: one mesh that its joints move."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.body.skeleton import Skeleton
from poise.body.skin import SkinnedMesh


class FigureNode:
    """A body that is shown. Only joints that moved are sent."""

    def __init__(
        self, scene: Any, name: str, skeleton: Skeleton, skin: SkinnedMesh, color: tuple[int, int, int],
        opacity: float | None = None,
    ):  # fmt: skip
        self.skeleton = skeleton
        count = len(skeleton)
        weights = np.zeros((len(skin.vertices), count))
        np.add.at(weights, (np.arange(len(skin.vertices))[:, None], skin.joints), skin.weights)
        rest = skeleton.rest_positions()
        self.node = scene.add_mesh_skinned(
            name, skin.vertices.astype(np.float32), skin.faces, bone_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
            bone_positions=rest, skin_weights=weights, color=color, opacity=opacity, cast_shadow=opacity is None,
            receive_shadow=opacity is None,
        )  # fmt: skip
        used = np.flatnonzero(weights.sum(axis=0) > 0.0)
        self._bones = [(int(i), self.node.bones[int(i)]) for i in used]
        self._places, self._turns = rest.copy(), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))

    def show(self, places: np.ndarray, turns: np.ndarray) -> None:
        """Be in a pose: places (J, 3) m and orientations (J, 4) of its joints."""
        moved = np.abs(places - self._places).max(axis=1) > 1e-5
        turned = np.abs(turns - self._turns).max(axis=1) > 1e-5
        for i, bone in self._bones:
            if moved[i]:
                bone.position, self._places[i] = tuple(places[i]), places[i]
            if turned[i]:
                bone.wxyz, self._turns[i] = tuple(turns[i]), turns[i]

    @property
    def visible(self) -> bool:
        """Whether it is seen."""
        return bool(self.node.visible)

    @visible.setter
    def visible(self, seen: bool) -> None:
        if self.node.visible != seen:
            self.node.visible = seen
